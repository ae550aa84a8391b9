// Builds ops that read and write states in the entries of a step, and declares the states and entries that
// are missing.
#pragma once

#include "dialects/NN/Builders.h"
#include "dialects/Train/Train.h"

#include "mlir/IR/BuiltinOps.h"

#include "llvm/ADT/StringMap.h"

#include <map>

namespace trainc {

/// Finds states and entries by name, and declares those that are missing. Symbols are made through it alone
/// while it lives.
class StepSymbols {
public:
  explicit StepSymbols(mlir::ModuleOp module);

  /// The state of this name, or null.
  train::StateOp state(llvm::StringRef name) const { return table.lookup<train::StateOp>(name); }
  /// The state `name`, which is declared behind all others if there is none.
  train::StateOp declareState(llvm::StringRef name, train::StateRole role, mlir::RankedTensorType type);
  /// The state that is exchanged with the host as `scalar`, which is declared if there is none.
  train::StateOp declareScalar(HostScalar scalar);
  /// The entry of that kind, which is made after `after` if there is none.
  train::EntryOp declareEntry(EntryKind kind, mlir::Operation *after);
  /// A copy of `entry` behind it, of a kind of which there is none.
  train::EntryOp cloneEntry(train::EntryOp entry, EntryKind kind);

private:
  mlir::ModuleOp module;
  mlir::SymbolTable table;
  mlir::Operation *lastState = nullptr;
};

/// Inserts at a point of an entry; declares the states it needs.
class StepBuilder : public nn::TensorBuilder {
public:
  StepBuilder(mlir::OpBuilder &builder, mlir::Location loc, StepSymbols &symbols)
      : TensorBuilder(builder, loc), builder(builder), loc(loc), symbols(symbols) {}

  /// The state's value here; the state exists.
  train::StateOp state(llvm::StringRef name) const { return symbols.state(name); }
  mlir::Value read(llvm::StringRef state);
  void write(llvm::StringRef state, mlir::Value value);
  /// The optimizer's state `KIND.PARAMETER` of that type, or `KIND` if it is no parameter's; `initial` before
  /// the first step. It is declared on first use, and flat where the parameter is. A parameter's is held as
  /// `moments` says, and read in f32.
  mlir::Value readOptimizerState(llvm::StringRef kind, mlir::RankedTensorType type,
                                 llvm::StringRef parameter = {}, double initial = 0);
  /// replaceParameter() for such a state.
  void replaceOptimizerState(llvm::StringRef kind, mlir::Value old, mlir::Value updated,
                             llvm::StringRef parameter = {});
  /// Writes the parameters' state `updated` if the step is finite, else `old`, the value that the state has.
  /// If the state is of bf16, `old` is wide() of it, and `updated` is rounded at random.
  void replaceParameter(llvm::StringRef state, mlir::Value old, mlir::Value updated);
  /// A value of f32 or bf16 as f32.
  mlir::Value wide(mlir::Value value) { return convert(value, builder.getF32Type()); }
  /// What the host writes; declared on first use.
  mlir::Value readScalar(HostScalar scalar);
  /// Writes what the host reads, f32; declared on first use.
  void writeReport(HostScalar scalar, mlir::Value value);
  /// The sum of what every rank computes as `value`: the gradient of the parameters' state `of`, if not null.
  mlir::Value sumOverRanks(mlir::Value value, llvm::StringRef of = {});
  /// Element by element the largest of what every rank computes as `value`.
  mlir::Value maxOverRanks(mlir::Value value);
  /// The learning rate of this step times `scale`, a scalar.
  mlir::Value learningRate(double scale);
  mlir::RankedTensorType scalarType() { return mlir::RankedTensorType::get({}, builder.getF32Type()); }
  /// `scalar` repeated to the type of `like`, times `like`.
  mlir::Value scale(mlir::Value like, mlir::Value scalar) {
    return mul(like, broadcastTo(scalar, nn::tensorType(like)));
  }

  /// 1 if the step is finite, else 0: tensor<f32>. Set before states are replaced.
  mlir::Value finite;
  /// In which type a parameter's optimizer states are held; null for f32.
  mlir::FloatType moments;

private:
  void replace(llvm::StringRef state, mlir::Value old, mlir::Value updated);
  /// `x`, which is for the bf16 state of that kind, as flat as the parameters' state `parameter`.
  mlir::Value roundAtRandom(mlir::Value x, llvm::StringRef kind, llvm::StringRef parameter);
  /// The number of each element's chunk.
  mlir::Value chunksOf(llvm::StringRef parameter);
  /// replace() with what a bf16 state holds, where `old` is wide() of such.
  void replaceHeld(llvm::StringRef state, llvm::StringRef kind, mlir::Value old, mlir::Value updated,
                   llvm::StringRef parameter);
  mlir::OpBuilder &builder;
  mlir::Location loc;
  StepSymbols &symbols;
  std::map<double, mlir::Value> rates;
  /// What all roundings share is read once: passes cannot tell that no state which is written between changes
  /// it.
  mlir::Value seed, step;
  llvm::StringMap<mlir::Value> chunks;
  llvm::StringMap<uint64_t> draws; ///< which random number of an element is that of a kind of state
};

/// Ends `entry` with giving all elements of a state one value.
void fillState(train::EntryOp entry, train::StateOp state, double value);
inline void zeroState(train::EntryOp entry, train::StateOp state) { fillState(entry, state, 0); }

} // namespace trainc
