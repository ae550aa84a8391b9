// Units of parameters that are gathered and reduced together.
#pragma once

#include "dialects/Train/Train.h"
#include "plan/settings/lists.h"

#include "llvm/ADT/StringMap.h"

namespace trainc {

/// Units of a module's parameters, by the setting `wrap`.
class WrapUnits {
public:
  /// Finds the units of `parameters`, which may be a subset of the module's parameters. Fails with an error
  /// at the program if no parameter of the module is in a block that `wrap` names.
  static mlir::FailureOr<WrapUnits> find(train::ProgramOp program, const train::Wrap &wrap,
                                         llvm::ArrayRef<train::StateOp> parameters);

  /// Returns the scope of the block use that is the parameter's unit; "" for the unit of parameters outside
  /// such blocks.
  llvm::StringRef unitOf(train::StateOp parameter) const { return units.lookup(parameter.getSymName()); }

private:
  using Choose = llvm::function_ref<llvm::StringRef(train::StateOp)>;
  WrapUnits(llvm::ArrayRef<train::StateOp> parameters, Choose choose);

  llvm::StringMap<llvm::StringRef> units;
};

} // namespace trainc
