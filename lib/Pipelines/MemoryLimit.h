// `--memory-limit` and `--host-memory`: a plan that needs more is refused, with advice.
#pragma once

#include "dialects/Train/ProgramWords.h"
#include "dialects/Train/Train.h"
#include "lib/Pipelines/Report.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace trainc {

/// What the host of a node may give its ranks for what is offloaded (host_memory).
struct HostLimit {
  int64_t bytes; ///< for all of them together
  int64_t ranks; ///< of a node
  bool updates;  ///< what the host updates, it has gradients and parameters of

  int64_t share() const { return bytes / ranks; } ///< bytes of a rank
};

/// None if the program's host is its device, or nobody knows what it has.
std::optional<HostLimit> hostLimitOf(train::ProgramOp program);

/// A limit, and what the program says that matters for advice. What somebody gave is not advised against.
struct MemoryLimit {
  int64_t bytes;
  /// Bytes of a node's host with which something would fit that the compiler has tried; 0: nothing would.
  int64_t hostThatFits = 0;
  int64_t zeroStage;
  std::string moreCheckpointing; ///< as options: what keeps less than now; empty: nothing does
  std::string moreOffload;       ///< as an option: activations go outside, too; empty: not to be advised
  bool mayUseSmallerGroups;      ///< states go outside in groups, whose size nobody gave
  bool maySplitBatch;            ///< the compiler has cut the batch as small as it can be
  std::string decided;           ///< as options: what was decided for the limit's sake
  /// Whether nobody decided against bf16 for what the step computes, parameters, and the optimizer's moments.
  bool mayComputeInBf16, mayHoldParametersInBf16, mayHoldMomentsInBf16;
};

/// Whether a limit may cut the micro-batches of the program's text: nobody gave others as options, and they
/// do not say in which order gradients are summed, as with `reproducible ranks`.
bool maySplitBatch(train::ProgramOp program);

/// The limit that a program has, with its options, before passes complete it.
std::optional<MemoryLimit> memoryLimitOf(train::ProgramOp program);

/// "--zero-stage=3 --micro-batch=1"
std::string asOptions(llvm::ArrayRef<train::GivenSetting> settings);

/// "activations 1.90 GiB (79%), parameters 475 MiB (19%), ...", the largest first.
std::string bytesByKind(const BytesByKind &memory);

/// What a plan that the host has no room for needs of it and may have, and what would help.
std::string hostShortage(const MemoryReport &memory, const HostLimit &host);

/// Emits an error at the module's train.program if its plan (phase `plan`) and what it needs besides
/// (MemoryReport::unplanned) take more bytes than the limit, if there is one, or what it offloads takes more
/// than the host may give. It says what takes the bytes, and what would help.
llvm::LogicalResult checkMemory(mlir::ModuleOp module, const std::optional<MemoryLimit> &limit,
                                const std::optional<HostLimit> &host);

} // namespace trainc
