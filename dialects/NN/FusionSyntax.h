// Syntax and checks shared by nn.kernel and nn.chunks: regions whose arguments represent operands.
#pragma once

#include "dialects/NN/NN.h"

namespace trainc::nn {

/// The operands of an op and the region arguments that represent them.
struct RegionInputs {
  llvm::SmallVector<mlir::OpAsmParser::Argument> arguments;
  llvm::SmallVector<mlir::OpAsmParser::UnresolvedOperand> operands;
  llvm::SmallVector<mlir::Type> types;

  /// Parses `%argument = %operand : type`. The argument gets the operand's type.
  mlir::ParseResult parseOne(mlir::OpAsmParser &parser);
  /// Parses `attributes {...} { region }` and resolves the operands.
  mlir::ParseResult parseRest(mlir::OpAsmParser &parser, mlir::OperationState &state);
};

/// Prints the syntax of parseRest. `known` lists attributes that the op prints itself.
void printRest(mlir::OpAsmPrinter &printer, mlir::Operation *op, llvm::ArrayRef<llvm::StringRef> known);

/// Reports an error at `op` if the types of two lists differ; the lists' names appear in the message.
llvm::LogicalResult verifyTypes(mlir::Operation *op, llvm::StringRef what, mlir::TypeRange types,
                                llvm::StringRef expectedWhat, mlir::TypeRange expected);

/// Reports an error at `op` unless its region ends in nn.yield with values of the types `expected`.
llvm::LogicalResult verifyYield(mlir::Operation *op, llvm::StringRef expectedWhat, mlir::TypeRange expected);

} // namespace trainc::nn
