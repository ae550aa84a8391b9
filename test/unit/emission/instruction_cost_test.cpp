// Cost of an emitted plan's instructions on a machine with round numbers.
#include "lib/Plan/EmittedPlan.h"
#include "plan/simulate/simulation.h"

#include "mlir/Parser/Parser.h"
#include "llvm/ADT/STLExtras.h"
#include <gtest/gtest.h>

namespace trainc {
namespace {

constexpr const char *kPlan = R"(
plan.arena @a in device bytes 4096
plan.buffer @long in @a at 0 bytes 64 of f32 activation
plan.buffer @short in @a at 64 bytes 64 of bf16 activation
plan.kernel @copy_1 copy grid 1000 threads 32 flops 0 moves 2000 [#plan.param<read, bf16, 3000>, #plan.param<write, bf16, 1000>]
plan.kernel @rows_1 rows grid 1 threads 2 flops 0 [#plan.param<read_write, f32, 100>]
plan.kernel @scatter_1 scatter grid 1000 threads 32 flops 0 chain 30 [#plan.param<read, f32, 100>]
plan.kernel @attention_1 attention grid 9 threads 32 flops 1200 [#plan.param<read, bf16, 8>]
plan.kernel @attention_2 attention grid 9 threads 32 flops 1200 [#plan.param<read, f32, 8>]
plan.kernel @gemm_1 gemm grid 9 threads 1 flops 1200 [#plan.param<read, f16, 8>]
plan.kernel @gemm_2 gemm grid 9 threads 32 flops 1200 [#plan.param<read, f16, 8>]
plan.entry @micro_step flops 0 {
  plan.loop count 3 "loop" {
    plan.launch @copy_1 [] "nn.slice"
  }
  plan.launch @copy_1 [] "nn.concat"
  plan.launch @rows_1 [] "nn.kernel"
  plan.launch @scatter_1 [] "nn.scatter_add"
  plan.launch @attention_1 [] "nn.attention"
  plan.launch @attention_2 [] "nn.attention"
  plan.launch @gemm_1 [] "nn.matmul"
  plan.launch @gemm_2 [] "nn.matmul"
  plan.attention forward batch 1 queries 10 keys 10 heads 1 by 1 sizes 3 by 3 scale 1.0 values bf16 query <@short + 0> key <@short + 0> value <@short + 0> out <@short + 0> lse <@long + 0> "forward"
  plan.attention backward batch 1 queries 10 keys 10 heads 1 by 1 sizes 3 by 3 scale 1.0 values bf16 query <@short + 0> key <@short + 0> value <@short + 0> out <@short + 0> lse <@long + 0> "backward"
  plan.attention forward batch 1 queries 10 keys 10 heads 1 by 1 sizes 3 by 3 scale 1.0 query <@long + 0> key <@long + 0> value <@long + 0> out <@long + 0> lse <@long + 0> "long"
  plan.matrix_product 8 x 8 x 8 a <@short + 0> row 8 b <@short + 0> row 8 to <@short + 0> row 8 factors bf16 product bf16 "even"
  plan.matrix_product 8 x 8 x 8 a <@short + 0> row 9 b <@short + 0> row 8 to <@short + 0> row 8 factors bf16 product bf16 "odd"
  plan.matrix_product 8 x 8 x 8 a <@long + 0> row 8 b <@long + 0> row 8 to <@long + 0> row 8 tf32 "tf32"
  plan.matrix_product 8 x 8 x 8 a <@short + 0> row 8 b <@short + 0> row 8 to <@short + 0> row 8 activation gelu_tanh factors bf16 product bf16 "active"
  plan.matrix_product 8 x 8 x 8 a <@short + 0> row 8 b <@short + 0> row 8 to <@short + 0> row 8 sum b side <@short + 0> factors bf16 product bf16 "sums"
}
)";

const Machine kMachine{.name = "round",
                       .peakFlopsPerSecond = 4000,
                       .flopsPerSecond = 1,
                       .tf32FlopsPerSecond = 2,
                       .bf16FlopsPerSecond = 4,
                       .fp8FlopsPerSecond = 8,
                       .unalignedShare = 0.5,
                       .sideSumShare = 0.8,
                       .attentionFlopsPerSecond = 3,
                       .libraryAttentionFlopsPerSecond = 5,
                       .libraryAttentionGradFlopsPerSecond = 6,
                       .bytesPerSecond = 1000,
                       .threadBytesPerSecond = 10,
                       .accessSeconds = 0.1,
                       .launchSeconds = 0.25,
                       .linkBytesPerSecond = 1,
                       .linkShareBesideCompute = 1,
                       .meetSeconds = 0};

class InstructionCostTest : public testing::Test {
protected:
  InstructionCostTest() {
    context_.loadDialect<plan::PlanDialect>();
    module_ = mlir::parseSourceString<mlir::ModuleOp>(kPlan, &context_);
    rows_ = instructionRows(*EmittedPlan(*module_), kMachine);
  }

  SimulatedRow find(llvm::function_ref<bool(const SimulatedRow &)> isMeant) const {
    const auto found = llvm::find_if(rows_, isMeant);
    if (found != rows_.end())
      return *found;
    ADD_FAILURE() << "expected a row of its own";
    return {};
  }
  SimulatedRow row(llvm::StringRef source) const {
    return find(
        [&](const SimulatedRow &row) { return llvm::StringRef(row.source).split(" at ").first == source; });
  }
  double workSeconds(llvm::StringRef source) const { return row(source).each.workSeconds; }

  mlir::MLIRContext context_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  std::vector<SimulatedRow> rows_;
};

TEST_F(InstructionCostTest, EqualLaunchesAreOneRowLoopsCounted) {
  EXPECT_EQ(row("nn.slice").what, "copy_1");
  EXPECT_EQ(row("nn.slice").count, 3 + 1);
}

TEST_F(InstructionCostTest, KernelsSayWhatTheyMove) {
  EXPECT_DOUBLE_EQ(row("nn.slice").each.byteSeconds, 2);
  EXPECT_DOUBLE_EQ(row("nn.slice").seconds(), 4 * 2.25);
  EXPECT_EQ(row("nn.slice").each.boundBy(), "bytes");
}

TEST_F(InstructionCostTest, FewThreadsAskForFewBytes) {
  EXPECT_DOUBLE_EQ(row("nn.kernel").each.byteSeconds, 200.0 / 20); // read and written
}

TEST_F(InstructionCostTest, AccessesThatWaitForOneAnotherTakeTime) {
  EXPECT_DOUBLE_EQ(row("nn.scatter_add").seconds(), 0.25 + 30 * 0.1);
  EXPECT_EQ(row("nn.scatter_add").each.boundBy(), "chain");
}

TEST_F(InstructionCostTest, ProductsAndAttentionRunAtTheRateOfTheirType) {
  const auto ofKernel = [&](llvm::StringRef name) {
    return find([&](const SimulatedRow &row) { return row.what == name; }).each.workSeconds;
  };
  EXPECT_DOUBLE_EQ(ofKernel("attention_1"), 400);
  EXPECT_DOUBLE_EQ(ofKernel("attention_2"), 1200);
  EXPECT_DOUBLE_EQ(ofKernel("gemm_1"), 300);
  EXPECT_DOUBLE_EQ(ofKernel("gemm_2"), 1200); // GPU kernels, without tensor cores
}

TEST_F(InstructionCostTest, LibrariesAttendForwardAndBackwardAtOtherRates) {
  EXPECT_DOUBLE_EQ(workSeconds("forward"), row("forward").each.flops / 5);
  EXPECT_DOUBLE_EQ(workSeconds("backward"), row("backward").each.flops / 6);
  EXPECT_DOUBLE_EQ(workSeconds("long"), row("long").each.flops);
}

TEST_F(InstructionCostTest, UnalignedRowsCostShare) {
  EXPECT_DOUBLE_EQ(workSeconds("even"), 1024.0 / 4);
  EXPECT_DOUBLE_EQ(workSeconds("odd"), 1024.0 / 2);
  EXPECT_DOUBLE_EQ(workSeconds("tf32"), 1024.0 / 2);
  EXPECT_EQ(row("even").what, "matrix product 8 x 8 x 8 bf16");
  EXPECT_DOUBLE_EQ(row("even").each.bytes, 3 * 64 * 2);
}

TEST_F(InstructionCostTest, EpiloguesCostWhatTheyAdd) {
  EXPECT_DOUBLE_EQ(workSeconds("active"), 1024.0 / 4 + 64 * 20 / 1.0); // 20 flops for each result
  EXPECT_DOUBLE_EQ(workSeconds("sums"), 1024.0 / (4 * 0.8));
}

TEST(Cost, IsBoundByWhatTakesMost) {
  EXPECT_EQ((Cost{.workSeconds = 3, .byteSeconds = 2, .launchSeconds = 1}.boundBy()), "work");
  EXPECT_EQ((Cost{.workSeconds = 1, .byteSeconds = 2, .launchSeconds = 1}.boundBy()), "bytes");
  EXPECT_EQ((Cost{.workSeconds = 1, .byteSeconds = 2, .launchSeconds = 3}.boundBy()), "launch");
}

} // namespace
} // namespace trainc
