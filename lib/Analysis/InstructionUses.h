// Which bytes instructions of a plan touch.
#pragma once

#include "dialects/Plan/Plan.h"
#include "runtime/base/pieces.h"

namespace trainc {

/// Bytes [begin, end) of an arena that an instruction may touch, over all iterations, at the first place in a
/// shard group; `rankStep` bytes further at each next one.
struct InstructionUse {
  mlir::StringAttr arena;
  int64_t begin, end, rankStep;
  bool reads, writes;
};

/// What instructions of a module's entries touch.
class InstructionUses {
public:
  explicit InstructionUses(mlir::ModuleOp module);

  const plan::Surroundings &around() const { return around_; }
  llvm::SmallVector<InstructionUse> of(plan::InstructionOpInterface instruction) const;
  /// From the first byte to the last, on all ranks.
  Span hull(const InstructionUse &use) const;
  /// Whether two share bytes on some rank, one of them writing.
  bool conflict(const InstructionUse &a, const InstructionUse &b) const;

private:
  plan::Surroundings around_;
  int64_t placesInShard_;
};

} // namespace trainc
