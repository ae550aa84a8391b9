// Candidates are planned as the compiler plans them.
#include "lib/Pipelines/Candidates.h"

#include "lib/Codegen/Target.h"
#include "lib/Pipelines/Pipeline.h"

#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace mlir;

namespace trainc {
namespace {

struct CandidatesTest : testing::Test {
  CandidatesTest() {
    DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
    model = parseSourceFile<ModuleOp>(TRAINC_EXAMPLES_DIR "/gpt/small.mlir", &context);
  }

  /// What the compiler's own plan takes.
  CandidatePlan compile(const CompileOptions &options) {
    OwningOpRef<ModuleOp> module = model->clone();
    const Machine machine = codegen::Target::chosenFor(*module)->referenceMachine();
    EXPECT_TRUE(succeeded(runPhases(*module, options)));
    return {memoryReport(*module), predictStep(*module, machine), flopsPerStep(*module),
            sentBytesPerStep(*module)};
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> model;
};

void expectEqual(const CandidatePlan &found, const CandidatePlan &expected) {
  EXPECT_EQ(found.memory.peak, expected.memory.peak);
  EXPECT_EQ(found.memory.activations, expected.memory.activations);
  EXPECT_EQ(found.memory.unplanned, expected.memory.unplanned);
  EXPECT_EQ(found.flops, expected.flops);
  EXPECT_EQ(found.sentBytes, expected.sentBytes);
  EXPECT_EQ(found.step.total, expected.step.total);
  EXPECT_EQ(found.step.exposed, expected.step.exposed);
}

TEST_F(CandidatesTest, ArePlannedAsTheCompilerPlansThem) {
  const std::vector<train::GivenSetting> many[] = {
      {},
      {{"activation_checkpointing", "selective"}, {"precision", "bf16"}},
      {{"ranks", "2"}, {"zero_stage", "3"}, {"accumulate", "2"}},
  };
  for (const auto &settings : many) {
    CompileOptions options;
    options.settings = settings;
    FailureOr<Candidates> candidates = Candidates::make(*model, options);
    ASSERT_TRUE(succeeded(candidates));
    FailureOr<CandidatePlan> first = candidates->plan();
    ASSERT_TRUE(succeeded(first));
    FailureOr<CandidatePlan> second = candidates->plan(); // nothing is left of the first
    ASSERT_TRUE(succeeded(second));
    expectEqual(*first, compile(options));
    expectEqual(*second, *first);
  }
}

TEST_F(CandidatesTest, FailWhereTheCompilerFails) {
  CompileOptions options;
  options.settings = {{"fp32_products", "tf32"}};
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  EXPECT_TRUE(failed(Candidates::make(*model, options)));
  EXPECT_NE(message.find("tf32"), std::string::npos) << message;
}

} // namespace
} // namespace trainc
