// Kernels of class Rows against the reference: every kind of value, pass and tail.
#include "test/unit/codegen/cuda_harness.h"

#include "llvm/Support/FormatVariadic.h"
#include <gtest/gtest.h>

using namespace trainc::codegen;
using namespace trainc::codegen::harness;

TEST(Rows, ElementwiseFlat) {
  expectTargetsMatchReference(
      R"(func.func @f(%x: tensor<3x41000xf32>, %y: tensor<3x41000xf32>) -> tensor<3x41000xf32> {
    %0 = nn.mul %x, %y : tensor<3x41000xf32>, tensor<3x41000xf32>
    %1 = nn.add %0, %x : tensor<3x41000xf32>, tensor<3x41000xf32>
    return %1 : tensor<3x41000xf32> })",
      1e-6);
}

TEST(Rows, ElementwiseSmallWithTail) {
  expectTargetsMatchReference(R"(func.func @f(%x: tensor<7x11xf32>) -> tensor<7x11xf32> {
    %0 = nn.gelu %x approximate tanh : tensor<7x11xf32>
    return %0 : tensor<7x11xf32> })",
                              1e-6);
}

TEST(Rows, OneElement) {
  expectTargetsMatchReference(R"(func.func @f(%x: tensor<f32>) -> tensor<f32> {
    %0 = nn.square %x : tensor<f32>
    return %0 : tensor<f32> })",
                              1e-6);
}

TEST(Rows, BiasPerColumnAndScalePerRow) {
  expectTargetsMatchReference(
      R"(func.func @f(%x: tensor<5x9x70xf32>, %b: tensor<70xf32>, %s: tensor<5x9xf32>) -> tensor<5x9x70xf32> {
    %0 = nn.broadcast %b to [5, 9, 70] : tensor<70xf32>
    %1 = nn.add %x, %0 : tensor<5x9x70xf32>, tensor<5x9x70xf32>
    %2 = nn.reshape %s to [5, 9, 1] : tensor<5x9xf32>
    %3 = nn.broadcast %2 to [5, 9, 70] : tensor<5x9x1xf32>
    %4 = nn.mul %1, %3 : tensor<5x9x70xf32>, tensor<5x9x70xf32>
    return %4 : tensor<5x9x70xf32> })",
      1e-6);
}

TEST(Rows, LayerNormWithResidual) {
  expectTargetsMatchReference(
      R"(func.func @f(%x: tensor<6x200xf32>, %y: tensor<6x200xf32>, %g: tensor<200xf32>) -> (tensor<6x200xf32>, tensor<6x200xf32>, tensor<6xf32>) {
    %r = nn.add %x, %y : tensor<6x200xf32>, tensor<6x200xf32>
    %m = nn.reduce mean %r over [1] keep : tensor<6x200xf32>
    %mb = nn.broadcast %m to [6, 200] : tensor<6x1xf32>
    %c = nn.sub %r, %mb : tensor<6x200xf32>, tensor<6x200xf32>
    %q = nn.square %c : tensor<6x200xf32>
    %v = nn.reduce mean %q over [1] : tensor<6x200xf32>
    %s = nn.rsqrt %v : tensor<6xf32>
    %s1 = nn.reshape %s to [6, 1] : tensor<6xf32>
    %sb = nn.broadcast %s1 to [6, 200] : tensor<6x1xf32>
    %n = nn.mul %c, %sb : tensor<6x200xf32>, tensor<6x200xf32>
    %gb = nn.broadcast %g to [6, 200] : tensor<200xf32>
    %o = nn.mul %n, %gb : tensor<6x200xf32>, tensor<6x200xf32>
    return %r, %o, %s : tensor<6x200xf32>, tensor<6x200xf32>, tensor<6xf32> })",
      1e-5);
}

TEST(Rows, SoftmaxOfLongRowsWithStash) {
  expectTargetsMatchReference(R"(func.func @f(%x: tensor<3x1000xf32>) -> tensor<3x1000xf32> {
    %m = nn.reduce max %x over [1] keep : tensor<3x1000xf32>
    %mb = nn.broadcast %m to [3, 1000] : tensor<3x1xf32>
    %c = nn.sub %x, %mb : tensor<3x1000xf32>, tensor<3x1000xf32>
    %e = nn.exp %c : tensor<3x1000xf32>
    %s = nn.reduce sum %e over [1] keep : tensor<3x1000xf32>
    %sb = nn.broadcast %s to [3, 1000] : tensor<3x1xf32>
    %o = nn.div %e, %sb : tensor<3x1000xf32>, tensor<3x1000xf32>
    return %o : tensor<3x1000xf32> })",
                              1e-6);
}

TEST(Rows, CrossEntropyPicksByIota) {
  expectTargetsMatchReference(R"(func.func @f(%x: tensor<9x77xf32>, %l: tensor<9xi32>) -> tensor<9xf32> {
    %i = nn.iota 1 : tensor<9x77xi32>
    %l1 = nn.reshape %l to [9, 1] : tensor<9xi32>
    %lb = nn.broadcast %l1 to [9, 77] : tensor<9x1xi32>
    %h = nn.compare eq %i, %lb : tensor<9x77xi32>, tensor<9x77xi32>
    %z = nn.constant 0.0 : tensor<9x77xf32>
    %p = nn.select %h, %x, %z : tensor<9x77xi1>, tensor<9x77xf32>, tensor<9x77xf32>
    %o = nn.reduce sum %p over [1] : tensor<9x77xf32>
    return %o : tensor<9xf32> })",
                              1e-6, 77);
}

TEST(Rows, ColumnSumsOfManyTiles) {
  expectTargetsMatchReference(
      R"(func.func @f(%x: tensor<2x700x130xf32>, %y: tensor<2x700x130xf32>) -> (tensor<130xf32>, tensor<130xf32>, tensor<2x700x130xf32>) {
    %p = nn.mul %x, %y : tensor<2x700x130xf32>, tensor<2x700x130xf32>
    %a = nn.reduce sum %p over [0, 1] : tensor<2x700x130xf32>
    %b = nn.reduce max %x over [0, 1] : tensor<2x700x130xf32>
    return %a, %b, %p : tensor<130xf32>, tensor<130xf32>, tensor<2x700x130xf32> })",
      5e-5);
}

TEST(Rows, ColumnMeanOfOneTile) {
  expectTargetsMatchReference(R"(func.func @f(%i: tensor<4x40xf32>) -> (tensor<40xf32>, tensor<40xf32>) {
    %r:2 = nn.kernel 4 x 40 (%x = %i : tensor<4x40xf32>) -> (tensor<40xf32>, tensor<40xf32>) {
      %a = nn.reduce mean %x over [0] {nn.pattern = #nn.pattern<*4, 40>} : tensor<4x40xf32>
      %b = nn.reduce min %x over [0] {nn.pattern = #nn.pattern<*4, 40>} : tensor<4x40xf32>
      nn.yield %a, %b : tensor<40xf32>, tensor<40xf32>
    }
    return %r#0, %r#1 : tensor<40xf32>, tensor<40xf32> })",
                              1e-6);
}

TEST(Rows, LossIsSumOfRowValues) {
  expectTargetsMatchReference(
      R"(func.func @f(%x: tensor<1000x64xf32>, %w: tensor<1000xf32>) -> (tensor<1000xf32>, tensor<f32>) {
    %a = nn.reduce sum %x over [1] : tensor<1000x64xf32>
    %b = nn.mul %a, %w : tensor<1000xf32>, tensor<1000xf32>
    %c = nn.reduce sum %b over [0] : tensor<1000xf32>
    return %b, %c : tensor<1000xf32>, tensor<f32> })",
      1e-5);
}

TEST(Rows, SumOfSquaresOfLongRow) {
  expectTargetsMatchReference(R"(func.func @f(%x: tensor<301x333xf32>) -> tensor<f32> {
    %a = nn.square %x : tensor<301x333xf32>
    %c = nn.reduce sum %a over [0, 1] : tensor<301x333xf32>
    return %c : tensor<f32> })",
                              1e-5);
}

TEST(Rows, AdamLikeUpdateWithScalars) {
  expectTargetsMatchReference(
      R"(func.func @f(%p0: tensor<300x200xf32>, %m0: tensor<300x200xf32>, %g0: tensor<300x200xf32>, %lr0: tensor<f32>, %ok0: tensor<i1>) -> (tensor<300x200xf32>, tensor<300x200xf32>, tensor<f32>) {
    %r:3 = nn.kernel 1 x 60000 (%p = %p0 : tensor<300x200xf32>, %m = %m0 : tensor<300x200xf32>, %g = %g0 : tensor<300x200xf32>,
                                %lr = %lr0 : tensor<f32> at <*60000>, %ok = %ok0 : tensor<i1> at <*60000>)
        -> (tensor<300x200xf32>, tensor<300x200xf32>, tensor<f32>) {
      %l2 = nn.mul %lr, %lr {nn.pattern = #nn.pattern<*60000>} : tensor<f32>, tensor<f32>
      %lb = nn.broadcast %l2 to [300, 200] : tensor<f32>
      %okb = nn.broadcast %ok to [300, 200] : tensor<i1>
      %s = nn.mul %g, %lb : tensor<300x200xf32>, tensor<300x200xf32>
      %m1 = nn.add %m, %s : tensor<300x200xf32>, tensor<300x200xf32>
      %p1 = nn.sub %p, %m1 : tensor<300x200xf32>, tensor<300x200xf32>
      %p2 = nn.select %okb, %p1, %p : tensor<300x200xi1>, tensor<300x200xf32>, tensor<300x200xf32>
      nn.yield %p2, %m1, %l2 : tensor<300x200xf32>, tensor<300x200xf32>, tensor<f32>
    }
    return %r#0, %r#1, %r#2 : tensor<300x200xf32>, tensor<300x200xf32>, tensor<f32> })",
      1e-6);
}

TEST(Rows, EmbeddingPlusPositions) {
  expectTargetsMatchReference(
      R"(func.func @f(%t: tensor<50x96xf32>, %p: tensor<7x96xf32>, %i: tensor<3x7xi32>) -> tensor<3x7x96xf32> {
    %e = nn.gather %t at %i : tensor<50x96xf32>, tensor<3x7xi32>
    %q = nn.broadcast %p to [3, 7, 96] : tensor<7x96xf32>
    %o = nn.add %e, %q : tensor<3x7x96xf32>, tensor<3x7x96xf32>
    return %o : tensor<3x7x96xf32> })",
      1e-6, 55); // ids from 50 on are out of range: zeros
}

TEST(Rows, ClassWeightsByLabel) {
  expectTargetsMatchReference(
      R"(func.func @f(%w: tensor<10x1xf32>, %i: tensor<33xi64>, %x: tensor<33x1xf32>) -> tensor<33x1xf32> {
    %e = nn.gather %w at %i : tensor<10x1xf32>, tensor<33xi64>
    %o = nn.mul %e, %x : tensor<33x1xf32>, tensor<33x1xf32>
    return %o : tensor<33x1xf32> })",
      1e-6, 12);
}

TEST(Rows, WeightOfEachRow) {
  expectTargetsMatchReference(
      R"(func.func @f(%w0: tensor<10x1xf32>, %i0: tensor<33xi64>, %x0: tensor<33x80xf32>) -> tensor<33x80xf32> {
    %r = nn.kernel 33 x 80 (%w = %w0 : tensor<10x1xf32> table, %i = %i0 : tensor<33xi64> at <33, *80>, %x = %x0 : tensor<33x80xf32>)
        -> (tensor<33x80xf32>) {
      %e = nn.gather %w at %i {nn.pattern = #nn.pattern<33, *80>} : tensor<10x1xf32>, tensor<33xi64>
      %b = nn.broadcast %e to [33, 80] : tensor<33x1xf32>
      %o = nn.mul %b, %x : tensor<33x80xf32>, tensor<33x80xf32>
      nn.yield %o : tensor<33x80xf32>
    }
    return %r : tensor<33x80xf32> })",
      1e-6, 12);
}

TEST(Rows, RotationSharedByHeads) {
  expectTargetsMatchReference(
      R"(func.func @f(%x0: tensor<2x5x3x16xf32>, %p0: tensor<5xi32>) -> tensor<2x5x3x16xf32> {
    %r = nn.kernel 30 x 16 (%x = %x0 : tensor<2x5x3x16xf32>, %p = %p0 : tensor<5xi32> at <*2, 5, *48>) -> (tensor<2x5x3x16xf32>) {
      %f = nn.convert %p to f32 {nn.pattern = #nn.pattern<*2, 5, *48>} : tensor<5xi32>
      %f1 = nn.reshape %f to [1, 5, 1, 1] {nn.pattern = #nn.pattern<*2, 5, *48>} : tensor<5xf32>
      %fb = nn.broadcast %f1 to [1, 5, 1, 16] {nn.pattern = #nn.pattern<*2, 5, *3, 16>} : tensor<1x5x1x1xf32>
      %i = nn.iota 3 {nn.pattern = #nn.pattern<*2, 5, *3, 16>} : tensor<1x5x1x16xi32>
      %if = nn.convert %i to f32 {nn.pattern = #nn.pattern<*2, 5, *3, 16>} : tensor<1x5x1x16xi32>
      %a = nn.mul %fb, %if {nn.pattern = #nn.pattern<*2, 5, *3, 16>} : tensor<1x5x1x16xf32>, tensor<1x5x1x16xf32>
      %c = nn.cos %a {nn.pattern = #nn.pattern<*2, 5, *3, 16>} : tensor<1x5x1x16xf32>
      %cb = nn.broadcast %c to [2, 5, 3, 16] : tensor<1x5x1x16xf32>
      %o = nn.mul %x, %cb : tensor<2x5x3x16xf32>, tensor<2x5x3x16xf32>
      nn.yield %o : tensor<2x5x3x16xf32>
    }
    return %r : tensor<2x5x3x16xf32> })",
      1e-6, 100);
}

TEST(Rows, PositionsOfEveryDimension) {
  expectTargetsMatchReference(
      R"(func.func @f(%c: tensor<24xi64>) -> (tensor<6x5x24xi64>, tensor<6x5x24xi64>) {
    %r:2 = nn.kernel 30 x 24 (%b = %c : tensor<24xi64> at <*30, 24>) -> (tensor<6x5x24xi64>, tensor<6x5x24xi64>) {
      %i = nn.iota 0 : tensor<6x5x24xi64>
      %j = nn.iota 1 : tensor<6x5x24xi64>
      %bb = nn.broadcast %b to [6, 5, 24] : tensor<24xi64>
      %s = nn.add %i, %bb : tensor<6x5x24xi64>, tensor<6x5x24xi64>
      nn.yield %s, %j : tensor<6x5x24xi64>, tensor<6x5x24xi64>
    }
    return %r#0, %r#1 : tensor<6x5x24xi64>, tensor<6x5x24xi64> })",
      0);
}

TEST(Rows, FlatPositionsOfInnerDimension) {
  expectTargetsMatchReference(R"(func.func @f(%x: tensor<50x20x40xi32>) -> tensor<50x20x40xi32> {
    %j = nn.iota 1 : tensor<50x20x40xi32>
    %s = nn.add %j, %x : tensor<50x20x40xi32>, tensor<50x20x40xi32>
    return %s : tensor<50x20x40xi32> })",
                              0);
}

TEST(Rows, RandomNumbers) {
  expectTargetsMatchReference(
      R"(func.func @f(%s: tensor<i64>, %t: tensor<i64>, %o: tensor<i64>) -> tensor<3x37xf32> {
    %0 = nn.random normal stream 5 seed %s step %t offset %o : tensor<3x37xf32> : tensor<i64>, tensor<i64>, tensor<i64>
    return %0 : tensor<3x37xf32> })",
      1e-5);
}

TEST(Rows, Float64) {
  expectTargetsMatchReference(R"(func.func @f(%x: tensor<5x75xf64>) -> (tensor<5x75xf64>, tensor<5xf64>) {
    %0 = nn.tanh %x : tensor<5x75xf64>
    %1 = nn.reduce sum %0 over [1] : tensor<5x75xf64>
    return %0, %1 : tensor<5x75xf64>, tensor<5xf64> })",
                              1e-13);
}

TEST(Rows, NarrowColumns) {
  expectTargetsMatchReference(
      R"(func.func @f(%x: tensor<100x3xf32>, %b: tensor<3xf32>) -> (tensor<100x3xf32>, tensor<100xf32>, tensor<3xf32>) {
    %bb = nn.broadcast %b to [100, 3] : tensor<3xf32>
    %o = nn.add %x, %bb : tensor<100x3xf32>, tensor<100x3xf32>
    %r = nn.reduce sum %o over [1] : tensor<100x3xf32>
    %c = nn.reduce sum %o over [0] : tensor<100x3xf32>
    return %o, %r, %c : tensor<100x3xf32>, tensor<100xf32>, tensor<3xf32> })",
      1e-5);
}

TEST(Rows, CompareLeavesKernelAsBytes) {
  expectTargetsMatchReference(
      R"(func.func @f(%x0: tensor<10x13xf32>, %m0: tensor<10x13xi1>) -> (tensor<10x13xi1>, tensor<10x13xf32>) {
    %r:2 = nn.kernel 1 x 130 (%x = %x0 : tensor<10x13xf32>, %m = %m0 : tensor<10x13xi1>) -> (tensor<10x13xi1>, tensor<10x13xf32>) {
      %z = nn.constant 0.0 : tensor<10x13xf32>
      %o = nn.compare gt %x, %z : tensor<10x13xf32>, tensor<10x13xf32>
      %s = nn.select %m, %x, %z : tensor<10x13xi1>, tensor<10x13xf32>, tensor<10x13xf32>
      nn.yield %o, %s : tensor<10x13xi1>, tensor<10x13xf32>
    }
    return %r#0, %r#1 : tensor<10x13xi1>, tensor<10x13xf32> })",
      0);
}

TEST(Rows, EqualKernelsExistOnce) {
  const char *text = R"(func.func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
    %0 = nn.exp %x : tensor<16xf32>
    return %0 : tensor<16xf32> })";
  CompiledOp a(text), b(text);
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a.launched(), b.launched());
}

TEST(Rows, ReadsInLaterPassesForbidInPlace) {
  CompiledOp op(R"(func.func @f(%i: tensor<4x64xf32>) -> (tensor<4x64xf32>, tensor<4x64xf32>) {
    %r:2 = nn.kernel 4 x 64 (%x = %i : tensor<4x64xf32>) -> (tensor<4x64xf32>, tensor<4x64xf32>) {
      %e = nn.neg %x : tensor<4x64xf32>
      %s = nn.reduce sum %x over [1] keep {nn.pattern = #nn.pattern<4, *64>} : tensor<4x64xf32>
      %sb = nn.broadcast %s to [4, 64] : tensor<4x1xf32>
      %o = nn.mul %x, %sb : tensor<4x64xf32>, tensor<4x64xf32>
      nn.yield %e, %o : tensor<4x64xf32>, tensor<4x64xf32>
    }
    return %r#0, %r#1 : tensor<4x64xf32>, tensor<4x64xf32> })");
  ASSERT_TRUE(op);
  ASSERT_EQ(op.kernels().mayAlias.size(), 1u);
  EXPECT_EQ(op.kernels().mayAlias[0], std::make_pair(0u, 1u));
}

TEST(Rows, IntermediateValueWaitsInResultsBuffer) {
  CompiledOp op(R"(func.func @f(%x: tensor<4x70xf32>) -> tensor<4x70xf32> {
    %e = nn.exp %x : tensor<4x70xf32>
    %s = nn.reduce sum %e over [1] keep : tensor<4x70xf32>
    %sb = nn.broadcast %s to [4, 70] : tensor<4x1xf32>
    %o = nn.div %e, %sb : tensor<4x70xf32>, tensor<4x70xf32>
    %w = nn.mul %o, %x : tensor<4x70xf32>, tensor<4x70xf32>
    return %w : tensor<4x70xf32> })");
  ASSERT_TRUE(op);
  EXPECT_TRUE(op.kernels().mayAlias.empty()); // x is read after e was written there
  expectMatchesReference(op, op.randomInputs(), 1e-6);
}

/// Ways through the chain: 2^64, of which the plan must walk none twice.
TEST(Rows, ChainOfOpsThatReadAValueTwice) {
  std::string text = "func.func @f(%x0: tensor<4x70xf32>) -> tensor<4x70xf32> {\n";
  for (int i = 0; i < 64; ++i)
    text += llvm::formatv("%x{0} = nn.add %x{1}, %x{1} : tensor<4x70xf32>, tensor<4x70xf32>\n", i + 1, i);
  expectMatchesReference(text + R"(
    %m = nn.reduce max %x64 over [1] keep : tensor<4x70xf32>
    %mb = nn.broadcast %m to [4, 70] : tensor<4x1xf32>
    %o = nn.div %x64, %mb : tensor<4x70xf32>, tensor<4x70xf32>
    return %o : tensor<4x70xf32> })",
                         1e-6);
}

TEST(Rows, RandomStreamsShareCode) {
  auto text = [](const char *stream) {
    return std::string(
               "func.func @f(%s: tensor<i64>, %t: tensor<i64>) -> tensor<64xf32> { %0 = nn.random stream ") +
           stream +
           " seed %s step %t offset %t : tensor<64xf32> : tensor<i64>, tensor<i64>, tensor<i64> return %0 : "
           "tensor<64xf32> }";
  };
  CompiledOp first(text("1234567890123456789")), second(text("-987654321098765432"));
  ASSERT_TRUE(first && second);
  expectMatchesReference(first, first.randomInputs(), 1e-6);
  expectMatchesReference(second, second.randomInputs(), 1e-6);
  EXPECT_NE(first.launched()[0], second.launched()[0]);
}

/// Also in place, where the intermediate values that later passes read are wider than the result.
TEST(Rows, SoftmaxOfShortNumbers) {
  expectTargetsMatchReference(R"(func.func @f(%s: tensor<5x1003xbf16>) -> tensor<5x1003xbf16> {
    %x = nn.convert %s to f32 : tensor<5x1003xbf16>
    %m = nn.reduce max %x over [1] keep : tensor<5x1003xf32>
    %mb = nn.broadcast %m to [5, 1003] : tensor<5x1xf32>
    %c = nn.sub %x, %mb : tensor<5x1003xf32>, tensor<5x1003xf32>
    %e = nn.exp %c : tensor<5x1003xf32>
    %t = nn.reduce sum %e over [1] keep : tensor<5x1003xf32>
    %tb = nn.broadcast %t to [5, 1003] : tensor<5x1xf32>
    %o = nn.div %e, %tb : tensor<5x1003xf32>, tensor<5x1003xf32>
    %r = nn.convert %o to bf16 : tensor<5x1003xf32>
    return %r : tensor<5x1003xbf16> })",
                              4e-3);
}

/// The last, incomplete vector of a row: in place, where writing too many elements would change the next row,
/// and up to the last byte before inaccessible memory.
TEST(Rows, TailsOfShortNumbers) {
  for (const std::string type : {"bf16", "f16"})
    for (int columns : {1, 2, 3, 6, 9, 15, 17, 30, 33, 47, 63}) {
      SCOPED_TRACE(type + " " + std::to_string(columns));
      const std::string width = std::to_string(columns), row = "tensor<" + width + "x" + type + ">",
                        x = "tensor<32x" + width + "x" + type + ">";
      const std::string text = "func.func @f(%x: " + x + ", %scale: " + row + ") -> " + x +
                               " {\n  %all = nn.broadcast %scale to [32, " + width + "] : " + row +
                               "\n  %r = nn.mul %x, %all : " + x + ", " + x + "\n  return %r : " + x + "\n}";
      CompiledOp op(text);
      expectMatchesReference(op, op.randomInputs(), 0); // products are exact in f32
      EXPECT_FALSE(op.kernels().mayAlias.empty());
      expectGpuMatchesReference(text, 0);
    }
}
