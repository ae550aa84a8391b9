// The result of plan-memory computes the same as its input.
#include "test/unit/memory/planned_entry.h"
#include "test/unit/memory/random_entry.h"

#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace trainc;

namespace {

class PlannedMemory : public testing::Test {
protected:
  PlannedMemory() { context.loadDialect<nn::NNDialect, train::TrainDialect, plan::PlanDialect>(); }

  void expectAsInterpreted(const std::string &text) {
    auto module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module) << text;
    test::expectPlannedAsInterpreted(*module, EntryKind::micro_step);
  }

  MLIRContext context;
};

constexpr const char *kTwoStates = R"(
train.state optimizer @a : tensor<2x2xf32>
train.state optimizer @b : tensor<2x2xf32>
train.state optimizer @c : tensor<2x2xf32>
train.entry @e as micro_step {
  %a = train.get @a : tensor<2x2xf32>
  %b = train.get @b : tensor<2x2xf32>
)";
constexpr const char *kLoop = R"(
  %r:2 = nn.chunks 3 (%x = %a : tensor<2x2xf32> carried, %y = %b : tensor<2x2xf32> carried)
      -> (tensor<2x2xf32> carried, tensor<2x2xf32> carried) {
)";
constexpr const char *kEnd = R"(
  }
  train.set @a, %r#0 : tensor<2x2xf32>
  train.set @b, %r#1 : tensor<2x2xf32>
}
)";

TEST_F(PlannedMemory, SwapsCarriedValues) {
  expectAsInterpreted(kTwoStates + std::string(kLoop) + "nn.yield %y, %x : tensor<2x2xf32>, tensor<2x2xf32>" +
                      kEnd);
}

TEST_F(PlannedMemory, RotatesCarriedValuesAndCopiesOne) {
  expectAsInterpreted(kTwoStates + std::string(R"(
  %c = train.get @c : tensor<2x2xf32>
  %r:4 = nn.chunks 2 (%x = %a : tensor<2x2xf32> carried, %y = %b : tensor<2x2xf32> carried,
                      %z = %c : tensor<2x2xf32> carried, %u = %a : tensor<2x2xf32> carried)
      -> (tensor<2x2xf32> carried, tensor<2x2xf32> carried, tensor<2x2xf32> carried, tensor<2x2xf32> carried) {
    nn.yield %y, %z, %x, %y : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
  }
  train.set @c, %r#3 : tensor<2x2xf32>
  train.set @a, %r#0 : tensor<2x2xf32>
  train.set @b, %r#2 : tensor<2x2xf32>
})"));
}

TEST_F(PlannedMemory, KeepsACarriedValueThatIsYieldedElsewhere) {
  expectAsInterpreted(kTwoStates + std::string(kLoop) + R"(
    %p = nn.matmul %y, %y accumulate %x : tensor<2x2xf32> : tensor<2x2xf32>, tensor<2x2xf32>
    nn.yield %p, %x : tensor<2x2xf32>, tensor<2x2xf32>)" +
                      kEnd);
}

TEST_F(PlannedMemory, KeepsWhatWasMadeOverACarriedValue) {
  expectAsInterpreted(kTwoStates + std::string(kLoop) + R"(
    %n = nn.kernel 1 x 4 (%i = %x : tensor<2x2xf32>) -> (tensor<2x2xf32>) {
      %t = nn.tanh %i : tensor<2x2xf32>
      nn.yield %t : tensor<2x2xf32>
    }
    %w = nn.matmul %y, %y : tensor<2x2xf32>, tensor<2x2xf32>
    %u = nn.matmul %n, %w : tensor<2x2xf32>, tensor<2x2xf32>
    nn.yield %w, %u : tensor<2x2xf32>, tensor<2x2xf32>)" +
                      kEnd);
}

TEST_F(PlannedMemory, DoesNotAccumulateOverAFactor) {
  expectAsInterpreted(kTwoStates + std::string(R"(
  %x = nn.matmul %a, %b : tensor<2x2xf32>, tensor<2x2xf32>
  %r = nn.matmul %x, %b accumulate %x : tensor<2x2xf32> : tensor<2x2xf32>, tensor<2x2xf32>
  train.set @c, %r : tensor<2x2xf32>
})"));
}

TEST_F(PlannedMemory, KeepsWhatWasMadeOverAState) {
  expectAsInterpreted(kTwoStates + std::string(R"(
  %v = nn.matmul %b, %b accumulate %a : tensor<2x2xf32> : tensor<2x2xf32>, tensor<2x2xf32>
  %w = nn.matmul %b, %b : tensor<2x2xf32>, tensor<2x2xf32>
  train.set @a, %w : tensor<2x2xf32>
  %u = nn.matmul %v, %b : tensor<2x2xf32>, tensor<2x2xf32>
  train.set @c, %u : tensor<2x2xf32>
})"));
}

TEST_F(PlannedMemory, GivesAnUnusedResultABufferOfItsOwn) {
  expectAsInterpreted(kTwoStates + std::string(R"(
  %x = nn.matmul %a, %b : tensor<2x2xf32>, tensor<2x2xf32>
  %y = nn.barrier %x : tensor<2x2xf32>
  %r:2 = nn.kernel 1 x 4 (%i = %x : tensor<2x2xf32>, %j = %y : tensor<2x2xf32>)
      -> (tensor<2x2xf32>, tensor<2x2xf32>) {
    %s = nn.sub %i, %j : tensor<2x2xf32>, tensor<2x2xf32>
    %t = nn.tanh %i : tensor<2x2xf32>
    nn.yield %s, %t : tensor<2x2xf32>, tensor<2x2xf32>
  }
  %p = nn.matmul %r#1, %b : tensor<2x2xf32>, tensor<2x2xf32>
  train.set @c, %p : tensor<2x2xf32>
})"));
}

TEST_F(PlannedMemory, ComputesTheSame) {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    expectAsInterpreted(test::RandomEntry(seed).write(int(3 + seed % 12)));
    if (HasFailure())
      return;
  }
}

} // namespace
