// Matrix products by generated kernels, on the emulated GPU: edges of tiles, batches, transposed factors.
#include "test/unit/codegen/cuda_harness.h"

#include <gtest/gtest.h>

using namespace trainc::codegen::harness;

namespace {

/// One ULP: f32 sums and exact sums may be on two sides of a rounding boundary.
constexpr double kBf16 = 8e-3, kF16 = 1e-3;

TEST(CudaProducts, OddSizesOfBf16) {
  expectGpuMatchesReference(
      R"(func.func @f(%a: tensor<3x45x27xbf16>, %b: tensor<3x27x35xbf16>) -> tensor<45x35xbf16> {
    %0 = nn.matmul %a, %b reduce_batch : tensor<3x45x27xbf16>, tensor<3x27x35xbf16>
    return %0 : tensor<45x35xbf16> })",
      kBf16);
}

TEST(CudaProducts, TransposedFactorsOfF16) {
  expectGpuMatchesReference(
      R"(func.func @f(%a: tensor<2x33x65xf16>, %b: tensor<2x31x33xf16>) -> tensor<65x31xf16> {
    %0 = nn.matmul %a transposed, %b transposed reduce_batch : tensor<2x33x65xf16>, tensor<2x31x33xf16>
    return %0 : tensor<65x31xf16> })",
      kF16);
}

TEST(CudaProducts, BatchOfF64) {
  expectGpuMatchesReference(
      R"(func.func @f(%a: tensor<3x5x40xf64>, %b: tensor<3x40x33xf64>) -> tensor<3x5x33xf64> {
    %0 = nn.matmul %a, %b : tensor<3x5x40xf64>, tensor<3x40x33xf64>
    return %0 : tensor<3x5x33xf64> })",
      1e-12);
}

TEST(CudaProducts, SumOverABatchIsAdded) {
  expectGpuMatchesReference(
      R"(func.func @f(%c: tensor<33x40xf32>, %a: tensor<5x33x7xf32>, %b: tensor<5x7x40xf32>) -> tensor<33x40xf32> {
    %0 = nn.matmul %a, %b reduce_batch accumulate %c : tensor<33x40xf32> : tensor<5x33x7xf32>, tensor<5x7x40xf32>
    return %0 : tensor<33x40xf32> })",
      1e-5);
}

} // namespace
