// Sums of columns over rows, by kernels of GPUs.
#include "lib/Codegen/Kernels/Threads.h"
#include "test/unit/codegen/cuda_harness.h"

#include "llvm/Support/FormatVariadic.h"
#include <gtest/gtest.h>

using namespace trainc::codegen;
using namespace trainc::codegen::harness;

/// `kind` over the columns of squares and, if `ofRows`, also the sum of each row.
static std::string columnSums(int64_t rows, int64_t columns, llvm::StringRef type = "f32",
                              llvm::StringRef kind = "sum", bool ofRows = false) {
  const std::string x = llvm::formatv("tensor<{0}x{1}x{2}>", rows, columns, type),
                    result = llvm::formatv("tensor<{0}x{1}>", columns, type),
                    sums = llvm::formatv("tensor<{0}x{1}>", rows, type),
                    types = ofRows ? "(" + result + ", " + sums + ")" : result;
  return "func.func @f(%x: " + x + ") -> " + types + " {\n  %q = nn.square %x : " + x +
         llvm::formatv("\n  %c = nn.reduce {0} %q over [0] : {1}\n", kind, x).str() +
         (ofRows ? "  %r = nn.reduce sum %q over [1] : " + x + "\n  return %c, %r : " + result + ", " + sums
                 : "  return %c : " + result) +
         "\n}";
}

/// One tile of rows and several, one block's columns and several, and rests of both.
TEST(ColumnSums, MatchTheReference) {
  for (int64_t rows : {2, 4, 7, 133})
    for (int64_t columns : {5, 24, 131, 1030, 2056}) {
      SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns));
      expectGpuMatchesReference(columnSums(rows, columns), 1e-5);
      expectGpuMatchesReference(columnSums(rows, columns, "bf16", "mean"), 1e-2);
      expectGpuMatchesReference(columnSums(rows, columns, "f64", "max"), 0);
    }
}

/// If rows are summed as well, a block has all columns; the last size exceeds the number of threads.
TEST(ColumnSums, BesideSumsOfRows) {
  for (int64_t columns : {5, 131, 1030, 4101}) {
    SCOPED_TRACE(columns);
    for (int64_t rows : {3, 37})
      expectGpuMatchesReference(columnSums(rows, columns, "f32", "sum", /*ofRows=*/true), 2e-5);
    CudaOp alone(columnSums(37, columns)), together(columnSums(37, columns, "f32", "sum", /*ofRows=*/true));
    ASSERT_TRUE(alone && together);
    const auto inputs = alone.randomInputs();
    EXPECT_EQ(alone.run(inputs)[0].reals, together.run(inputs)[0].reals);
  }
}

/// Blocks share columns, and then rows, until they fill a GPU. One that has all rows of its columns stores
/// results.
TEST(ColumnSums, FillGpus) {
  struct Expected {
    int64_t grid, threads, partials;
  };
  auto expect = [](int64_t rows, int64_t columns, llvm::StringRef type, Expected expected) {
    SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns));
    CudaOp op(columnSums(rows, columns, type));
    ASSERT_TRUE(op);
    const KernelSummary &kernels = op.kernels();
    EXPECT_EQ(kernels.launches.front().grid, expected.grid);
    EXPECT_EQ(kernels.launches.front().threads, expected.threads);
    ASSERT_EQ(kernels.scratchBytes.size(), expected.partials ? 1U : 0U);
    if (expected.partials) {
      EXPECT_EQ(kernels.scratchBytes[0], expected.partials * columns * 4);
    }
  };
  expect(16384, 768, "f32", {512, 128, 512});
  expect(16384, 1600, "f32", {2 * 256, 128, 256});
  expect(16384, 3072, "bf16", {3 * 171, 128, 171});
  expect(16384, 24, "f32", {2048, kWarp, 2048});
  expect(16, 1024 * 768, "bf16", {768, 128, 0}); // positions, summed over the batch
  expect(4, 24, "f32", {1, kWarp, 0});
}

/// Partial sums are stored once a tile: two stores of 16 bytes for eight numbers of f32.
TEST(ColumnSums, StayInRegisters) {
  CudaOp op(columnSums(700, 128));
  ASSERT_TRUE(op);
  ASSERT_EQ(op.kernels().launches.size(), 2U);
  const auto kernel = op.text().split(".entry rows_").second.split(".entry").first;
  EXPECT_EQ(kernel.count("st.global"), 2U) << kernel.str();
  EXPECT_EQ(kernel.count("st.global.v4.b32"), 2U) << kernel.str();
}
