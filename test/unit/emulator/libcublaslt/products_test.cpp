// Products against plain loops: types, layouts, transposes, batches, alpha and beta.
#include "test/unit/emulator/libcublaslt/test_product.h"

#include <cmath>

namespace trainc::emulator {
namespace {

/// Half an ULP of 1.
double roundingOf(cudaDataType type) {
  return type == CUDA_R_32F ? 0x1p-24 : type == CUDA_R_16BF ? 0x1p-8 : 0x1p-11;
}

void expectProduct(const TestProduct &product) {
  const EmulatedGpu gpu(product.seed);
  ProductRun run(gpu, product);
  CUstream stream = gpu.stream();
  ASSERT_CUBLAS(run.enqueue(stream));
  run.finish(stream);
  for (size_t batch = 0; batch < product.batches; ++batch)
    for (size_t row = 0; row < product.rows; ++row)
      for (size_t column = 0; column < product.columns; ++column) {
        const double expected = run.sum(batch, row, column);
        const double bound =
            run.magnitude(batch, row, column) * static_cast<double>(product.depth + 2) * 0x1p-24 +
            std::abs(expected) * roundingOf(product.resultType) * 1.01 + 0x1p-24;
        ASSERT_NEAR(run.d.at(batch, row, column), expected, bound)
            << "batch " << batch << ", row " << row << ", column " << column;
      }
}

TEST(EmulatedProducts, OfAllTypes) {
  const std::tuple<cudaDataType, cudaDataType, cublasComputeType_t> types[] = {
      {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F},   {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32},
      {CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F}, {CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F},
      {CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F},   {CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F}};
  for (const auto &[factor, result, compute] : types) {
    SCOPED_TRACE(testing::Message() << factor << " " << result << " " << compute);
    expectProduct({.factorType = factor, .resultType = result, .compute = compute, .beta = 0.5F});
  }
}

TEST(EmulatedProducts, OfScaledFp8) {
  const std::pair<cudaDataType, cudaDataType> factors[] = {
      {CUDA_R_8F_E4M3, CUDA_R_8F_E4M3}, {CUDA_R_8F_E4M3, CUDA_R_8F_E5M2}, {CUDA_R_8F_E5M2, CUDA_R_8F_E4M3}};
  for (const auto &[a, b] : factors)
    for (const cudaDataType result : {CUDA_R_16BF, CUDA_R_32F}) {
      SCOPED_TRACE(testing::Message() << a << " " << b << " " << result);
      TestProduct product{.rows = 32, .columns = 29, .depth = 48, .batches = 2};
      product.factorType = a;
      product.typeOfB = b;
      product.resultType = result;
      product.transposeA = true;
      product.gap = 16;
      expectProduct(product);
      product.beta = 1;
      product.scaleA = 0x1p-3F;
      product.scaleB = 0x1p5F;
      expectProduct(product);
    }
}

TEST(EmulatedProducts, OfAllLayouts) {
  for (unsigned bits = 0; bits < 64; ++bits) {
    SCOPED_TRACE(bits);
    const auto order = [&](unsigned bit) {
      return (bits >> bit & 1) != 0 ? CUBLASLT_ORDER_ROW : CUBLASLT_ORDER_COL;
    };
    expectProduct({.batches = (bits & 32) != 0 ? 3U : 1U,
                   .factorType = CUDA_R_16BF,
                   .resultType = CUDA_R_32F,
                   .transposeA = (bits & 1) != 0,
                   .transposeB = (bits & 2) != 0,
                   .orderA = order(2),
                   .orderB = order(3),
                   .orderD = order(4),
                   .gap = bits % 3,
                   .alpha = -1.5F,
                   .beta = bits % 2 == 0 ? 0.0F : 0.25F,
                   .seed = bits});
  }
}

TEST(EmulatedProducts, OfAllShapes) {
  for (const size_t rows : {1, 15, 16, 17, 64})
    for (const size_t columns : {1, 5, 6, 7, 12})
      for (const size_t depth : {1, 2, 33})
        expectProduct({.rows = rows, .columns = columns, .depth = depth});
}

TEST(EmulatedProducts, WriteNothingBetweenColumns) {
  const EmulatedGpu gpu;
  ProductRun run(gpu, {.gap = 3});
  CUstream stream = gpu.stream();
  EXPECT_CUBLAS(run.enqueue(stream));
  run.finish(stream);
  EXPECT_TRUE(emulatorIsWritten(run.d.address, run.product.rows * 4));
  EXPECT_FALSE(emulatorIsWritten(run.d.address + run.product.rows * 4, 1));
}

TEST(EmulatedProducts, WorkInPlace) {
  const EmulatedGpu gpu;
  ProductRun run(gpu, {.beta = 1});
  run.d.address = run.c.address;
  CUstream stream = gpu.stream();
  EXPECT_CUBLAS(run.enqueue(stream));
  run.finish(stream);
  EXPECT_NEAR(run.d.at(0, 3, 4), run.sum(0, 3, 4), 1e-5);
}

/// A factor of all batches: no stride.
TEST(EmulatedProducts, ShareAFactor) {
  const EmulatedGpu gpu;
  ProductRun run(gpu, {.batches = 2});
  CUstream stream = gpu.stream();
  const auto pointer = [](CUdeviceptr address) { return reinterpret_cast<void *>(address); };
  cublasLtMatrixLayout_t shared = run.a.layout();
  const int64_t none = 0;
  EXPECT_CUBLAS(cublasLtMatrixLayoutSetAttribute(shared, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &none,
                                                 sizeof none));
  cublasLtMatmulHeuristicResult_t result{};
  int found = 0;
  EXPECT_CUBLAS(cublasLtMatmulAlgoGetHeuristic(run.handle, run.operation, shared, run.b.layout(),
                                               run.c.layout(), run.d.layout(), run.preference, 1, &result,
                                               &found));
  EXPECT_CUBLAS(cublasLtMatmul(run.handle, run.operation, &run.product.alpha, pointer(run.a.address), shared,
                               pointer(run.b.address), run.b.layout(), &run.product.beta,
                               pointer(run.c.address), run.c.layout(), pointer(run.d.address), run.d.layout(),
                               &result.algo, pointer(run.workspace), run.workspaceBytes, stream));
  run.finish(stream);
  for (size_t row = 0; row < run.product.rows; ++row)
    for (size_t step = 0; step < run.product.depth; ++step)
      run.a.at(1, row, step) = run.a.at(0, row, step);
  EXPECT_NEAR(run.d.at(1, 3, 4), run.sum(1, 3, 4), 1e-5);
}

TEST(EmulatedProducts, RunInGraphs) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const EmulatedGpu gpu(seed);
    ProductRun run(gpu, {});
    CUstream stream = gpu.stream();
    CUgraph graph = nullptr;
    CUgraphExec exec = nullptr;
    EXPECT_CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    EXPECT_CUBLAS(run.enqueue(stream));
    EXPECT_CU(cuStreamEndCapture(stream, &graph));
    EXPECT_CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    EXPECT_FALSE(emulatorIsWritten(run.d.address, 4));
    for (int i = 0; i < 2; ++i)
      EXPECT_CU(cuGraphLaunch(exec, stream));
    run.finish(stream);
    EXPECT_NEAR(run.d.at(0, 3, 4), run.sum(0, 3, 4), 1e-5);
  }
}

} // namespace
} // namespace trainc::emulator
