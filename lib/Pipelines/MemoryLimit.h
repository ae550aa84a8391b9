// `--memory-limit` and `--host-memory`: errors with advice for plans that exceed them.
#pragma once

#include "dialects/Train/Train.h"
#include "lib/Pipelines/Report.h"
#include "plan/settings/settings.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace trainc {

/// Host memory of a node that its ranks may use for offloading (host_memory).
struct HostLimit {
  int64_t bytes; ///< for all ranks of the node together
  int64_t ranks; ///< per node
  bool updates;  ///< whether the host updates parameters, and so holds them and their gradients as well

  int64_t share() const { return bytes / ranks; } ///< per rank
};

/// Returns the host limit of a program; none if its device is the host, or the host's memory is unknown.
std::optional<HostLimit> hostLimitOf(train::ProgramOp program);

/// A memory limit, and the settings of the program that matter for advice. Advice contradicts no setting that
/// was given.
struct MemoryLimit {
  int64_t bytes;
  /// Bytes of a node's host memory with which a planned strategy would fit; 0 if none would.
  int64_t hostThatFits = 0;
  int64_t zeroStage;
  std::string
      moreCheckpointing;       ///< as options: checkpointing that keeps less than now; empty if there is none
  std::string moreOffload;     ///< as an option: offloading of activations; empty if not advisable
  bool mayUseSmallerGroups;    ///< whether the size of offload groups is open
  bool maySplitBatch;          ///< false if the compiler has already split the batch as far as possible
  std::string combinedSamples; ///< where the loss combines the samples of a micro-batch; empty if nowhere
  std::string decided;         ///< as options: settings that were chosen for the limit
  /// Whether the settings leave open that the step computes in bf16, or that parameters or the optimizer's
  /// moments are held in bf16.
  bool mayComputeInBf16, mayHoldParametersInBf16, mayHoldMomentsInBf16;
};

/// Whether a memory limit may split the micro-batches of the program's text: they were not given as options,
/// and they do not determine the order of gradient sums, as they do with `reproducible ranks`.
bool maySplitBatch(train::ProgramOp program);

/// Returns the limit of a program with its options, before passes complete it.
std::optional<MemoryLimit> memoryLimitOf(train::ProgramOp program);

/// Returns e.g. "activations 1.90 GiB (79%), parameters 475 MiB (19%), ...", the largest first.
std::string bytesByKind(const BytesByKind &memory);

/// Returns the part of an error that says how much host memory a plan needs and may use, and gives advice.
std::string hostShortage(const MemoryReport &memory, const HostLimit &host);

/// Sizes of a step, which advice names or depends on.
struct StepSizes {
  int64_t microBatch, accumulate;
  int64_t seqLen; ///< 0 if samples have no sequence
  int64_t ranks;
};
StepSizes stepSizesOf(train::ProgramOp program);

/// Reports an error at `op` if a plan and MemoryReport::unplanned exceed the limit, if there is one, or if
/// offloaded tensors exceed the host's memory. The error lists the bytes by kind, and advice.
llvm::LogicalResult checkMemory(mlir::Operation *op, const StepSizes &step, const MemoryReport &memory,
                                const std::optional<MemoryLimit> &limit,
                                const std::optional<HostLimit> &host);

/// Does checkMemory() for the plan of a module (phase `plan`), with errors at its train.program. Reports an
/// error also if its arenas exceed the maximum of plan files.
llvm::LogicalResult checkPlanMemory(mlir::ModuleOp module, const std::optional<MemoryLimit> &limit,
                                    const std::optional<HostLimit> &host);

} // namespace trainc
