// Syntax and checks that nn.kernel and nn.chunks share: regions whose arguments stand for operands.
#pragma once

#include "dialects/NN/NN.h"

namespace trainc::nn {

/// The operands of an op and the arguments of its region that stand for them.
struct RegionInputs {
  llvm::SmallVector<mlir::OpAsmParser::Argument> arguments;
  llvm::SmallVector<mlir::OpAsmParser::UnresolvedOperand> operands;
  llvm::SmallVector<mlir::Type> types;

  /// Parses `%argument = %operand : type`; the argument has the operand's type.
  mlir::ParseResult parseOne(mlir::OpAsmParser &parser);
  /// Parses `attributes {...} { region }` and resolves the operands.
  mlir::ParseResult parseRest(mlir::OpAsmParser &parser, mlir::OperationState &state);
};

/// Prints what parseRest parses; `known` are the attributes that the op's own syntax holds.
void printRest(mlir::OpAsmPrinter &printer, mlir::Operation *op, llvm::ArrayRef<llvm::StringRef> known);

/// Reports at `op` where the types of two lists, named `what` and `expectedWhat`, differ.
llvm::LogicalResult verifyTypes(mlir::Operation *op, llvm::StringRef what, mlir::TypeRange types,
                                llvm::StringRef expectedWhat, mlir::TypeRange expected);

/// Reports at `op` where its region does not end in nn.yield with values of the types `expected`.
llvm::LogicalResult verifyYield(mlir::Operation *op, llvm::StringRef expectedWhat, mlir::TypeRange expected);

} // namespace trainc::nn
