// Row kernels of GPUs on padded rows.
#include "lib/Analysis/RowPadding.h"
#include "test/unit/codegen/cuda_harness.h"

#include "llvm/Support/FormatVariadic.h"
#include <gtest/gtest.h>

using namespace trainc;
using namespace trainc::codegen::harness;

/// Losses and gradients of rows whose length is unaligned.
static std::string crossEntropy(const std::string &type, int64_t rows, int64_t columns) {
  return llvm::formatv(
             R"(func.func @f(%s: tensor<{1}x{2}x{0}>, %l: tensor<{1}xi32>, %b: tensor<{2}xf32>) -> (tensor<{1}xf32>, tensor<{1}x{2}x{0}>) {{
    %w = nn.convert %s to f32 : tensor<{1}x{2}x{0}>
    %bb = nn.broadcast %b to [{1}, {2}] : tensor<{2}xf32>
    %x = nn.add %w, %bb : tensor<{1}x{2}xf32>, tensor<{1}x{2}xf32>
    %m = nn.reduce max %x over [1] keep : tensor<{1}x{2}xf32>
    %mb = nn.broadcast %m to [{1}, {2}] : tensor<{1}x1xf32>
    %c = nn.sub %x, %mb : tensor<{1}x{2}xf32>, tensor<{1}x{2}xf32>
    %e = nn.exp %c : tensor<{1}x{2}xf32>
    %t = nn.reduce sum %e over [1] : tensor<{1}x{2}xf32>
    %t1 = nn.reshape %t to [{1}, 1] : tensor<{1}xf32>
    %tb = nn.broadcast %t1 to [{1}, {2}] : tensor<{1}x1xf32>
    %p = nn.div %e, %tb : tensor<{1}x{2}xf32>, tensor<{1}x{2}xf32>
    %i = nn.iota 1 : tensor<{1}x{2}xi32>
    %l1 = nn.reshape %l to [{1}, 1] : tensor<{1}xi32>
    %lb = nn.broadcast %l1 to [{1}, {2}] : tensor<{1}x1xi32>
    %h = nn.compare eq %i, %lb : tensor<{1}x{2}xi32>, tensor<{1}x{2}xi32>
    %z = nn.constant 0.0 : tensor<{1}x{2}xf32>
    %o = nn.constant 1.0 : tensor<{1}x{2}xf32>
    %hot = nn.select %h, %o, %z : tensor<{1}x{2}xi1>, tensor<{1}x{2}xf32>, tensor<{1}x{2}xf32>
    %d = nn.sub %p, %hot : tensor<{1}x{2}xf32>, tensor<{1}x{2}xf32>
    %g = nn.convert %d to {0} : tensor<{1}x{2}xf32>
    return %t, %g : tensor<{1}xf32>, tensor<{1}x{2}x{0}> })",
             type, rows, columns)
      .str();
}

TEST(Rows, PaddedRows) {
  for (const std::string type : {"bf16", "f16", "f32"})
    for (int64_t columns : {9, 67, 1001, 1003, 5001}) {
      SCOPED_TRACE(type + " " + std::to_string(columns));
      CudaOp op(crossEntropy(type, 5, columns), /*pads=*/true);
      ASSERT_TRUE(op);
      EXPECT_GT(operandPadding(op.op(), 0), 0);
      EXPECT_FALSE(op.kernels().mayAlias.empty());
      expectGpuMatchesReference(op, op.randomInputs(columns), type == "f32" ? 1e-5 : 1e-2);
    }
}

/// All steps of all rows, one thread each: those at a row's end loop over its elements.
TEST(Rows, PaddedRowsWithoutReductions) {
  for (const std::string type : {"bf16", "f32"})
    for (int64_t columns : {9, 66, 515}) {
      SCOPED_TRACE(type + " " + std::to_string(columns));
      const std::string x = llvm::formatv("tensor<7x{0}x{1}>", columns, type),
                        row = llvm::formatv("tensor<{0}x{1}>", columns, type);
      CudaOp op("func.func @f(%x: " + x + ", %y: " + x + ", %b: " + row + ") -> " + x +
                    " {\n  %all = nn.broadcast %b to [7, " + std::to_string(columns) + "] : " + row +
                    "\n  %s = nn.mul %x, %all : " + x + ", " + x + "\n  %r = nn.add %s, %y : " + x + ", " +
                    x + "\n  return %r : " + x + "\n}",
                /*pads=*/true);
      ASSERT_TRUE(op);
      EXPECT_GT(resultPadding(op.op(), 0), 0);
      expectGpuMatchesReference(op, op.randomInputs(), type == "f32" ? 1e-6 : 1e-2);
    }
}

/// In which order a row is summed follows from its length, whether it has padding or not.
TEST(Rows, PaddingDoesNotChangeBits) {
  for (int64_t columns : {9, 67, 1001}) {
    const std::string text = crossEntropy("bf16", 5, columns);
    CudaOp together(text), padded(text, /*pads=*/true);
    ASSERT_TRUE(together && padded);
    const auto inputs = together.randomInputs(columns);
    expectSameBits(padded.run(inputs), together.run(inputs), std::to_string(columns));
  }
}

/// Sums over rows, of columns whose alignment in scratch memory differs from that in operands.
TEST(Rows, ColumnSumsOfPaddedRows) {
  for (int64_t columns : {9, 130, 131}) {
    const std::string x = llvm::formatv("tensor<700x{0}xbf16>", columns),
                      f = llvm::formatv("tensor<700x{0}xf32>", columns),
                      sums = llvm::formatv("tensor<{0}xf32>", columns);
    CudaOp op("func.func @f(%x: " + x + ") -> (" + sums + ", " + x + ") {\n  %w = nn.convert %x to f32 : " +
                  x + "\n  %q = nn.square %w : " + f + "\n  %a = nn.reduce sum %q over [0] : " + f +
                  "\n  %r = nn.convert %q to bf16 : " + f + "\n  return %a, %r : " + sums + ", " + x + "\n}",
              /*pads=*/true);
    ASSERT_TRUE(op);
    expectGpuMatchesReference(op, op.randomInputs(), 1e-2);
  }
}
