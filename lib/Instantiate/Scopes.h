// Parameters and random streams by scope path.
#pragma once

#include "lib/Instantiate/StateTable.h"

#include "llvm/ADT/MapVector.h"

namespace trainc {

/// A parameter of the model, as declared by its layer.
struct Parameter {
  train::StateOp state;
  Initializer init;
};

/// All parameters in order of declaration. Every entry expands the model again and finds its parameters here.
using ParameterTable = llvm::MapVector<mlir::StringAttr, Parameter>;

/// Scopes of one entry while the model is expanded into it. Ops built meanwhile get locations that name the
/// scope.
class EntryScope : public LayerScope, public mlir::OpBuilder::Listener {
public:
  /// Registers this object as listener of `builder`.
  EntryScope(mlir::OpBuilder &builder, StateTable &states, ParameterTable &parameters, int64_t sequenceLength,
             bool training);
  ~EntryScope() override;

  /// Returns the full name of `name` in the current scope.
  std::string fullName(llvm::StringRef name) const;

  /// RAII object that enters a use of a block. `component` is the use's part of the scope path, such as
  /// "h.3"; it may be empty.
  class Enter {
  public:
    Enter(EntryScope &scope, llvm::StringRef component, llvm::StringRef block);
    ~Enter() {
      scope.path.resize(outerLength);
      scope.blocks.pop_back();
    }

  private:
    EntryScope &scope;
    size_t outerLength;
  };
  /// Returns the innermost use of a block.
  train::BlockAttr block() const { return mlir::cast<train::BlockAttr>(blocks.back()); }
  /// Sets the model op for which ops are built next, for locations and messages.
  void startOp(mlir::Operation *op);

  mlir::Value declareParameter(llvm::StringRef name, mlir::RankedTensorType type, Initializer init) override;
  mlir::Value useParameter(llvm::StringRef fullName) override;
  llvm::FailureOr<int64_t> randomStream(llvm::StringRef name) override;
  int64_t sequenceLength() const override { return length; }
  bool training() const override { return isTraining; }
  mlir::Value seed() override { return counter(HostScalar::seed); }
  mlir::Value step() override { return counter(HostScalar::step); }
  mlir::Value micro() override { return counter(HostScalar::micro); }

  void notifyOperationInserted(mlir::Operation *op, mlir::OpBuilder::InsertPoint previous) override;

private:
  mlir::Value counter(HostScalar scalar);
  mlir::Value read(train::StateOp state);
  Parameter *declare(mlir::StringAttr name, mlir::RankedTensorType type, Initializer init);
  void reportUnknown(llvm::StringRef name);

  mlir::OpBuilder &builder;
  StateTable &states;
  ParameterTable &parameters;
  int64_t length; ///< tokens of a sample
  bool isTraining;
  std::string path;
  llvm::SmallVector<mlir::Attribute>
      blocks; ///< train.block attributes of the entered blocks, the outermost first
  mlir::Operation *current = nullptr;
  /// Locations at which parameters and random streams are declared in this expansion.
  llvm::DenseMap<mlir::StringAttr, mlir::Location> declared, streams;
  /// Values of states that this entry has read.
  llvm::DenseMap<mlir::Operation *, mlir::Value> values;
};

} // namespace trainc
