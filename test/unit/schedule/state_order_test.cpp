// Moves that a schedule may make, and moves over a write of the same state.
#include "lib/Schedule/StateOrder.h"

#include "dialects/NN/NN.h"

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
  StateOrderTest() {
    context_.loadDialect<nn::NNDialect, train::TrainDialect>();
    module_ = mlir::parseSourceString<mlir::ModuleOp>(kProgram, &context_);
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

TEST_F(StateOrderTest, ReadsMoveAmongReads) {
  const StateOrder order(block());
  ops_[0]->moveAfter(ops_[1]);
  EXPECT_TRUE(llvm::succeeded(order.requireKept()));
}

TEST_F(StateOrderTest, AReadBehindAWriteSeesAnotherValue) {
  const StateOrder order(block());
  ops_[0]->moveAfter(ops_[2]);
  EXPECT_TRUE(llvm::failed(order.requireKept()));
  EXPECT_NE(said_.find("stands behind 1 writes of its state; expected 0"), std::string::npos) << said_;
}

TEST_F(StateOrderTest, AWriteBehindAReadIsFoundAtTheRead) {
  const StateOrder order(block());
  ops_[2]->moveAfter(ops_[4]);
  EXPECT_TRUE(llvm::failed(order.requireKept()));
  EXPECT_NE(said_.find("stands behind 0 writes of its state; expected 1"), std::string::npos) << said_;
}

} // namespace
} // namespace trainc
