// Entry points that make, change and destroy descriptors.
#include "test/emulator/libcublaslt/descriptors.h"

#include "test/emulator/libcublaslt/library.h"

#include <cstring>

namespace trainc::emulator {

EpilogueParts partsOf(cublasLtEpilogue_t epilogue) {
  const auto has = [&](unsigned bits) { return (static_cast<unsigned>(epilogue) & bits) == bits; };
  return {.addsBias = has(CUBLASLT_EPILOGUE_BIAS),
          .relu = has(CUBLASLT_EPILOGUE_RELU),
          .gelu = has(CUBLASLT_EPILOGUE_GELU),
          .reluGradient = has(CUBLASLT_EPILOGUE_DRELU),
          .geluGradient = has(CUBLASLT_EPILOGUE_DGELU),
          .sumsRows = has(CUBLASLT_EPILOGUE_DGELU_BGRAD & ~CUBLASLT_EPILOGUE_DGELU),
          .sumsA = has(CUBLASLT_EPILOGUE_BGRADA),
          .sumsB = has(CUBLASLT_EPILOGUE_BGRADB),
          .hasAux = has(CUBLASLT_EPILOGUE_GELU_AUX & ~CUBLASLT_EPILOGUE_GELU)};
}

namespace {

/// Copies an attribute's value, whose size must be that of the member.
template <typename Member>
cublasStatus_t assign(const Call &call, Member &member, const void *value, size_t bytes) {
  if (!value || bytes != sizeof member)
    return call.refuse(CUBLAS_STATUS_INVALID_VALUE, "a value of {} bytes at {}, expected one of {}", bytes,
                       value, sizeof member);
  std::memcpy(&member, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t unknown(const Call &call, int attribute) {
  return call.refuse(CUBLAS_STATUS_NOT_SUPPORTED, "attribute {} is not emulated", attribute);
}

cublasStatus_t set(const Call &call, Layout &layout, cublasLtMatrixLayoutAttribute_t attribute,
                   const void *value, size_t bytes) {
  switch (attribute) {
  case CUBLASLT_MATRIX_LAYOUT_TYPE:
    return assign(call, layout.type, value, bytes);
  case CUBLASLT_MATRIX_LAYOUT_ORDER:
    return assign(call, layout.order, value, bytes);
  case CUBLASLT_MATRIX_LAYOUT_ROWS:
    return assign(call, layout.rows, value, bytes);
  case CUBLASLT_MATRIX_LAYOUT_COLS:
    return assign(call, layout.columns, value, bytes);
  case CUBLASLT_MATRIX_LAYOUT_LD:
    return assign(call, layout.ld, value, bytes);
  case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
    return assign(call, layout.batches, value, bytes);
  case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
    return assign(call, layout.batchStride, value, bytes);
  default:
    return unknown(call, attribute);
  }
}

cublasStatus_t set(const Call &call, Operation &operation, cublasLtMatmulDescAttributes_t attribute,
                   const void *value, size_t bytes) {
  switch (attribute) {
  case CUBLASLT_MATMUL_DESC_COMPUTE_TYPE:
    return assign(call, operation.compute, value, bytes);
  case CUBLASLT_MATMUL_DESC_SCALE_TYPE:
    return assign(call, operation.scaleType, value, bytes);
  case CUBLASLT_MATMUL_DESC_POINTER_MODE:
    return assign(call, operation.pointerMode, value, bytes);
  case CUBLASLT_MATMUL_DESC_TRANSA:
    return assign(call, operation.transposeA, value, bytes);
  case CUBLASLT_MATMUL_DESC_TRANSB:
    return assign(call, operation.transposeB, value, bytes);
  case CUBLASLT_MATMUL_DESC_EPILOGUE:
    return assign(call, operation.epilogue, value, bytes);
  case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
    return assign(call, operation.bias, value, bytes);
  case CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE:
    return assign(call, operation.biasBatchStride, value, bytes);
  case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE:
    return assign(call, operation.biasType, value, bytes);
  case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER:
    return assign(call, operation.aux, value, bytes);
  case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD:
    return assign(call, operation.auxLd, value, bytes);
  case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE:
    return assign(call, operation.auxBatchStride, value, bytes);
  case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE:
    return assign(call, operation.auxType, value, bytes);
  case CUBLASLT_MATMUL_DESC_A_SCALE_POINTER:
    return assign(call, operation.scaleA, value, bytes);
  case CUBLASLT_MATMUL_DESC_B_SCALE_POINTER:
    return assign(call, operation.scaleB, value, bytes);
  case CUBLASLT_MATMUL_DESC_FAST_ACCUM:
    return assign(call, operation.fastAccumulation, value, bytes);
  default:
    return unknown(call, attribute);
  }
}

cublasStatus_t set(const Call &call, Preference &preference, cublasLtMatmulPreferenceAttributes_t attribute,
                   const void *value, size_t bytes) {
  uint32_t ignored = 0;
  switch (attribute) {
  case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
    return assign(call, preference.workspaceBytes, value, bytes);
  case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
    return assign(call, preference.alignments[0], value, bytes);
  case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
    return assign(call, preference.alignments[1], value, bytes);
  case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
    return assign(call, preference.alignments[2], value, bytes);
  case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
    return assign(call, preference.alignments[3], value, bytes);
  case CUBLASLT_MATMUL_PREF_SEARCH_MODE: // ignored: there is one algorithm, with one summation order
  case CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK:
    return assign(call, ignored, value, bytes);
  default:
    return unknown(call, attribute);
  }
}

template <typename Handle, typename Object>
cublasStatus_t create(Call &call, HandleTable<Handle, Object> &table, Handle *handle, Object object) {
  if (!handle)
    return call.refuse(CUBLAS_STATUS_INVALID_VALUE, "the place for the {} is null", table.noun());
  *handle = table.add(std::make_shared<Object>(std::move(object)));
  return CUBLAS_STATUS_SUCCESS;
}

template <typename Handle, typename Object>
cublasStatus_t destroy(Call &call, HandleTable<Handle, Object> &table, Handle handle) {
  std::shared_ptr<Object> object;
  TRAINC_CUBLAS(call.need(table, handle, object));
  table.remove(handle);
  return CUBLAS_STATUS_SUCCESS;
}

template <typename Handle, typename Object, typename Attribute>
cublasStatus_t setIn(Call &call, HandleTable<Handle, Object> &table, Handle handle, Attribute attribute,
                     const void *value, size_t bytes) {
  std::shared_ptr<Object> object;
  TRAINC_CUBLAS(call.need(table, handle, object));
  return set(call, *object, attribute, value, bytes);
}

} // namespace

} // namespace trainc::emulator

using namespace trainc::emulator;

extern "C" {

cublasStatus_t CUBLASWINAPI cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout, cudaDataType type,
                                                       uint64_t rows, uint64_t columns, int64_t ld) {
  return entry("cublasLtMatrixLayoutCreate", [&](Call &call) {
    return create(call, call.library.layouts, layout,
                  {.type = type, .rows = rows, .columns = columns, .ld = ld});
  });
}

cublasStatus_t CUBLASWINAPI cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  return entry("cublasLtMatrixLayoutDestroy",
               [&](Call &call) { return destroy(call, call.library.layouts, layout); });
}

cublasStatus_t CUBLASWINAPI cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                             cublasLtMatrixLayoutAttribute_t attribute,
                                                             const void *value, size_t bytes) {
  return entry("cublasLtMatrixLayoutSetAttribute", [&](Call &call) {
    return setIn(call, call.library.layouts, layout, attribute, value, bytes);
  });
}

cublasStatus_t CUBLASWINAPI cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *operation,
                                                     cublasComputeType_t compute, cudaDataType_t scaleType) {
  return entry("cublasLtMatmulDescCreate", [&](Call &call) {
    return create(call, call.library.operations, operation, {.compute = compute, .scaleType = scaleType});
  });
}

cublasStatus_t CUBLASWINAPI cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t operation) {
  return entry("cublasLtMatmulDescDestroy",
               [&](Call &call) { return destroy(call, call.library.operations, operation); });
}

cublasStatus_t CUBLASWINAPI cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t operation,
                                                           cublasLtMatmulDescAttributes_t attribute,
                                                           const void *value, size_t bytes) {
  return entry("cublasLtMatmulDescSetAttribute", [&](Call &call) {
    return setIn(call, call.library.operations, operation, attribute, value, bytes);
  });
}

cublasStatus_t CUBLASWINAPI cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference) {
  return entry("cublasLtMatmulPreferenceCreate",
               [&](Call &call) { return create(call, call.library.preferences, preference, Preference{}); });
}

cublasStatus_t CUBLASWINAPI cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  return entry("cublasLtMatmulPreferenceDestroy",
               [&](Call &call) { return destroy(call, call.library.preferences, preference); });
}

cublasStatus_t CUBLASWINAPI cublasLtMatmulPreferenceSetAttribute(
    cublasLtMatmulPreference_t preference, cublasLtMatmulPreferenceAttributes_t attribute, const void *value,
    size_t bytes) {
  return entry("cublasLtMatmulPreferenceSetAttribute", [&](Call &call) {
    return setIn(call, call.library.preferences, preference, attribute, value, bytes);
  });
}

} // extern "C"
