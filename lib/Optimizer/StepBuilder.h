// Builder of ops that read and write states; declares missing states and entries.
#pragma once

#include "dialects/NN/Builders.h"
#include "dialects/Train/Train.h"

#include "mlir/IR/BuiltinOps.h"

#include "llvm/ADT/StringMap.h"

#include <map>

namespace trainc {

/// Finds states and entries by name, and declares missing ones. During the lifetime of this object, nothing
/// else may create symbols.
class StepSymbols {
public:
  explicit StepSymbols(mlir::ModuleOp module);

  /// Returns the state of this name, or null.
  train::StateOp state(llvm::StringRef name) const { return table.lookup<train::StateOp>(name); }
  /// Returns the state `name`; declares it after all other states if it does not exist.
  train::StateOp declareState(llvm::StringRef name, train::StateRole role, mlir::RankedTensorType type);
  /// Returns the state of a host scalar; declares it if it does not exist.
  train::StateOp declareScalar(HostScalar scalar);
  /// Returns the entry of that kind; creates it after `after` if it does not exist.
  train::EntryOp declareEntry(EntryKind kind, mlir::Operation *after);
  /// Creates an entry of kind `kind` after `entry`, with a copy of its body. No entry of that kind may exist
  /// yet.
  train::EntryOp cloneEntry(train::EntryOp entry, EntryKind kind);

private:
  mlir::ModuleOp module;
  mlir::SymbolTable table;
  mlir::Operation *lastState = nullptr;
};

/// Inserts ops at one point of an entry, and declares the states that they need.
class StepBuilder : public nn::TensorBuilder {
public:
  StepBuilder(mlir::OpBuilder &builder, mlir::Location loc, StepSymbols &symbols)
      : TensorBuilder(builder, loc), builder(builder), loc(loc), symbols(symbols) {}

  /// Returns the state of this name, which must exist.
  train::StateOp state(llvm::StringRef name) const { return symbols.state(name); }
  mlir::Value read(llvm::StringRef state);
  void write(llvm::StringRef state, mlir::Value value);
  /// Reads the optimizer state `KIND.PARAMETER`, or `KIND` without a parameter, as f32. The state is declared
  /// on first use with the initial value `initial`. If it belongs to a parameter, it is flat like the
  /// parameter and stored in the type `moments`.
  mlir::Value readOptimizerState(llvm::StringRef kind, mlir::RankedTensorType type,
                                 llvm::StringRef parameter = {}, double initial = 0);
  /// Writes an optimizer state like replaceParameter().
  void replaceOptimizerState(llvm::StringRef kind, mlir::Value old, mlir::Value updated,
                             llvm::StringRef parameter = {});
  /// Writes `updated` to the state if the step is finite, else `old`, the state's present value. If the state
  /// is bf16, `old` is wide() of its value, and `updated` is stochastically rounded.
  void replaceParameter(llvm::StringRef state, mlir::Value old, mlir::Value updated);
  /// Converts an f32 or bf16 value to f32.
  mlir::Value wide(mlir::Value value) { return convert(value, builder.getF32Type()); }
  /// Reads a scalar that the host writes; declared on first use.
  mlir::Value readScalar(HostScalar scalar);
  /// Writes an f32 scalar that the host reads; declared on first use.
  void writeReport(HostScalar scalar, mlir::Value value);
  /// Returns the sum of `value` over all ranks. `of` is the parameter state if `value` is its gradient.
  mlir::Value sumOverRanks(mlir::Value value, llvm::StringRef of = {});
  /// Returns the elementwise maximum of `value` over all ranks.
  mlir::Value maxOverRanks(mlir::Value value);
  /// Returns the learning rate of this step times `scale`, a scalar.
  mlir::Value learningRate(double scale);
  mlir::RankedTensorType scalarType() { return mlir::RankedTensorType::get({}, builder.getF32Type()); }
  /// Returns `like` times `scalar`, which is broadcast.
  mlir::Value scale(mlir::Value like, mlir::Value scalar) {
    return mul(like, broadcastTo(scalar, nn::tensorType(like)));
  }

  /// 1 if the step is finite, else 0: tensor<f32>. Must be set before states are replaced.
  mlir::Value finite;
  /// Storage type of a parameter's optimizer states; null for f32.
  mlir::FloatType moments;

private:
  void replace(llvm::StringRef state, mlir::Value old, mlir::Value updated);
  /// Rounds `x` stochastically for the bf16 state of kind `kind`, which has the layout of the parameter state
  /// `parameter`.
  mlir::Value roundAtRandom(mlir::Value x, llvm::StringRef kind, llvm::StringRef parameter);
  /// Returns the chunk number of each element.
  mlir::Value chunksOf(llvm::StringRef parameter);
  /// Like replace(), but for a bf16 state whose value `old` was read through wide().
  void replaceHeld(llvm::StringRef state, llvm::StringRef kind, mlir::Value old, mlir::Value updated,
                   llvm::StringRef parameter);
  mlir::OpBuilder &builder;
  mlir::Location loc;
  StepSymbols &symbols;
  std::map<double, mlir::Value> rates;
  /// Values shared by all roundings. They are read once, because passes cannot prove that writes in between
  /// do not change them.
  mlir::Value seed, step;
  llvm::StringMap<mlir::Value> chunks;
  llvm::StringMap<uint64_t>
      draws; ///< for each kind of state, the index of its random number in an element's draw
};

/// Fills a state with one value at the end of `entry`.
void fillState(train::EntryOp entry, train::StateOp state, double value);
inline void zeroState(train::EntryOp entry, train::StateOp state) { fillState(entry, state, 0); }

} // namespace trainc
