// Comparison of a program's plans with the reference interpreter.
#pragma once

#include "test/programs/fault.h"
#include "test/programs/way.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace trainc::programs {

struct Verdict {
  enum Kind {
    kEqual,    ///< results are within the tolerances
    kIllegal,  ///< the program cannot be trained, or has non-finite numbers
    kUnstable, ///< the same as kEqual, for the numbers that do not depend on rounding; some do
    kRefused,  ///< legal, and yet the compiler or the runtime does not take it
    kWrong
  };
  bool isFault() const { return kind == kRefused || kind == kWrong; }

  Kind kind = kEqual;
  std::string what; ///< of a fault
};

/// Compiles the program in the text, and compares one step and an evaluation with the interpreter's. `seed`
/// decides parameters and samples. A program whose text holds its batch is run without accumulation. The
/// plan is made by a compiler with the fault, if one is given.
Verdict checkProgram(mlir::MLIRContext &context, const std::string &text, const Way &way, unsigned seed,
                     Fault *fault = nullptr);

/// A smaller program with the same kind of fault; `text` itself if none is found. Leaves out one op after the
/// other.
std::string reduceProgram(mlir::MLIRContext &context, const std::string &text, const Way &way, unsigned seed,
                          Verdict::Kind fault);

} // namespace trainc::programs
