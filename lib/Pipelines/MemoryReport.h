// What memory a plan takes, and the process around it.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

namespace trainc {

/// Bytes of a space per rank, by what they are for. All of a scratch arena counts as activations.
struct BytesByKind {
  int64_t parameters = 0, gradients = 0, optimizer = 0, activations = 0;
  int64_t workspace = 0; ///< all else, and what lies between buffers

  int64_t total() const { return parameters + gradients + optimizer + activations + workspace; }
};

struct MemoryKind {
  llvm::StringLiteral key, name; ///< for programs and for people
  int64_t BytesByKind::*bytes;
};
inline constexpr MemoryKind kMemoryKinds[] = {{"parameters", "parameters", &BytesByKind::parameters},
                                              {"gradients", "gradients", &BytesByKind::gradients},
                                              {"optimizer", "optimizer states", &BytesByKind::optimizer},
                                              {"activations", "activations", &BytesByKind::activations},
                                              {"workspace", "workspace", &BytesByKind::workspace}};

/// Bytes per rank: those in the device's memory by kind, and what lies elsewhere.
struct MemoryReport : BytesByKind {
  BytesByKind host; ///< in the memory of the host, where the plan tells it from the device's
  BytesByKind disk;
  /// All arenas together, but for those on disk: exactly what the runtime allocates.
  int64_t peak = 0;
  /// What a process that trains takes besides, at most: batches and staging by their sizes, and for the
  /// program, its libraries, the plan with its kernels, and stacks as much as a test measures for any plan
  /// (test/end_to_end/memory_test.py).
  int64_t unplanned = 0;
  /// On a GPU, whose memory is not the process's: what the program reserves there (reserve_memory).
  bool isReserve = false;

  /// What counts against a memory limit: the process's memory, or a GPU's.
  int64_t limited() const { return isReserve ? peak - host.total() : peak; }
  /// The least limit that this fits into.
  int64_t needed() const { return limited() + unplanned; }
};

/// Sums the arenas of a module of phase `plan`, and what the runtime holds beside them.
MemoryReport memoryReport(mlir::ModuleOp module);

/// Each of its bytes by name: numbers alone, of `host` and `disk` the totals.
llvm::json::Object memoryJson(const MemoryReport &memory);
/// What lies in `host` and on `disk`, by kind; without a space that has nothing.
llvm::json::Object memoryOutsideJson(const MemoryReport &memory);

/// Bytes of persistent states, for each role and element type.
llvm::json::Object memoryByType(mlir::ModuleOp module);

} // namespace trainc
