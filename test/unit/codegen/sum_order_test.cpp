// In which order numbers are added up: the bits of sums, by kernels of both targets.
#include "test/unit/codegen/cuda_harness.h"

#include "llvm/Support/FormatVariadic.h"
#include <cstring>
#include <gtest/gtest.h>

using namespace trainc::codegen::harness;

using Words = std::vector<std::pair<const char *, std::string>>;

/// `text` with each word replaced by its meaning.
static std::string expanded(std::string text, const Words &words) {
  for (const auto &[word, meaning] : words)
    for (size_t at; (at = text.find(word)) != std::string::npos;)
      text.replace(at, strlen(word), meaning);
  return text;
}

/// Lanes are fewer next to functions, 64-bit numbers and long bodies, and a row is processed as a whole if
/// its elements need the sum: the order of the sum is the same.
template <typename Op> static void expectOrderOfLength() {
  const char *neighbours[] = {
      "%o = nn.neg %x : FULL", "%o = nn.exp %x : FULL",
      "%c = nn.convert %x to f64 : FULL  %o = nn.convert %c to f32 : DOUBLE",
      "%r = nn.random normal stream 5 seed %k step %k offset %k : FULL : KEYS  %o = "
      "nn.mul %r, %x : FULL, FULL",
      "%b = nn.reshape %s to ONES {nn.pattern = ROWS} : SUM  %w = nn.broadcast %b to SIZES : KEPT  %o = "
      "nn.mul %x, %w : FULL, FULL"};
  const Words shapes[] = {{{"DIMS", "[1]"},
                           {"SUM", "tensor<7xf32>"},
                           {"ONES", "[7, 1]"},
                           {"KEPT", "tensor<7x1xf32>"},
                           {"SIZES", "[7, 37]"},
                           {"SPACE", "7 x 37"},
                           {"ROWS", "#nn.pattern<7, *37>"},
                           {"ONE", "<*259>"},
                           {"FULL", "tensor<7x37xf32>"},
                           {"DOUBLE", "tensor<7x37xf64>"}},
                          {{"DIMS", "[1]"},
                           {"SUM", "tensor<3xf32>"},
                           {"ONES", "[3, 1]"},
                           {"KEPT", "tensor<3x1xf32>"},
                           {"SIZES", "[3, 1000]"},
                           {"SPACE", "3 x 1000"},
                           {"ROWS", "#nn.pattern<3, *1000>"},
                           {"ONE", "<*3000>"},
                           {"FULL", "tensor<3x1000xf32>"},
                           {"DOUBLE", "tensor<3x1000xf64>"}},
                          {{"DIMS", "[1]"},
                           {"SUM", "tensor<2xf32>"},
                           {"ONES", "[2, 1]"},
                           {"KEPT", "tensor<2x1xf32>"},
                           {"SIZES", "[2, 50001]"},
                           {"SPACE", "2 x 50001"},
                           {"ROWS", "#nn.pattern<2, *50001>"},
                           {"ONE", "<*100002>"},
                           {"FULL", "tensor<2x50001xf32>"},
                           {"DOUBLE", "tensor<2x50001xf64>"}},
                          {{"DIMS", "[0, 1]"},
                           {"SUM", "tensor<f32>"},
                           {"ONES", "[1, 1]"},
                           {"KEPT", "tensor<1x1xf32>"},
                           {"SIZES", "[2, 20003]"},
                           {"SPACE", "1 x 40006"},
                           {"ROWS", "#nn.pattern<*40006>"},
                           {"ONE", "<*40006>"},
                           {"FULL", "tensor<2x20003xf32>"},
                           {"DOUBLE", "tensor<2x20003xf64>"}},
                          {{"DIMS", "[0, 1]"},
                           {"SUM", "tensor<f32>"},
                           {"ONES", "[1, 1]"},
                           {"KEPT", "tensor<1x1xf32>"},
                           {"SIZES", "[2, 35003]"},
                           {"SPACE", "1 x 70006"},
                           {"ROWS", "#nn.pattern<*70006>"},
                           {"ONE", "<*70006>"},
                           {"FULL", "tensor<2x35003xf32>"},
                           {"DOUBLE", "tensor<2x35003xf64>"}}};
  for (Words words : shapes) {
    words.insert(words.end(), {{"KEYS", "KEY, KEY, KEY"}, {"KEY", "tensor<i64>"}});
    std::optional<std::vector<double>> first;
    for (const std::string neighbour : neighbours) {
      const std::string text =
          expanded("func.func @f(%x0: FULL, %k0: KEY) -> (SUM, FULL) {"
                   "  %f:2 = nn.kernel SPACE (%x = %x0 : FULL, %k = %k0 : KEY at ONE) -> (SUM, FULL) {"
                   "    %s = nn.reduce sum %x over DIMS {nn.pattern = ROWS} : FULL " +
                       neighbour + "  nn.yield %s, %o : SUM, FULL }  return %f#0, %f#1 : SUM, FULL }",
                   words);
      Op op(text);
      ASSERT_TRUE(op);
      const std::vector<double> sums = op.run(op.randomInputs())[0].reals;
      EXPECT_EQ(first.value_or(sums), sums) << text;
      first = sums;
    }
  }
}

TEST(SumOrder, DoesNotDependOnNeighbours) { expectOrderOfLength<CompiledOp>(); }
TEST(SumOrder, DoesNotDependOnNeighboursOnGpus) { expectOrderOfLength<CudaOp>(); }

/// Elements of rows add up as they would in a kernel of their own.
template <typename Op> static void expectRowsAddUpAsAlone(int64_t rows) {
  const std::string sums = llvm::formatv("tensor<{0}xf32>", rows),
                    x = llvm::formatv("tensor<{0}x16xf32>", rows);
  Op together("func.func @f(%x: " + x + ") -> (" + sums +
              ", tensor<f32>) {\n  %a = nn.reduce sum %x over [1] : " + x +
              "\n  %s = nn.reduce sum %a over [0] : " + sums + "\n  return %a, %s : " + sums +
              ", tensor<f32>\n}");
  Op alone("func.func @f(%a: " + sums + ") -> tensor<f32> {\n  %s = nn.reduce sum %a over [0] : " + sums +
           "\n  return %s : tensor<f32>\n}");
  ASSERT_TRUE(together && alone);
  auto results = together.run(together.randomInputs());
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(alone.run({results[0]})[0].reals, results[1].reals) << rows;
}

/// Lengths below a vector, with and without a rest, of several vectors a thread, and of several pieces.
TEST(SumOrder, SumsOverRowsAreThoseOfAlone) {
  for (int64_t rows : {6, 7, 15, 1000, 5001, 16384, 40001, 70001}) {
    expectRowsAddUpAsAlone<CompiledOp>(rows);
    expectRowsAddUpAsAlone<CudaOp>(rows);
  }
}

template <typename Op> static void expectShortNumbersAsAlone() {
  for (const std::string type : {"bf16", "f16"}) {
    const std::string x = "tensor<301x67x" + type + ">", sums = "tensor<67x" + type + ">";
    Op together("func.func @f(%x: " + x + ", %y: " + x + ") -> (" + x + ", " + x + ", " + sums +
                ") {\n  %a = nn.add %x, %y : " + x + ", " + x + "\n  %b = nn.mul %a, %y : " + x + ", " + x +
                "\n  %s = nn.reduce sum %b over [0] : " + x + "\n  return %a, %b, %s : " + x + ", " + x +
                ", " + sums + "\n}");
    Op product("func.func @f(%a: " + x + ", %y: " + x + ") -> " + x + " {\n  %b = nn.mul %a, %y : " + x +
               ", " + x + "\n  return %b : " + x + "\n}");
    Op sum("func.func @f(%b: " + x + ") -> " + sums + " {\n  %s = nn.reduce sum %b over [0] : " + x +
           "\n  return %s : " + sums + "\n}");
    ASSERT_TRUE(together && product && sum);
    auto inputs = together.randomInputs();
    auto results = together.run(inputs);
    EXPECT_EQ(product.run({results[0], inputs[1]})[0].reals, results[1].reals) << type;
    EXPECT_EQ(sum.run({results[1]})[0].reals, results[2].reals) << type;
  }
}

TEST(SumOrder, ShortNumbersAreThoseOfAlone) {
  expectShortNumbersAsAlone<CompiledOp>();
  expectShortNumbersAsAlone<CudaOp>();
}

/// The function that multiplies `rows` rows.
static std::string product(int64_t rows, bool transposed) {
  const char *right = transposed ? "tensor<83x531xf32>" : "tensor<531x83xf32>";
  return llvm::formatv("func.func @f(%a: tensor<{0}x531xf32>, %b: {1}) -> tensor<{0}x83xf32> {{ "
                       "%0 = nn.matmul %a, %b{2} : tensor<{0}x531xf32>, {1} return %0 : tensor<{0}x83xf32> }",
                       rows, right, transposed ? " transposed" : "");
}

/// A single row has a kernel of its own, as in generation token by token.
TEST(SumOrder, ARowHasTheSameBitsAloneAndAmongOthers) {
  for (const bool transposed : {false, true}) {
    const CompiledOp three(product(3, transposed)), one(product(1, transposed));
    ASSERT_TRUE(three && one);
    const trainc::reference::Tensors inputs = three.randomInputs();
    for (const std::string &level : one.levels()) {
      if (!CompiledOp::levelRunsHere(level))
        continue;
      const trainc::reference::Tensor all = three.run(inputs, level)[0];
      for (int64_t row = 0; row < 3; ++row) {
        trainc::reference::Tensor alone(llvm::cast<mlir::RankedTensorType>(one.inputTypes()[0]));
        std::copy_n(inputs[0].reals.begin() + row * 531, 531, alone.reals.begin());
        const trainc::reference::Tensor found = one.run({alone, inputs[1]}, level)[0];
        EXPECT_TRUE(std::equal(found.reals.begin(), found.reals.end(), all.reals.begin() + row * 83))
            << level << " " << row << " " << transposed;
      }
    }
  }
}
