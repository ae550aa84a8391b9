#include "runtime/device/cuda/lt_product.h"

#include "plan/facts/dtype.h"
#include "plan/facts/library_calls.h"
#include "plan/schema/enum_words.h"

#include <algorithm>
#include <bit>

namespace trainc {

namespace {

/// Maximum alignment from which cuBLASLt's kernels profit, in bytes.
constexpr uint64_t kMaxAlignment = 256;
/// Required multiple of row and matrix strides of auxiliary tensors, in elements.
constexpr uint64_t kAuxiliaryAlignment = 8;

cudaDataType cudaTypeOf(fb::DType dtype) {
  switch (dtype) {
  case fb::DType::BF16:
    return CUDA_R_16BF;
  case fb::DType::F16:
    return CUDA_R_16F;
  case fb::DType::F8E4M3:
    return CUDA_R_8F_E4M3;
  case fb::DType::F8E5M2:
    return CUDA_R_8F_E5M2;
  default:
    return CUDA_R_32F;
  }
}

/// Minimum alignment of an operand's addresses over all iterations, in bytes.
uint32_t alignmentOf(const Address &address) {
  const uint64_t bits = address.base.value() | static_cast<uint64_t>(address.stride) | kMaxAlignment;
  return static_cast<uint32_t>(uint64_t{1} << std::countr_zero(bits));
}

/// Returns the operand's address with the minimum alignment over all iterations. This is the address in the
/// first or in the second iteration.
DeviceAddress minAligned(const Address &address) {
  const auto stride = static_cast<uint64_t>(address.stride);
  return address.at(std::countr_zero(stride) < std::countr_zero(address.base.value()) ? 1 : 0);
}

std::string factorsText(const fb::MatrixProduct &call) {
  const fb::DType a = call.factors(), b = factorsOfB(call);
  return a == b ? dtypeName(a) : fmt::format("{} and {}", dtypeName(a), dtypeName(b));
}

std::string productText(const fb::MatrixProduct &call) {
  return fmt::format("{}{} x {} x {} of {} factors and {} results, activation {}, side sums {}{}{}",
                     call.batch() > 1 ? fmt::format("{} times ", call.batch()) : "", call.m(), call.n(),
                     call.k(), factorsText(call), dtypeName(call.product()), wordOf(call.activation()),
                     wordOf(call.side_sum()), call.bias() ? ", bias" : "",
                     call.auxiliary() ? ", auxiliary" : "");
}

template <typename T>
Status setAttribute(cublasLtMatmulDesc_t object, cublasLtMatmulDescAttributes_t attribute, T value) {
  return cublasLt().cublasLtMatmulDescSetAttribute(object, attribute, static_cast<const void *>(&value),
                                                   sizeof(value));
}
template <typename T>
Status setAttribute(cublasLtMatrixLayout_t object, cublasLtMatrixLayoutAttribute_t attribute, T value) {
  return cublasLt().cublasLtMatrixLayoutSetAttribute(object, attribute, static_cast<const void *>(&value),
                                                     sizeof(value));
}
template <typename T>
Status setAttribute(cublasLtMatmulPreference_t object, cublasLtMatmulPreferenceAttributes_t attribute,
                    T value) {
  return cublasLt().cublasLtMatmulPreferenceSetAttribute(object, attribute, static_cast<const void *>(&value),
                                                         sizeof(value));
}

std::optional<cublasLtEpilogue_t> geluEpilogue(const fb::MatrixProduct &call) {
  if (call.auxiliary())
    return call.bias() ? CUBLASLT_EPILOGUE_GELU_AUX_BIAS : CUBLASLT_EPILOGUE_GELU_AUX;
  return call.bias() ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
}

Result<cublasLtEpilogue_t> requireEpilogue(const fb::MatrixProduct &call) {
  const std::optional<cublasLtEpilogue_t> epilogue = epilogueOf(call);
  if (!epilogue)
    return invalidInput("matrix product: expected an epilogue that cuBLASLt has, found {}; compile the model "
                        "again with this version of trainc",
                        productText(call));
  if (call.auxiliary() &&
      (call.row_result() % kAuxiliaryAlignment != 0 || call.matrix_result() % kAuxiliaryAlignment != 0))
    return invalidInput("matrix product: expected an auxiliary tensor with rows in multiples of {} elements, "
                        "as cuBLASLt needs, found rows every {} and matrices every {}",
                        kAuxiliaryAlignment, call.row_result(), call.matrix_result());
  return *epilogue;
}

} // namespace

std::optional<cublasLtEpilogue_t> epilogueOf(const fb::MatrixProduct &call) {
  using enum fb::SideSum;
  switch (call.activation()) {
  case fb::Activation::None:
    return call.side_sum() == A   ? CUBLASLT_EPILOGUE_BGRADB
           : call.side_sum() == B ? CUBLASLT_EPILOGUE_BGRADA
           : call.bias()          ? CUBLASLT_EPILOGUE_BIAS
                                  : CUBLASLT_EPILOGUE_DEFAULT;
  case fb::Activation::GeluTanh:
    return geluEpilogue(call);
  case fb::Activation::GeluTanhGradient:
    return call.side_sum() == Result ? CUBLASLT_EPILOGUE_DGELU_BGRAD : CUBLASLT_EPILOGUE_DGELU;
  case fb::Activation::Gelu:
  case fb::Activation::GeluGradient:
    break;
  }
  return std::nullopt;
}

Result<LtHandle> LtHandle::create() {
  TRAINC_RETURN_IF_ERROR(loadCublasLt());
  cublasLtHandle_t handle = nullptr;
  TRAINC_RETURN_IF_ERROR(cublasLt().cublasLtCreate(&handle));
  return LtHandle(handle);
}

LtHandle::~LtHandle() {
  if (handle_ != nullptr)
    cublasLt().cublasLtDestroy.raw(handle_);
}

Result<LtProduct> LtProduct::create(const LtHandle &handle, const fb::MatrixProduct &call,
                                    std::span<const Address> operands) {
  TRAINC_ASSIGN_OR_RETURN(const cublasLtEpilogue_t epilogue, requireEpilogue(call));
  LtProduct product(call);
  TRAINC_RETURN_IF_ERROR(product.describe(epilogue));
  TRAINC_RETURN_IF_ERROR(product.createLayouts());
  TRAINC_RETURN_IF_ERROR(product.pointAt(operands, minAligned));
  TRAINC_RETURN_IF_ERROR(product.chooseAlgorithm(handle, operands));
  return product;
}

Status LtProduct::describe(cublasLtEpilogue_t epilogue) {
  cublasLtMatmulDesc_t description = nullptr;
  TRAINC_RETURN_IF_ERROR(cublasLt().cublasLtMatmulDescCreate(
      &description, call_->tf32() ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F, CUDA_R_32F));
  description_.reset(description);
  const auto set = [&](cublasLtMatmulDescAttributes_t attribute, auto value) {
    return setAttribute(description, attribute, value);
  };
  const auto transposition = [](bool is) { return static_cast<int32_t>(is ? CUBLAS_OP_T : CUBLAS_OP_N); };
  TRAINC_RETURN_IF_ERROR(set(CUBLASLT_MATMUL_DESC_TRANSA, transposition(call_->transpose_b())));
  TRAINC_RETURN_IF_ERROR(set(CUBLASLT_MATMUL_DESC_TRANSB, transposition(call_->transpose_a())));
  TRAINC_RETURN_IF_ERROR(set(CUBLASLT_MATMUL_DESC_EPILOGUE, static_cast<uint32_t>(epilogue)));
  if (call_->a_scale())
    TRAINC_RETURN_IF_ERROR(set(CUBLASLT_MATMUL_DESC_FAST_ACCUM, int8_t{0}));
  const auto type = static_cast<int32_t>(cudaTypeOf(call_->product()));
  if (call_->bias() || call_->side())
    TRAINC_RETURN_IF_ERROR(set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, type));
  if (!call_->auxiliary())
    return {};
  TRAINC_RETURN_IF_ERROR(set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, type));
  TRAINC_RETURN_IF_ERROR(
      set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, static_cast<int64_t>(call_->row_result())));
  return set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, static_cast<int64_t>(call_->matrix_result()));
}

/// Creates the layouts of the matrices as stored: the plan's rows are cuBLASLt's columns.
Status LtProduct::createLayouts() {
  const auto create = [&](Layout &layout, fb::DType dtype, uint64_t rows, uint64_t columns,
                          uint64_t rowStride, uint64_t matrixStride) -> Status {
    cublasLtMatrixLayout_t created = nullptr;
    TRAINC_RETURN_IF_ERROR(cublasLt().cublasLtMatrixLayoutCreate(&created, cudaTypeOf(dtype), columns, rows,
                                                                 static_cast<int64_t>(rowStride)));
    layout.reset(created);
    TRAINC_RETURN_IF_ERROR(
        setAttribute(created, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<int32_t>(call_->batch())));
    return setAttribute(created, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                        static_cast<int64_t>(matrixStride));
  };
  const auto createFactor = [&](Layout &layout, fb::DType dtype, bool transposed, uint64_t rows,
                                uint64_t columns, uint64_t rowStride, uint64_t matrixStride) {
    return create(layout, dtype, transposed ? columns : rows, transposed ? rows : columns, rowStride,
                  matrixStride);
  };
  TRAINC_RETURN_IF_ERROR(createFactor(a_, factorsOfB(*call_), call_->transpose_b(), call_->k(), call_->n(),
                                      call_->row_b(), call_->matrix_b()));
  TRAINC_RETURN_IF_ERROR(createFactor(b_, call_->factors(), call_->transpose_a(), call_->m(), call_->k(),
                                      call_->row_a(), call_->matrix_a()));
  return create(result_, call_->product(), call_->m(), call_->n(), call_->row_result(),
                call_->matrix_result());
}

/// Stores the addresses of scales, bias, side sums and auxiliary tensor in the description, which each call
/// copies. cuBLASLt's heuristic takes the alignment of these operands from their addresses, because a
/// preference cannot state it.
template <typename ChooseAddress>
Status LtProduct::pointAt(std::span<const Address> operands, ChooseAddress choose) {
  const auto point = [&](cublasLtMatmulDescAttributes_t attribute, ProductOperand operand) {
    return setAttribute(description_.get(), attribute,
                        static_cast<const void *>(choose(operands[operand]).pointer()));
  };
  if (call_->a_scale()) {
    TRAINC_RETURN_IF_ERROR(point(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, kScaleB));
    TRAINC_RETURN_IF_ERROR(point(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, kScaleA));
  }
  if (call_->bias() || call_->side())
    TRAINC_RETURN_IF_ERROR(point(CUBLASLT_MATMUL_DESC_BIAS_POINTER, call_->bias() ? kBias : kSideSums));
  return call_->auxiliary() ? point(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, kAuxiliary) : Status();
}

/// Chooses the first algorithm that cuBLASLt's heuristic proposes. The choice depends only on the version of
/// the library, the GPU, sizes, alignments and the workspace.
Status LtProduct::chooseAlgorithm(const LtHandle &handle, std::span<const Address> operands) {
  struct FreePreference {
    void operator()(cublasLtMatmulPreferenceOpaque_t *each) const {
      cublasLt().cublasLtMatmulPreferenceDestroy.raw(each);
    }
  };
  cublasLtMatmulPreference_t preference = nullptr;
  TRAINC_RETURN_IF_ERROR(cublasLt().cublasLtMatmulPreferenceCreate(&preference));
  const std::unique_ptr<cublasLtMatmulPreferenceOpaque_t, FreePreference> owner(preference);
  TRAINC_RETURN_IF_ERROR(
      setAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, uint64_t{call_->workspace_bytes()}));
  constexpr std::pair<cublasLtMatmulPreferenceAttributes_t, ProductOperand> kAlignments[] = {
      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, kFactorB},
      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, kFactorA},
      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, kProduct},
      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, kProduct}};
  for (const auto &[attribute, operand] : kAlignments)
    TRAINC_RETURN_IF_ERROR(setAttribute(preference, attribute, alignmentOf(operands[operand])));
  cublasLtMatmulHeuristicResult_t found{};
  int count = 0;
  const cublasStatus_t code = cublasLt().cublasLtMatmulAlgoGetHeuristic.raw(
      handle.get(), description_.get(), a_.get(), b_.get(), result_.get(), result_.get(), preference, 1,
      &found, &count);
  if (code == CUBLAS_STATUS_NOT_SUPPORTED || (code == CUBLAS_STATUS_SUCCESS && count == 0))
    return invalidInput("matrix product: expected one that cuBLASLt {} can do with a workspace of {} bytes, "
                        "found {}; compile the model with --library-calls={}",
                        vendorVersionText(cublasLt().cublasLtGetVersion.raw()), call_->workspace_bytes(),
                        productText(*call_),
                        epilogueOf(*call_) == CUBLASLT_EPILOGUE_DEFAULT ? "none" : "plain");
  TRAINC_RETURN_IF_ERROR(cublasLt().cublasLtMatmulAlgoGetHeuristic.status(code));
  algorithm_ = found.algo;
  return {};
}

Status LtProduct::enqueue(const LtHandle &handle, std::span<const Address> operands, uint64_t iteration,
                          cudaStream_t stream) {
  const auto addressOf = [&](const Address &each) { return each.at(iteration); };
  TRAINC_RETURN_IF_ERROR(pointAt(operands, addressOf));
  const auto at = [&](ProductOperand operand) {
    return static_cast<void *>(addressOf(operands[operand]).pointer());
  };
  const float alpha = 1, beta = call_->adds() ? 1 : 0;
  return cublasLt().cublasLtMatmul(handle.get(), description_.get(), &alpha, at(kFactorB), a_.get(),
                                   at(kFactorA), b_.get(), &beta, at(kProduct), result_.get(), at(kProduct),
                                   result_.get(), &algorithm_, at(kProductWorkspace),
                                   call_->workspace_bytes(), stream);
}

} // namespace trainc
