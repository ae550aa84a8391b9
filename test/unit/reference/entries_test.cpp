// The interpreter selects entries by kind, whatever their names.
#include "dialects/Dist/Dist.h"
#include "lib/Reference/Ranks.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainc::reference {
namespace {

using testing::ElementsAre;

/// An entry of the kind eval whose name is another's, and one of the kind init whose name is not a kind's.
constexpr const char *kEntries = R"(
train.state optimizer @a : tensor<2xf32>
train.entry @init as eval {
  %c = nn.constant 1 : tensor<2xf32>
  train.set @a, %c : tensor<2xf32>
}
train.entry @first as init {
  %c = nn.constant 3 : tensor<2xf32>
  train.set @a, %c : tensor<2xf32>
}
)";

class Entries : public testing::Test {
protected:
  Entries() {
    context_.loadDialect<nn::NNDialect, train::TrainDialect>();
    module_ = mlir::parseSourceString<mlir::ModuleOp>(kEntries, &context_);
  }

  static const std::vector<double> &stateOf(const EntryMemory &memory) {
    return memory.states.find("a")->second.reals;
  }

  mlir::MLIRContext context_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
};

TEST_F(Entries, AreFoundByTheirKind) {
  ASSERT_TRUE(module_);
  EntryMemory memory(*module_);
  ASSERT_TRUE(succeeded(runEntry(*module_, EntryKind::init, memory)));
  EXPECT_THAT(stateOf(memory), ElementsAre(3, 3));
  ASSERT_TRUE(succeeded(runEntry(*module_, EntryKind::eval, memory)));
  EXPECT_THAT(stateOf(memory), ElementsAre(1, 1));
}

TEST_F(Entries, AreFoundByTheirKindOnManyRanks) {
  ASSERT_TRUE(module_);
  std::vector<EntryMemory> ranks(2, EntryMemory(*module_));
  ASSERT_TRUE(succeeded(runEntryOnRanks(*module_, EntryKind::init, ranks)));
  for (const EntryMemory &rank : ranks)
    EXPECT_THAT(stateOf(rank), ElementsAre(3, 3));
}

TEST_F(Entries, SumsOverRanksAreRoundedOnce) {
  context_.loadDialect<dist::DistDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(R"(
    dist.mesh [shard = 4]
    train.state parameter @a : tensor<1xbf16>
    train.entry @init {
      %a = train.get @a : tensor<1xbf16>
      %pending = dist.all_reduce_start %a in shard : tensor<1xbf16>
      %sum = dist.wait %pending : tensor<1xbf16>
      train.set @a, %sum : tensor<1xbf16>
    })",
                                                        &context_);
  ASSERT_TRUE(module);
  std::vector<EntryMemory> ranks(4, EntryMemory(*module));
  for (auto [rank, number] : llvm::zip_equal(ranks, std::array<double, 4>{256, 1, 2, 0}))
    rank.states.find("a")->second.reals = {number};
  ASSERT_TRUE(succeeded(runEntryOnRanks(*module, EntryKind::init, ranks)));
  for (const EntryMemory &rank : ranks)
    EXPECT_THAT(stateOf(rank),
                ElementsAre(260)); // 259 lies between 258 and 260; a sum of rounded sums is 258
}

TEST_F(Entries, SumsOfGroupsAreNotRoundedInF32) {
  context_.loadDialect<dist::DistDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(R"(
    dist.mesh [replica = 2, shard = 2]
    train.state parameter @a : tensor<2xbf16>
    train.state gradient @sum : tensor<1xf32> {dist.placement = #dist.placement<shard = 0>}
    train.entry @init {
      %a = train.get @a : tensor<2xbf16>
      %pending = dist.reduce_scatter_start %a in shard : tensor<2xbf16> -> tensor<1xf32>
      %sum = dist.wait %pending : tensor<1xf32>
      train.set @sum, %sum : tensor<1xf32>
    })",
                                                        &context_);
  ASSERT_TRUE(module);
  std::vector<EntryMemory> ranks(4, EntryMemory(*module));
  for (auto [rank, number] : llvm::zip_equal(ranks, std::array<double, 4>{256, 1, 512, 3}))
    rank.states.find("a")->second.reals = {number, -number};
  ASSERT_TRUE(succeeded(runEntryOnRanks(*module, EntryKind::init, ranks)));
  for (auto [rank, sum] : llvm::zip_equal(ranks, std::array<double, 4>{257, -257, 515, -515}))
    EXPECT_THAT(rank.states.find("sum")->second.reals, ElementsAre(sum));
}

TEST_F(Entries, ThatAreNotThereAreAnError) {
  ASSERT_TRUE(module_);
  std::string error;
  mlir::ScopedDiagnosticHandler keep(&context_,
                                     [&](mlir::Diagnostic &diagnostic) { error = diagnostic.str(); });
  EntryMemory memory(*module_);
  EXPECT_TRUE(failed(runEntry(*module_, EntryKind::decode, memory)));
  EXPECT_EQ(error, "has no train.entry of the kind decode");
}

} // namespace
} // namespace trainc::reference
