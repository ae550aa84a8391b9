// A product of random matrices on the emulated GPU, and the same by plain loops.
#pragma once

#include "test/unit/emulator/libcuda/emulated_gpu.h"

#include <cublasLt.h>
#include <functional>
#include <memory>
#include <optional>
#include <random>

#define EXPECT_CUBLAS(call) EXPECT_EQ(call, CUBLAS_STATUS_SUCCESS)
#define ASSERT_CUBLAS(call) ASSERT_EQ(call, CUBLAS_STATUS_SUCCESS)

namespace trainc::emulator {

/// Matrices of one batch, by logical row and column.
struct TestMatrix {
  cudaDataType type = CUDA_R_32F;
  cublasLtOrder_t order = CUBLASLT_ORDER_COL;
  size_t rows = 0, columns = 0, batches = 1;
  size_t gap = 0; ///< unwritten elements between two lines
  std::vector<float> values = {};
  CUdeviceptr address = 0;

  size_t bytes() const { return type == CUDA_R_32F ? 4 : type == CUDA_R_16BF || type == CUDA_R_16F ? 2 : 1; }
  size_t lines() const { return order == CUBLASLT_ORDER_COL ? columns : rows; }
  size_t lineElements() const { return order == CUBLASLT_ORDER_COL ? rows : columns; }
  size_t ld() const { return lineElements() + gap; }
  size_t batchStride() const { return (lines() * ld() + 7) / 8 * 8; }
  float &at(size_t batch, size_t row, size_t column) {
    return values[(batch * columns + column) * rows + row];
  }
  float at(size_t batch, size_t row, size_t column) const {
    return values[(batch * columns + column) * rows + row];
  }

  /// Numbers of the type, between -1 and 1.
  void fill(std::mt19937_64 &random);
  void allocate(const EmulatedGpu &gpu) { address = gpu.allocate(batchStride() * batches * bytes()); }
  void upload(CUstream stream) const;
  void download(CUstream stream);
  cublasLtMatrixLayout_t layout() const;
};

/// The value after storing it in the type.
float rounded(cudaDataType type, float value);

/// A product with variable properties; the rest is derived.
struct TestProduct {
  size_t rows = 37, columns = 29, depth = 41, batches = 1;
  cudaDataType factorType = CUDA_R_32F, resultType = CUDA_R_32F;
  std::optional<cudaDataType> typeOfB = {}; ///< if it is not that of A
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  bool transposeA = false, transposeB = false;
  cublasLtOrder_t orderA = CUBLASLT_ORDER_COL, orderB = CUBLASLT_ORDER_COL, orderD = CUBLASLT_ORDER_COL;
  size_t gap = 0;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  float alpha = 1, beta = 0;
  float scaleA = 1, scaleB = 1; ///< of fp8; 1: none is given
  uint64_t seed = 1;
};

/// The product's matrices, descriptors and workspace.
class ProductRun {
public:
  ProductRun(const EmulatedGpu &gpu, const TestProduct &product);

  /// Finds an algorithm and enqueues the product.
  cublasStatus_t enqueue(CUstream stream);
  /// Waits, and reads D, the bias gradient and the auxiliary matrix.
  void finish(CUstream stream);
  /// alpha op(A) op(B) + beta C, by plain loops.
  double sum(size_t batch, size_t row, size_t column) const;
  /// Sum of the absolute values of the same, for bounds.
  double magnitude(size_t batch, size_t row, size_t column) const;
  float opA(size_t batch, size_t row, size_t step) const;
  float opB(size_t batch, size_t step, size_t column) const;

  TestProduct product;
  TestMatrix a, b, c, d, bias, aux;
  cublasLtHandle_t handle = nullptr;
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatmulPreference_t preference = nullptr;
  CUdeviceptr workspace = 0, scaleA = 0, scaleB = 0;
  size_t workspaceBytes = size_t{1} << 16;

  template <typename T> cublasStatus_t set(cublasLtMatmulDescAttributes_t attribute, T value) {
    return cublasLtMatmulDescSetAttribute(operation, attribute, &value, sizeof value);
  }
  template <typename T> cublasStatus_t prefer(cublasLtMatmulPreferenceAttributes_t attribute, T value) {
    return cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value, sizeof value);
  }
  cublasStatus_t find(cublasLtMatmulHeuristicResult_t &result, int &found);
  cublasStatus_t multiply(const cublasLtMatmulAlgo_t &algorithm, CUstream stream);

private:
  std::shared_ptr<void> handleOwner_; ///< of copies, too
};

} // namespace trainc::emulator
