// A golden model in the reference interpreter.
#pragma once

#include "dialects/Train/ProgramSettings.h"
#include "lib/Reference/Interpreter.h"
#include "runtime/formats/safetensors_view.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

namespace trainc::golden {

/// How far a model is compiled before it is run.
enum class Stage {
  Gradients, ///< instantiated and differentiated: gradients are the operands of train.gradient
  Step,      ///< with the optimizer: the phase `step`
  Chunked, ///< the loss in chunks of few rows (which the pipeline leaves to large vocabularies), decomposed,
           ///< fused
  Scheduled, ///< the pipeline's phase `scheduled`
};

/// One of the models beside this file, its data, goldens and state. Programming errors and failing passes
/// abort.
class GoldenRun {
public:
  GoldenRun(const std::string &model, Stage stage, const std::vector<train::GivenSetting> &settings = {});

  /// Runs the entry init, then sets the parameters to inputs.safetensors.
  void loadWeights();
  /// Runs one training step on the next micro_batch * accumulate samples.
  void step();
  /// Puts samples [first, first + count) of the data into the columns of that extent.
  void setColumns(BatchExtent extent, int64_t first, int64_t count);
  void run(EntryKind entry);
  /// Whether an op of that name is in the module.
  bool hasOp(llvm::StringRef name);
  bool hasEntry(EntryKind entry);
  /// Sets a scalar state where the module has it.
  void setScalar(llvm::StringRef name, double value);
  double scalar(llvm::StringRef name) { return memory->states.find(name)->second.real(0); }

  /// A tensor of golden.safetensors, f64.
  std::vector<double> golden(const std::string &name) const;
  /// Names of golden tensors that start with `prefix`, without it.
  std::vector<std::string> goldenNames(llvm::StringRef prefix) const;

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::optional<reference::EntryMemory> memory;

private:
  void compile(Stage stage, const std::vector<train::GivenSetting> &settings);
  reference::Tensor rows(const SafetensorsTensor &column, int64_t first, int64_t count);

  SafetensorsView inputs_, data_, golden_;
  int64_t microBatch_ = 0, accumulate_ = 0, steps_ = 0;
};

/// max |actual - expected| / max |expected|.
double relativeError(llvm::ArrayRef<double> actual, llvm::ArrayRef<double> expected);

/// Whether the parameter contains GPT-2's key bias, which shifts all scores of a query equally: its true
/// gradient is zero, and the computed one is rounding error.
bool hasKeyBias(llvm::StringRef parameter);
/// The key third of such a bias, and the other two thirds.
std::vector<double> keyBias(llvm::ArrayRef<double> bias);
std::vector<double> withoutKeyBias(llvm::StringRef parameter, llvm::ArrayRef<double> tensor);

} // namespace trainc::golden
