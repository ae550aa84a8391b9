// A model of four times as many layers takes four times as long to fuse.
#include "dialects/NN/NN.h"
#include "lib/Fusion/FusionGraph.h"

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

uint64_t searchedGroups(int count) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<nn::NNDialect, func::FuncDialect>();
  auto module = parseSourceString<ModuleOp>(layers(count), &context);
  if (!module)
    return 0;
  Block &block = (*module->getOps<func::FuncOp>().begin()).getBody().front();
  const FusionLimits limits{.longestRow = 65536, .launchBytes = 100000, .freeOps = 16};
  ReadAnalysis reads(block, limits.freeOps);
  FusionGraph graph(block, reads, limits);
  graph.fuse();
  return graph.searched();
}

TEST(FusionSearch, GrowsWithTheNumberOfLayers) {
  const uint64_t few = searchedGroups(200);
  EXPECT_GT(few, 0U);
  EXPECT_LE(searchedGroups(800), 4 * few + 100);
}

} // namespace
