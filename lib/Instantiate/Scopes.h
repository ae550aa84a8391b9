// Parameters and random streams, by scope path.
#pragma once

#include "lib/Instantiate/StateTable.h"

#include "llvm/ADT/MapVector.h"

namespace trainc {

/// The stream of random numbers of a site, from its name alone.
int64_t randomStreamOf(llvm::StringRef name);

/// A parameter of the model, as its layer declared it.
struct Parameter {
  train::StateOp state;
  Initializer init;
};

/// All parameters, in order of declaration. Every entry expands the model anew and finds its parameters here.
using ParameterTable = llvm::MapVector<mlir::StringAttr, Parameter>;

/// The scopes of one entry while the model is expanded into it. Ops built meanwhile get locations that name
/// the scope.
class EntryScope : public LayerScope, public mlir::OpBuilder::Listener {
public:
  /// Builds with `builder`, which reports its ops here from now on.
  EntryScope(mlir::OpBuilder &builder, StateTable &states, ParameterTable &parameters, bool training);
  ~EntryScope() override;

  /// The full name of `name` in the current scope.
  std::string fullName(llvm::StringRef name) const;

  /// Enters a use of a block in a scope (a component such as "h.3", or "") while it lives.
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
  /// The use of a block that was entered last.
  train::BlockAttr block() const { return mlir::cast<train::BlockAttr>(blocks.back()); }
  /// Says for which op of the model ops are built next, for locations and messages.
  void startOp(mlir::Operation *op);

  mlir::Value declareParameter(llvm::StringRef name, mlir::RankedTensorType type, Initializer init) override;
  mlir::Value useParameter(llvm::StringRef fullName) override;
  llvm::FailureOr<int64_t> randomStream(llvm::StringRef name) override;
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
  bool isTraining;
  std::string path;
  llvm::SmallVector<mlir::Attribute> blocks; ///< train.block of those entered, the outermost first
  mlir::Operation *current = nullptr;
  /// Where each parameter is declared in this expansion, and each random stream.
  llvm::DenseMap<mlir::StringAttr, mlir::Location> declared, streams;
  /// States already read in this entry.
  llvm::DenseMap<mlir::Operation *, mlir::Value> values;
};

} // namespace trainc
