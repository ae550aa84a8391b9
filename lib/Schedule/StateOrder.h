// Whether a pass that moves ops lets each read of a state see what it saw.
#pragma once

#include "dialects/Train/Train.h"

namespace trainc {

/// How many writes of its state stand before each read and write in a block.
class StateOrder {
public:
  explicit StateOrder(mlir::Block &block);

  /// Whether it is still so; an error at the first op that has moved over a write of its state.
  llvm::LogicalResult requireKept() const;

private:
  using Numbers = llvm::MapVector<mlir::Operation *, int64_t>;
  static Numbers number(mlir::Block &block);

  mlir::Block &block;
  Numbers numbers;
};

} // namespace trainc
