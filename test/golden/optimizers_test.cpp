// 200 steps of each optimizer in the reference interpreter, against PyTorch (see README.md).
#include "lib/Autodiff/Passes.h"
#include "lib/Optimizer/Passes.h"
#include "lib/Pipelines/Pipeline.h"
#include "lib/Reference/Interpreter.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"

#include <gtest/gtest.h>

#include <array>
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

/// Trains the model with one optimizer.
class OptimizerRun {
public:
  explicit OptimizerRun(const std::string &optimizer) {
    mlir::DialectRegistry registry;
    registerDialects(registry);
    context_.appendDialectRegistry(registry);
    const std::string text = llvm::formatv(kModel, optimizer);
    module_ = mlir::parseSourceString<mlir::ModuleOp>(text, &context_);
    mlir::PassManager passes(&context_);
    passes.addPass(createAutodiff());
    passes.addPass(createOptimizer());
    EXPECT_TRUE(succeeded(passes.run(*module_)));
    memory_.emplace(*module_);
    run(EntryKind::init);
    memory_->states.find("lr")->second.setNumber(0, rateOf(optimizer));
    weights() = {0.5, -1, 2};
  }

  void step(int number) {
    reference::Tensor column(mlir::RankedTensorType::get({1, 3}, mlir::Float32Type::get(&context_)));
    for (int i = 0; i < 3; ++i)
      column.reals[i] = std::cos(0.3 * number + i);
    memory_->microColumns.insert_or_assign("x", column);
    run(EntryKind::micro_step);
  }

  std::vector<double> &weights() { return memory_->states.find("w")->second.reals; }

private:
  void run(EntryKind entry) { EXPECT_TRUE(succeeded(reference::runEntry(*module_, entry, *memory_))); }

  mlir::MLIRContext context_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  std::optional<reference::EntryMemory> memory_;
};

TEST(Optimizers, TakePyTorchsSteps) {
  std::ifstream file(TRAINC_GOLDEN_DIR "/optimizers.txt");
  size_t cases = 0;
  for (std::string optimizer, numbers; std::getline(file, optimizer) && std::getline(file, numbers);
       ++cases) {
    SCOPED_TRACE(optimizer);
    OptimizerRun run(optimizer);
    std::istringstream expected(numbers);
    for (int step = 0; step < kSteps; ++step) {
      run.step(step);
      if ((step + 1) % kEach != 0)
        continue;
      for (const double weight : run.weights()) {
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
