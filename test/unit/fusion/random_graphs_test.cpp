// Fusion preserves the results of random functions, and its output is executable.
#include "lib/Fusion/Passes.h"
#include "lib/Reference/Interpreter.h"
#include "test/unit/fusion/random_graph.h"

#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace trainc;

namespace {

reference::Tensors argumentsOf(func::FuncOp function) {
  reference::Tensors arguments;
  for (BlockArgument argument : function.getArguments()) {
    reference::Tensor &tensor = arguments.emplace_back(argument);
    for (size_t i = 0; i < tensor.reals.size(); ++i)
      tensor.reals[i] = std::sin(double(1 + i) * (1.0 + argument.getArgNumber()));
  }
  return arguments;
}

reference::Tensors run(ModuleOp module) {
  auto function = module.lookupSymbol<func::FuncOp>("f");
  auto results = reference::runBlock(function.getBody().front(), argumentsOf(function));
  EXPECT_TRUE(succeeded(results));
  return succeeded(results) ? *results : reference::Tensors();
}

/// Number of ops that no kernel contains and nothing executes.
int unexecutable(ModuleOp module) {
  int count = 0;
  for (Operation &op : module.lookupSymbol<func::FuncOp>("f").getBody().front().without_terminator()) {
    auto constant = dyn_cast<nn::ConstantOp>(op);
    if (!isa<ExecutableOpInterface>(op) && !(constant && constant.getValue().isZero()))
      ++count;
  }
  return count;
}

void expectClose(const reference::Tensors &actual, const reference::Tensors &expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i)
    for (int64_t j = 0; j < actual[i].elements(); ++j)
      ASSERT_NEAR(actual[i].real(j), expected[i].real(j), 1e-9) << "result " << i << ", element " << j;
}

class RandomGraphs : public testing::TestWithParam<SmallVector<int64_t>> {};

TEST_P(RandomGraphs, ComputeTheSameWhenFused) {
  MLIRContext context;
  context.loadDialect<nn::NNDialect, func::FuncDialect>();
  for (unsigned seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    OwningOpRef<ModuleOp> module = test::RandomGraph(context, seed, GetParam()).build(int(10 + seed % 40));
    ASSERT_TRUE(succeeded(module->verify()));
    reference::Tensors expected = run(*module);
    PassManager passes(&context);
    passes.addPass(createFusePass());
    ASSERT_TRUE(succeeded(passes.run(*module)));
    ASSERT_EQ(unexecutable(*module), 0);
    expectClose(run(*module), expected);
    if (HasFatalFailure())
      module->dump();
  }
}

// Unequal sizes, a square of rows and columns, and dimensions of size 1.
INSTANTIATE_TEST_SUITE_P(Shapes, RandomGraphs,
                         testing::Values(SmallVector<int64_t>{2, 3, 5}, SmallVector<int64_t>{2, 2, 4},
                                         SmallVector<int64_t>{3, 3, 3}, SmallVector<int64_t>{1, 4, 3},
                                         SmallVector<int64_t>{3, 1, 4}, SmallVector<int64_t>{4, 3, 1}));

} // namespace
