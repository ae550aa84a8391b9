// Programs made from others by small changes.
#pragma once

#include "mlir/IR/MLIRContext.h"

#include <string>

namespace trainc::programs {

/// The program with up to three changes that leave it legal: another operand, another attribute, an op done
/// twice. An empty text where none was found.
std::string mutateProgram(mlir::MLIRContext &context, const std::string &text, unsigned seed);

/// A program of a file, whose train.program is replaced by one of plain gradient descent with the same batch;
/// empty, with a message, where it cannot be read.
std::string readProgram(mlir::MLIRContext &context, const std::string &path);

} // namespace trainc::programs
