// The registry of optimizers: their words and numbers. lib/Optimizer has their arithmetic.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace trainc::train {

/// Range of valid values of an optimizer's number, as f32.
enum class NumberRange : uint8_t {
  NotNegative, ///< 0 or more
  Average,     ///< at least 0 and below 1: the weight of a moving average
  Positive,    ///< above 0
};

/// A number of an optimizer, such as its learning rate.
struct OptimizerNumber {
  llvm::StringLiteral word;
  double standard; ///< default
  NumberRange range;
};

/// An optimizer of the registry.
struct OptimizerKind {
  llvm::StringLiteral word;
  llvm::StringLiteral moments; ///< number that is 0 if there are no moments; empty: there always are
  llvm::ArrayRef<OptimizerNumber> numbers;
};

llvm::ArrayRef<OptimizerKind> optimizerKinds();

/// Returns the kind named `word`; null if there is none.
const OptimizerKind *findOptimizerKind(llvm::StringRef word);

} // namespace trainc::train
