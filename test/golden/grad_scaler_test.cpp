// The scale of the loss in each step of seeded overflows, against PyTorch's GradScaler (see README.md).
#include "lib/Autodiff/Passes.h"
#include "lib/Optimizer/Passes.h"
#include "lib/Precision/Passes.h"
#include "test/golden/program_run.h"

#include "llvm/Support/FormatVariadic.h"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <set>

namespace trainc::golden {
namespace {

/// One parameter, whose gradient is the column `x` times the scale.
constexpr const char *kModel = R"(
train.program @p {{ model @m  optimizer sgd(lr 0.5)  precision fp16  batch 1  loss_scale_init {0} }
train.state parameter @w : tensor<1xf32>
train.entry @init {{ }
train.entry @micro_step {{
  %x = train.input "x" micro : tensor<1xf32>
  %w = train.get @w : tensor<1xf32>
  %products = nn.mul %w, %x : tensor<1xf32>, tensor<1xf32>
  %loss = nn.reduce sum %products over [0] : tensor<1xf32>
  train.minimize %loss : tensor<f32>
}
)";

/// One run in grad_scaler.txt.
struct Trace {
  int64_t initial = 0, window = 0, steps = 0;
  std::set<int64_t> overflows;
  std::map<int64_t, double> scales; ///< by the first step that has it
};

std::istream &operator>>(std::istream &file, Trace &trace) {
  size_t overflows = 0, scales = 0;
  file >> trace.initial >> trace.window >> trace.steps >> overflows;
  for (int64_t step = 0; overflows > 0 && file >> step; --overflows)
    trace.overflows.insert(step);
  double scale = 0;
  file >> scales;
  for (int64_t step = 0; scales > 0 && file >> step >> scale; --scales)
    trace.scales[step] = scale;
  return file;
}

/// The model of a trace, step by step.
class ScaledRun {
public:
  explicit ScaledRun(const Trace &trace)
      : run_(
            llvm::formatv(kModel, trace.initial),
            [&](mlir::PassManager &passes) {
              passes.addPass(createScaleLoss());
              passes.addPass(createAutodiff());
              passes.addPass(createOptimizer({.lossScaleWindow = trace.window}));
            },
            /*rate=*/0.25) {}

  void step(double x) { run_.step(x); }
  double state(llvm::StringRef name) { return run_.state(name).real(0); }

private:
  ProgramRun run_;
};

void follow(const Trace &trace) {
  ScaledRun run(trace);
  double expected = 0, weight = 0;
  for (int64_t step = 0; step < trace.steps; ++step) {
    if (auto changed = trace.scales.find(step); changed != trace.scales.end())
      expected = changed->second;
    ASSERT_EQ(run.state("loss_scale"), expected) << "step " << step;
    const bool overflows = trace.overflows.contains(step);
    run.step(overflows ? std::numeric_limits<double>::infinity() : 1);
    weight -= overflows ? 0 : 0.25; // the gradient is exact at every scale
    ASSERT_EQ(run.state("w"), weight) << "step " << step;
    ASSERT_EQ(run.state("step_loss_scale"), expected);
    ASSERT_EQ(run.state("finite"), overflows ? 0 : 1);
    ASSERT_EQ(run.state("overflow"), overflows && expected > 1 ? 1 : 0) << step;
    if (!overflows)
      ASSERT_EQ(run.state("grad_norm"), 1);
  }
}

TEST(GradScaler, TheScaleIsPyTorchsInEveryStep) {
  std::ifstream file(TRAINC_GOLDEN_DIR "/grad_scaler.txt");
  int runs = 0;
  for (Trace trace; file >> trace; trace = {}, ++runs) {
    SCOPED_TRACE("run " + std::to_string(runs));
    ASSERT_NO_FATAL_FAILURE(follow(trace));
  }
  EXPECT_EQ(runs, 4);
}

/// As DeepSpeed's: at the minimum nothing is left to try.
TEST(GradScaler, NothingShrinksAtTheMinimum) {
  Trace settings;
  settings.initial = 4;
  settings.window = 2000;
  ScaledRun run(settings);
  for (const double scale : {4, 2, 1, 1}) {
    run.step(std::numeric_limits<double>::quiet_NaN());
    EXPECT_EQ(run.state("step_loss_scale"), scale);
    EXPECT_EQ(run.state("overflow"), scale > 1 ? 1 : 0);
    EXPECT_EQ(run.state("finite"), 0);
  }
}

} // namespace
} // namespace trainc::golden
