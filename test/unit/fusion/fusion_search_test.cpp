// A model of more layers, or parameters, takes as many times as long to fuse.
#include "dialects/NN/NN.h"
#include "lib/Analysis/StateOrder.h"
#include "lib/Fusion/FusionSearch.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace trainc;

namespace {

constexpr const char *kType = " : tensor<32x32xf32>", *kTypes = " : tensor<32x32xf32>, tensor<32x32xf32>";

/// Layers, then ops on the result of each: %s could be computed in its layer, because nothing later affects
/// it; %z could not, because %y depends on all layers.
std::string layers(int count) {
  std::string text = "func.func @f(%w: tensor<32x32xf32>, %x0: tensor<32x32xf32>) {\n";
  auto line = [&](const Twine &op, const char *type) { text += (op + type + "\n").str(); };
  for (int i = 0; i < count; ++i) {
    Twine n(i);
    line("%h" + n + " = nn.matmul %x" + n + ", %w", kTypes);
    line("%x" + Twine(i + 1) + " = nn.exp %h" + n, kType);
  }
  line("%y = nn.matmul %x" + Twine(count) + ", %w", kTypes);
  std::string results, types;
  for (int i = 0; i < count; ++i) {
    Twine n(i);
    line("%s" + n + " = nn.sqrt %h" + n, kType);
    line("%p" + n + " = nn.matmul %s" + n + ", %w", kTypes);
    line("%y" + n + " = nn.matmul %y, %w", kTypes);
    line("%z" + n + " = nn.mul %x" + Twine(i + 1) + ", %y" + n, kTypes);
    results += (Twine(i ? ", %p" : "%p") + n + ", %z" + n).str();
    types += (Twine(i ? ", " : "") + "tensor<32x32xf32>, tensor<32x32xf32>").str();
  }
  text.replace(text.find(") {"), 3, ") -> (" + types + ") {");
  return text + "return " + results + " : " + types + "\n}\n";
}

/// The end of a step: the sum of all gradients' squares decides whether each parameter is replaced.
std::string updates(int count) {
  std::string text = "func.func @f(%zero: tensor<f32>", results, types;
  auto line = [&](const Twine &op) { text += (op + "\n").str(); };
  for (int i = 0; i < count; ++i)
    text += (", %g" + Twine(i) + ": tensor<8x8xf32>, %w" + Twine(i) + ": tensor<8x8xf32>").str();
  for (int i = 0; i < count; ++i) {
    results += ((i ? ", %n" : "%n") + Twine(i)).str();
    types += i ? ", tensor<8x8xf32>" : "tensor<8x8xf32>";
  }
  text += ") -> (" + types + ") {\n";
  for (int i = 0; i < count; ++i) {
    Twine n(i);
    line("%q" + n + " = nn.mul %g" + n + ", %g" + n + " : tensor<8x8xf32>, tensor<8x8xf32>");
    line("%r" + n + " = nn.reduce sum %q" + n + " over [0, 1] : tensor<8x8xf32>");
    line("%s" + n + " = nn.add " + (i ? "%s" + Twine(i - 1) : Twine("%zero")) + ", %r" + n +
         " : tensor<f32>, tensor<f32>");
  }
  line("%all = nn.broadcast %s" + Twine(count - 1) + " to [8, 8] : tensor<f32>");
  line("%norm = nn.sqrt %all : tensor<8x8xf32>");
  for (int i = 0; i < count; ++i) {
    Twine n(i);
    line("%d" + n + " = nn.mul %g" + n + ", %norm : tensor<8x8xf32>, tensor<8x8xf32>");
    line("%n" + n + " = nn.sub %w" + n + ", %d" + n + " : tensor<8x8xf32>, tensor<8x8xf32>");
  }
  return text + "return " + results + " : " + types + "\n}\n";
}

/// Work of a search for a text: pairs of groups that it tries to merge, and groups visited in searches.
struct Work {
  uint64_t tried = 0, searched = 0;
};

Work workOf(const std::string &text) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<nn::NNDialect, func::FuncDialect>();
  auto module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return {};
  Block &block = (*module->getOps<func::FuncOp>().begin()).getBody().front();
  const FusionLimits limits{.longestRow = 65536, .launchBytes = 100000, .freeOps = 16};
  ReadAnalysis reads(block, limits.freeOps);
  FusionGraph graph(block, reads, fixedPairs(block));
  FusionSearch search(graph, limits);
  search.run();
  return {search.tried(), search.searched()};
}

void expectProportional(const Work &few, const Work &many, uint64_t times) {
  EXPECT_GT(few.tried, 0U);
  EXPECT_GT(few.searched, 0U);
  EXPECT_LE(many.tried, times * few.tried + times * few.tried / 8);
  EXPECT_LE(many.searched, times * few.searched + 100);
}

TEST(FusionSearch, GrowsWithTheNumberOfLayers) {
  expectProportional(workOf(layers(200)), workOf(layers(800)), 4);
}

TEST(FusionSearch, GrowsWithTheNumberOfParameters) {
  expectProportional(workOf(updates(1000)), workOf(updates(2000)), 2);
}

} // namespace
