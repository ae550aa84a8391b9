// The registry of optimizers: their words and numbers. lib/Optimizer has their arithmetic.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace trainc::train {

/// Valid values of an optimizer's number, as f32.
enum class NumberRange : uint8_t {
  NotNegative, ///< 0 or more
  Average,     ///< at least 0 and below 1: the weight of a moving average
  Positive,    ///< above 0
};

struct OptimizerNumber {
  llvm::StringLiteral word;
  double standard; ///< default
  NumberRange range;
};

struct OptimizerKind {
  llvm::StringLiteral word;
  llvm::StringLiteral moments; ///< number without which there are no moments; empty: there always are
  llvm::ArrayRef<OptimizerNumber> numbers;
};

llvm::ArrayRef<OptimizerKind> optimizerKinds();

/// The kind of that word, or null.
const OptimizerKind *findOptimizerKind(llvm::StringRef word);

} // namespace trainc::train
