// 200 steps of each optimizer in the reference interpreter, against PyTorch (see README.md).
#include "lib/Autodiff/Passes.h"
#include "lib/Optimizer/Passes.h"
#include "test/golden/program_run.h"

#include "llvm/Support/FormatVariadic.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

namespace trainc::golden {
namespace {

/// Three weights with the gradient `x` + 0.05 weight. They are a matrix, because vectors have no weight
/// decay.
constexpr const char *kModel = R"(
train.program @p {{ model @m  optimizer {0}  batch 1 }
train.state parameter @w : tensor<1x3xf32>
train.entry @init {{ }
train.entry @micro_step {{
  %x = train.input "x" micro : tensor<1x3xf32>
  %w = train.get @w : tensor<1x3xf32>
  %driven = nn.mul %w, %x : tensor<1x3xf32>, tensor<1x3xf32>
  %half = nn.constant 0.025 : tensor<1x3xf32>
  %squares = nn.square %w : tensor<1x3xf32>
  %held = nn.mul %squares, %half : tensor<1x3xf32>, tensor<1x3xf32>
  %sum = nn.add %driven, %held : tensor<1x3xf32>, tensor<1x3xf32>
  %loss = nn.reduce sum %sum over [0, 1] : tensor<1x3xf32>
  train.minimize %loss : tensor<f32>
}
)";

constexpr int kSteps = 200, kEach = 10;

/// The number after `lr` in an optimizer's text.
double rateOf(const std::string &optimizer) { return std::stod(optimizer.substr(optimizer.find("lr ") + 3)); }

TEST(Optimizers, TakePyTorchsSteps) {
  std::ifstream file(TRAINC_GOLDEN_DIR "/optimizers.txt");
  size_t cases = 0;
  for (std::string optimizer, numbers; std::getline(file, optimizer) && std::getline(file, numbers);
       ++cases) {
    SCOPED_TRACE(optimizer);
    ProgramRun run(
        llvm::formatv(kModel, optimizer),
        [](mlir::PassManager &passes) {
          passes.addPass(createAutodiff());
          passes.addPass(createOptimizer());
        },
        rateOf(optimizer));
    std::vector<double> &weights = run.state("w").reals;
    weights = {0.5, -1, 2};
    std::istringstream expected(numbers);
    for (int step = 0; step < kSteps; ++step) {
      run.step({std::cos(0.3 * step), std::cos(0.3 * step + 1), std::cos(0.3 * step + 2)});
      if ((step + 1) % kEach != 0)
        continue;
      for (const double weight : weights) {
        double golden = 0;
        ASSERT_TRUE(expected >> golden);
        ASSERT_NEAR(weight, golden, 1e-6) << "step " << step;
      }
    }
  }
  EXPECT_EQ(cases, 4U);
}

} // namespace
} // namespace trainc::golden
