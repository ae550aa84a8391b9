// Objects behind the handles of the emulated cuBLASLt.
#pragma once

#include "test/emulator/libcublaslt/element.h"

#include <array>
#include <cstdint>

namespace trainc::emulator {

/// cublasLtMatrixLayout_t
struct Layout {
  cudaDataType type = CUDA_R_32F;
  cublasLtOrder_t order = CUBLASLT_ORDER_COL;
  uint64_t rows = 0, columns = 0;
  int64_t ld = 0;
  int32_t batches = 1;
  int64_t batchStride = 0; ///< in elements
};

/// cublasLtMatmulDesc_t
struct Operation {
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  cudaDataType scaleType = CUDA_R_32F;
  cublasLtPointerMode_t pointerMode = CUBLASLT_POINTER_MODE_HOST;
  cublasOperation_t transposeA = CUBLAS_OP_N, transposeB = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  uint64_t bias = 0; ///< address
  int64_t biasBatchStride = 0;
  int32_t biasType = -1; ///< -1: type of D
  uint64_t aux = 0;      ///< address
  int64_t auxLd = 0, auxBatchStride = 0;
  int32_t auxType = -1;            ///< -1: type of D
  uint64_t scaleA = 0, scaleB = 0; ///< addresses of one f32 each; null: 1
  int8_t fastAccumulation = 0;
};

/// cublasLtMatmulPreference_t
struct Preference {
  uint64_t workspaceBytes = 0;
  std::array<uint32_t, 4> alignments{256, 256, 256, 256}; ///< minimum alignments of A, B, C and D
};

/// Actions of an epilogue.
struct EpilogueParts {
  bool addsBias, relu, gelu, reluGradient, geluGradient;
  bool sumsRows;     ///< sums the result, into `bias`
  bool sumsA, sumsB; ///< sums a factor, into `bias`
  bool hasAux;       ///< written by the forward pass, read by gradients
  bool usesBias() const { return addsBias || sumsRows || sumsA || sumsB; }
};

EpilogueParts partsOf(cublasLtEpilogue_t epilogue);

} // namespace trainc::emulator
