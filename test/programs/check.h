// Whether a program's plans compute what the reference interpreter does.
#pragma once

#include "lib/Pipelines/CompileOptions.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <string>

namespace trainc::programs {

struct Verdict {
  enum Kind {
    kEqual,    ///< what was computed lies within the tolerances
    kIllegal,  ///< the program cannot be trained, or its numbers are not finite
    kUnstable, ///< the same as kEqual, for the numbers that do not hang on rounding; some do
    kWrong
  };
  Kind kind = kEqual;
  std::string what; ///< of a wrong one
};

/// How a program is compiled and run.
struct Way {
  CompileOptions options;
  std::optional<int64_t> otherStage; ///< which promises the same bits
  bool emulates = false;             ///< also on the emulated asynchronous device, with the same bits
  std::string text;                  ///< what `trainc compile` and `trainrun` call it

  /// Gives `trainc compile` an option, by its word in train.program.
  void set(std::string_view word, std::string value);
};

/// Compiles the program in the text, and compares one step and an evaluation with the interpreter's. `seed`
/// decides parameters and samples. A program whose text holds its batch is run without accumulation.
Verdict checkProgram(mlir::MLIRContext &context, const std::string &text, const Way &way, unsigned seed);

/// A smaller program that is wrong as well; `text` itself if none is found. Leaves out one op after the
/// other.
std::string reduceProgram(mlir::MLIRContext &context, const std::string &text, const Way &way, unsigned seed);

} // namespace trainc::programs
