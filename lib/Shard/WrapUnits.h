// Which parameters are gathered and reduced together.
#pragma once

#include "dialects/Train/Train.h"

#include "llvm/ADT/StringMap.h"

namespace trainc {

/// The units of a module's parameters, by the policy of #train.sharding's `wrap`.
class WrapUnits {
public:
  /// The units of `parameters`, which may be a part of the module's. Fails, with an error at the program, if
  /// none of the module's parameters lies in a block of the policy's name.
  static mlir::FailureOr<WrapUnits> find(train::ProgramOp program, llvm::StringRef policy,
                                         llvm::ArrayRef<train::StateOp> parameters);

  /// The scope of the block's use that is the parameter's unit; "" for the unit of what is outside.
  llvm::StringRef unitOf(train::StateOp parameter) const { return units.lookup(parameter.getSymName()); }

private:
  using Choose = llvm::function_ref<llvm::StringRef(train::StateOp)>;
  WrapUnits(llvm::ArrayRef<train::StateOp> parameters, Choose choose);

  llvm::StringMap<llvm::StringRef> units;
};

} // namespace trainc
