// A plan does not depend on the order in which MLIR lists the uses of values.
#include "lib/Pipelines/Phases.h"
#include "lib/Pipelines/Pipeline.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassInstrumentation.h"
#include <gmock/gmock.h>

#include <numeric>
#include <random>

using namespace mlir;

namespace trainc {
namespace {

/// Shuffles the uses of all values after each pass.
class ShuffleUses : public PassInstrumentation {
public:
  explicit ShuffleUses(unsigned seed) : random_(seed) {}

  void shuffle(Operation *root) {
    root->walk([&](Operation *op) {
      for (Value result : op->getResults())
        shuffle(result);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (Value argument : block.getArguments())
            shuffle(argument);
    });
  }
  void runAfterPass(Pass *, Operation *op) override { shuffle(op); }

private:
  void shuffle(Value value) {
    std::vector<unsigned> order(size_t(llvm::range_size(value.getUses())));
    std::iota(order.begin(), order.end(), 0U);
    std::shuffle(order.begin(), order.end(), random_);
    if (order.size() > 1)
      value.shuffleUseList(order);
  }

  std::mt19937 random_;
};

struct UseOrderTest : testing::Test {
  UseOrderTest() {
    DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
    model = parseSourceFile<ModuleOp>(TRAINC_EXAMPLES_DIR "/gpt/small.mlir", &context);
  }

  /// The program of phase `plan`, before code is generated. Seed 0 leaves uses as they are.
  std::string planText(const std::vector<train::GivenSetting> &settings, unsigned seed) {
    OwningOpRef<ModuleOp> module = model->clone();
    CompileOptions options;
    options.settings = settings;
    EXPECT_TRUE(succeeded(applySettings(*module, options)));
    const PassConditions conditions = passConditionsOf(*module, options);
    const train::CheckpointSettings checkpoints =
        train::checkpointsOf(*module->getOps<train::ProgramOp>().begin());
    PassManager manager(&context);
    if (seed > 0) {
      auto shuffler = std::make_unique<ShuffleUses>(seed);
      shuffler->shuffle(*module);
      manager.addInstrumentation(std::move(shuffler));
    }
    addStepPasses(manager, conditions);
    addRecomputePasses(manager, checkpoints, conditions);
    addShardPasses(manager, conditions);
    addSpmdPasses(manager, conditions);
    addScheduledPasses(manager, conditions);
    addOffloadPasses(manager, conditions);
    addMemoryPasses(manager, conditions);
    addStreamPasses(manager, conditions);
    EXPECT_TRUE(succeeded(manager.run(*module)));
    std::string text;
    llvm::raw_string_ostream(text) << *module;
    return text;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> model;
};

TEST_F(UseOrderTest, DoesNotChangeThePlan) {
  const std::vector<train::GivenSetting> many[] = {
      {},
      {{"activation_checkpointing", "selective"}, {"precision", "bf16"}},
      {{"ranks", "2"}, {"zero_stage", "3"}, {"accumulate", "2"}, {"activation_checkpointing", "full"}},
      {{"ranks", "4"}, {"zero_stage", "3"}, {"hybrid_shard", "2"}, {"precision", "bf16"}},
      {{"ranks", "2"}, {"zero_stage", "2"}, {"offload", "optimizer,hidden_activations"}},
      {{"offload", "optimizer,gradients,parameters,activations"}, {"activation_checkpointing", "selective"}},
      {{"target", "cuda"}, {"precision", "bf16"}, {"activation_checkpointing", "full"}},
  };
  for (const auto &settings : many) {
    const std::string expected = planText(settings, 0);
    for (const unsigned seed : {1U, 2U})
      EXPECT_TRUE(planText(settings, seed) == expected) << settings.size() << " settings, seed " << seed;
  }
}

} // namespace
} // namespace trainc
