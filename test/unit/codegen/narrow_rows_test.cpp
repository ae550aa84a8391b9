// Row kernels of GPUs whose rows are shorter than a block of threads.
#include "lib/Codegen/Kernels/Threads.h"
#include "test/unit/codegen/cuda_harness.h"

#include "llvm/Support/FormatVariadic.h"
#include <gtest/gtest.h>

using namespace trainc;
using namespace trainc::codegen;
using namespace trainc::codegen::harness;

/// Softmax with a number of each row, which is stored once, and is read by all of the row's threads.
static std::string softmax(int64_t rows, int64_t columns) {
  return llvm::formatv(
             R"(func.func @f(%x: tensor<{0}x{1}xf32>, %s: tensor<{0}xf32>) -> (tensor<{0}x{1}xf32>, tensor<{0}xf32>) {{
    %s1 = nn.reshape %s to [{0}, 1] : tensor<{0}xf32>
    %sb = nn.broadcast %s1 to [{0}, {1}] : tensor<{0}x1xf32>
    %a = nn.mul %x, %sb : tensor<{0}x{1}xf32>, tensor<{0}x{1}xf32>
    %m = nn.reduce max %a over [1] keep : tensor<{0}x{1}xf32>
    %mb = nn.broadcast %m to [{0}, {1}] : tensor<{0}x1xf32>
    %c = nn.sub %a, %mb : tensor<{0}x{1}xf32>, tensor<{0}x{1}xf32>
    %e = nn.exp %c : tensor<{0}x{1}xf32>
    %t = nn.reduce sum %e over [1] : tensor<{0}x{1}xf32>
    %t1 = nn.reshape %t to [{0}, 1] : tensor<{0}xf32>
    %tb = nn.broadcast %t1 to [{0}, {1}] : tensor<{0}x1xf32>
    %o = nn.div %e, %tb : tensor<{0}x{1}xf32>, tensor<{0}x{1}xf32>
    return %o, %t : tensor<{0}x{1}xf32>, tensor<{0}xf32> })",
             rows, columns)
      .str();
}

TEST(NarrowRows, MatchTheReference) {
  for (int64_t rows : {1, 2, 6, 7, 40, 64, 256})
    for (int64_t columns : {2, 5, 8, 16, 63, 64, 128, 200}) {
      SCOPED_TRACE(std::to_string(rows) + " rows of " + std::to_string(columns));
      expectGpuMatchesReference(softmax(rows, columns), 1e-6);
    }
}

/// Several rows share the threads of a block, up to 256, if rows divide.
TEST(NarrowRows, ShareBlocks) {
  auto launchOf = [](int64_t rows, int64_t columns) {
    const LaunchSummary launch = CudaOp(softmax(rows, columns)).kernels().launches.front();
    return std::pair(launch.grid, launch.threads);
  };
  EXPECT_EQ(launchOf(256, 64), std::pair(int64_t(8), int64_t(256)));   // 8 threads a row
  EXPECT_EQ(launchOf(256, 200), std::pair(int64_t(32), int64_t(256))); // a warp a row
  EXPECT_EQ(launchOf(12, 64), std::pair(int64_t(3), kWarp));           // four rows a warp
  EXPECT_EQ(launchOf(7, 64), std::pair(int64_t(7), kWarp));
  EXPECT_EQ(launchOf(256, 512), std::pair(int64_t(256), int64_t(64))); // no narrow row
}

/// In which order a row is summed follows from its length, not from how many rows there are.
TEST(NarrowRows, NumberOfRowsDoesNotChangeBits) {
  for (int64_t columns : {8, 15, 23, 63, 64, 200}) { // 15 and 23 leave more numbers than they have vectors
    CudaOp many(softmax(64, columns)), few(softmax(7, columns));
    ASSERT_TRUE(many && few);
    auto all = many.randomInputs();
    reference::Tensors first{few.randomInputs()};
    std::copy_n(all[0].reals.begin(), 7 * columns, first[0].reals.begin());
    std::copy_n(all[1].reals.begin(), 7, first[1].reals.begin());
    auto whole = many.run(all), part = few.run(first);
    ASSERT_EQ(part.size(), 2U);
    for (size_t i = 0; i < part.size(); ++i)
      EXPECT_TRUE(std::equal(part[i].reals.begin(), part[i].reals.end(), whole[i].reals.begin())) << columns;
  }
}

/// Sums of columns are one row after the other: none share a block.
TEST(NarrowRows, ColumnSumsOfFewRows) {
  expectTargetsMatchReference(R"(func.func @f(%x: tensor<64x24xf32>) -> (tensor<64xf32>, tensor<24xf32>) {
    %r = nn.reduce sum %x over [1] : tensor<64x24xf32>
    %c = nn.reduce sum %x over [0] : tensor<64x24xf32>
    return %r, %c : tensor<64xf32>, tensor<24xf32> })",
                              1e-5);
}

/// A sum of numbers of which each row has one.
TEST(NarrowRows, SumOfRowSums) {
  expectTargetsMatchReference(R"(func.func @f(%x: tensor<96x24xf32>) -> (tensor<96xf32>, tensor<f32>) {
    %r = nn.reduce sum %x over [1] : tensor<96x24xf32>
    %q = nn.square %r : tensor<96xf32>
    %c = nn.reduce sum %q over [0] : tensor<96xf32>
    return %q, %c : tensor<96xf32>, tensor<f32> })",
                              1e-5);
}
