// Byte ranges that instructions of a plan access.
#pragma once

#include "dialects/Plan/Plan.h"
#include "plan/facts/pieces.h"

namespace trainc {

/// Bytes [begin, end) of an arena that an instruction may access, over all iterations, on the first rank of a
/// shard group. On each further rank the range moves by `rankStep` bytes.
struct InstructionUse {
  mlir::StringAttr arena;
  int64_t begin, end, rankStep;
  bool reads, writes;
};

/// Byte ranges that the instructions of a module's entries access.
class InstructionUses {
public:
  explicit InstructionUses(mlir::ModuleOp module);

  const plan::ModuleContext &context() const { return context_; }
  llvm::SmallVector<InstructionUse> of(plan::InstructionOpInterface instruction) const;
  /// Returns the range from the first to the last byte over all ranks.
  Span hull(const InstructionUse &use) const;
  /// Whether the uses overlap on some rank and at least one of them writes.
  bool conflict(const InstructionUse &a, const InstructionUse &b) const;

private:
  plan::ModuleContext context_;
  int64_t placesInShard_;
};

} // namespace trainc
