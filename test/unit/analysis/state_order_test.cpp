// Ordering of states: allowed moves across a write of the same state.
#include "lib/Analysis/StateOrder.h"

#include "dialects/Dist/Dist.h"

#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

namespace trainc {
namespace {

constexpr const char *kProgram = R"(
train.state scalar @a : tensor<4xf32>
train.state scalar @b : tensor<4xf32>
train.entry @update {
  %a = train.get @a : tensor<4xf32>
  %b = train.get @b : tensor<4xf32>
  train.set @a, %b : tensor<4xf32>
  %new = train.get @a : tensor<4xf32>
  train.set @b, %new : tensor<4xf32>
}
)";

class StateOrderTest : public testing::Test {
protected:
  StateOrderTest() : StateOrderTest(kProgram) {}
  explicit StateOrderTest(const char *program) {
    context_.loadDialect<nn::NNDialect, train::TrainDialect, dist::DistDialect>();
    module_ = mlir::parseSourceString<mlir::ModuleOp>(program, &context_);
    for (mlir::Operation &op : block())
      ops_.push_back(&op);
    context_.getDiagEngine().registerHandler([this](mlir::Diagnostic &error) { said_ = error.str(); });
  }

  mlir::Block &block() { return (*module_->getOps<train::EntryOp>().begin()).getBody().front(); }

  mlir::MLIRContext context_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  std::vector<mlir::Operation *> ops_; ///< get @a, get @b, set @a, get @a, set @b
  std::string said_;
};

TEST_F(StateOrderTest, AWriteHasANextAccess) {
  auto next = nextAccesses(block());
  EXPECT_EQ(next.lookup(ops_[2]), ops_[3]);
  EXPECT_EQ(next.lookup(ops_[4]), nullptr);
}

TEST_F(StateOrderTest, PairsAreThoseOfEachState) {
  const auto pairs = fixedPairs(block());
  const std::vector<std::pair<mlir::Operation *, mlir::Operation *>> found(pairs.begin(), pairs.end());
  EXPECT_EQ(found, (decltype(found){
                       {ops_[0], ops_[2]}, {ops_[2], ops_[3]}, {ops_[1], ops_[4]}, {ops_[2], ops_[4]}}));
}

/// Takes minutes if the work for each access grows with the number of states.
TEST_F(StateOrderTest, AHundredThousandStates) {
  constexpr int kStates = 100000;
  auto type = mlir::RankedTensorType::get({4}, mlir::Float32Type::get(&context_));
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(&block());
  for (int i = 0; i < kStates; ++i) {
    const std::string name = "s" + std::to_string(i);
    mlir::Value value = train::GetOp::create(builder, builder.getUnknownLoc(), type, name);
    train::SetOp::create(builder, builder.getUnknownLoc(), name, value);
  }
  EXPECT_GE(fixedPairs(block()).size(), size_t(kStates));
}

TEST_F(StateOrderTest, ReadsMoveAmongReads) {
  const WritesBefore writes(block());
  ops_[0]->moveAfter(ops_[1]);
  EXPECT_TRUE(llvm::succeeded(writes.requireKept()));
}

TEST_F(StateOrderTest, AReadAfterAWriteSeesAnotherValue) {
  const WritesBefore writes(block());
  ops_[0]->moveAfter(ops_[2]);
  EXPECT_TRUE(llvm::failed(writes.requireKept()));
  EXPECT_NE(said_.find("follows 1 writes of its state; expected 0"), std::string::npos) << said_;
}

TEST_F(StateOrderTest, AWriteAfterAReadIsFoundAtTheRead) {
  const WritesBefore writes(block());
  ops_[2]->moveAfter(ops_[4]);
  EXPECT_TRUE(llvm::failed(writes.requireKept()));
  EXPECT_NE(said_.find("follows 0 writes of its state; expected 1"), std::string::npos) << said_;
}

TEST_F(StateOrderTest, OpsMeetInOneStateThatOneOfThemWrites) {
  EXPECT_FALSE(conflict(ops_[0], ops_[3]));
  EXPECT_FALSE(conflict(ops_[1], ops_[2]));
  EXPECT_TRUE(conflict(ops_[0], ops_[2]));
  EXPECT_TRUE(conflict(ops_[4], ops_[1]));
}

TEST_F(StateOrderTest, AReadSeesTheWriteBeforeIt) {
  EXPECT_FALSE(writeSeenBy(mlir::cast<train::GetOp>(ops_[0])));
  EXPECT_EQ(writeSeenBy(mlir::cast<train::GetOp>(ops_[3])), ops_[2]);
  EXPECT_EQ(StateOrder(block()).writeAfter("b", ops_[0]), ops_[4]);
  EXPECT_FALSE(StateOrder(block()).writeAfter("a", ops_[2]));
}

/// A sum of gradients names the parameters that they are of, and reads and writes no state.
class GradientSum : public StateOrderTest {
protected:
  GradientSum()
      : StateOrderTest(R"(
dist.mesh [shard = 2]
train.state parameter @a : tensor<4xf32>
train.state scalar @b : tensor<4xf32>
train.entry @update {
  %a = train.get @a : tensor<4xf32>
  %b = train.get @b : tensor<4xf32>
  %pending = dist.all_reduce_start %b in shard of @a : tensor<4xf32>
  train.set @a, %b : tensor<4xf32>
  %sum = dist.wait %pending : tensor<4xf32>
  train.set @b, %sum : tensor<4xf32>
}
)") {}
};

TEST_F(GradientSum, IsNoAccessOfTheParameters) {
  EXPECT_FALSE(conflict(ops_[0], ops_[2]));
  EXPECT_FALSE(conflict(ops_[2], ops_[3]));
  for (auto [before, after] : fixedPairs(block())) {
    EXPECT_FALSE(before == ops_[2] && after == ops_[3]);
    EXPECT_FALSE(before == ops_[0] && after == ops_[2]);
  }
}

TEST_F(GradientSum, ReadsItsOperandUntilItsWait) {
  EXPECT_TRUE(aliasesState(ops_[2]->getOperand(0), "b"));
  EXPECT_FALSE(aliasesState(ops_[4]->getResult(0), "b"));
}

} // namespace
} // namespace trainc
