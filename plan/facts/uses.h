// Bytes that an instruction reads and writes.
#pragma once

#include "plan/facts/collective.h"
#include "plan/facts/instructions.h"
#include "plan/facts/library_calls.h"
#include "plan/facts/operand.h"
#include "plan/facts/view.h"
#include "plan/schema/limits.h"

#include <string>

namespace trainc::facts {

/// A use of an operand by a checked instruction.
struct Use {
  Range range;
  bool reads, writes;
  /// Index of a launch's argument, a collective's range, or in libraryOperands(); 0 otherwise.
  uint32_t index;
  bool isWorkspace = false; ///< whether the content is undefined before and after, in a collective or a copy
  StridedBytes numbers = {.rowBytes = 0}; ///< of a library call's operand: all rows, without padding
};

/// Calls `visit(use)` for each run of the bytes `all` of a library call's operand.
template <typename Visitor>
void forEachRun(const LibraryOperand &each, const StridedBytes &all, uint32_t index, uint64_t iterations,
                Visitor visit) {
  const StridedBytes runs = all.joined();
  for (uint64_t matrix = 0; matrix < runs.matrices; ++matrix)
    for (uint64_t row = 0; row < runs.rows; ++row)
      visit(Use{{each.operand, runs.rowBytes, iterations, matrix * runs.matrixStride + row * runs.rowStride},
                each.reads,
                each.writes,
                index,
                /*isWorkspace=*/false,
                each.bytes});
}

inline fb::Space spaceOf(const fb::Plan &plan, const fb::Operand &operand) {
  return plan.arenas()->Get(plan.buffers()->Get(operand.buffer())->arena())->space();
}

/// Bytes in memory that a checked disk copy transfers after its own, to complete the last block.
inline uint64_t restOfBlock(const fb::Instruction &copy) {
  const uint64_t bytes = copy.operation_as_Copy()->bytes();
  return copy.stream() == fb::Stream::Disk ? wholeBlocks(bytes) - bytes : 0;
}

/// Calls `visit(use)` for every operand of an instruction other than a loop or a library call, each source
/// before its destination.
template <typename Visitor>
void forEachPlainUse(const fb::Plan &plan, const fb::Instruction &instruction, uint64_t iterations,
                     Visitor visit) {
  if (const fb::Launch *launch = instruction.operation_as_Launch()) {
    const fb::Kernel &kernel = *plan.kernels()->Get(launch->kernel());
    for (uint32_t i = 0; i < launch->args()->size(); ++i) {
      const fb::Param &param = *kernel.params()->Get(i);
      visit(Use{{launch->args()->Get(i), param.bytes(), iterations},
                param.access() != fb::Access::Write,
                param.access() != fb::Access::Read,
                i});
    }
  } else if (const fb::Copy *copy = instruction.operation_as_Copy()) {
    visit(Use{{copy->source(), copy->bytes(), iterations}, true, false, 0});
    visit(Use{{copy->destination(), copy->bytes(), iterations}, false, true, 0});
    if (const uint64_t rest = restOfBlock(instruction); rest > 0) {
      const bool reads = spaceOf(plan, *copy->destination()) == fb::Space::Disk;
      visit(Use{{reads ? copy->source() : copy->destination(), rest, iterations, copy->bytes()},
                reads,
                !reads,
                0,
                /*isWorkspace=*/true});
    }
  } else if (const fb::Zero *zero = instruction.operation_as_Zero()) {
    visit(Use{{zero->destination(), zero->bytes(), iterations}, false, true, 0});
  } else if (const fb::Collective *collective = instruction.operation_as_Collective()) {
    for (uint32_t i = 0; i < collective->ranges()->size(); ++i) {
      const fb::Range &range = *collective->ranges()->Get(i);
      visit(Use{{range.source(), sourceBytes(plan, *collective, range), iterations}, true, false, i});
      visit(
          Use{{range.destination(), destinationBytes(plan, *collective, range), iterations}, false, true, i});
      if (range.workspace())
        visit(Use{{range.workspace(), range.workspace_bytes(), iterations}, false, true, i, true});
    }
  }
}

/// Calls `visit(use)` for every run of bytes that an instruction other than a loop accesses, each source
/// before its destination.
template <typename Visitor>
void forEachUse(const fb::Plan &plan, const fb::Instruction &instruction, uint64_t iterations,
                Visitor visit) {
  forEachPlainUse(plan, instruction, iterations, visit);
  const std::vector<LibraryOperand> operands = libraryOperands(instruction);
  for (uint32_t i = 0; i < operands.size(); ++i)
    if (operands[i].operand)
      forEachRun(operands[i], operands[i].bytes.padded(), i, iterations, visit);
}

/// Calls `visit(inner, use)` for every operand of an instruction, or of each instruction in a loop's body.
template <typename Visitor>
void forEachUseInside(const fb::Plan &plan, const fb::Instruction &instruction, Visitor visit) {
  forEachInside(instruction, [&](const fb::Instruction &inner, uint64_t iterations) {
    forEachUse(plan, inner, iterations, [&](const Use &use) { visit(inner, use); });
  });
}

/// " of range 2" if the collective has several ranges; else empty.
inline std::string rangeText(const fb::Collective &collective, uint32_t index) {
  return collective.ranges()->size() > 1 ? fmt::format(" of range {}", index) : "";
}

/// "kernel gelu_5f3a, argument 2", "matrix product, operand bias", "copy source", "all-gather destination of
/// range 2".
inline std::string nameOf(const fb::Plan &plan, const fb::Instruction &instruction, const Use &use) {
  if (const fb::Launch *launch = instruction.operation_as_Launch())
    return fmt::format("kernel {}, argument {}", view(plan.kernels()->Get(launch->kernel())->symbol()),
                       use.index);
  if (isLibraryCall(instruction))
    return fmt::format("{}, operand {}", libraryCallName(instruction),
                       libraryOperands(instruction)[use.index].name);
  const char *operand = use.isWorkspace ? "workspace" : use.writes ? "destination" : "source";
  if (const fb::Collective *collective = instruction.operation_as_Collective())
    return fmt::format("{} {}{}", collectiveName(collective->kind()), operand,
                       rangeText(*collective, use.index));
  if (instruction.operation_type() == fb::Operation::Copy)
    return fmt::format("copy {}", use.isWorkspace ? "to the end of its last block" : operand);
  return fmt::format("zero {}", operand);
}

} // namespace trainc::facts
