// An entry of the plan with all addresses resolved for one rank, so that running it needs no lookups.
#pragma once

#include "base/device_address.h"
#include "base/status.h"
#include "plan/schema/plan_generated.h"
#include "runtime/comm/communicator.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

namespace trainc {

/// A device address that advances by `stride` bytes per iteration.
struct Address {
  DeviceAddress base;
  int64_t stride = 0;

  DeviceAddress at(uint64_t iteration) const { return base + iteration * static_cast<uint64_t>(stride); }
};

struct LaunchStep {
  uint32_t kernel;
  uint32_t argsBegin, argsCount; ///< range of Program::args
  uint64_t grid;
};
struct CopyStep {
  Address source, destination;
  uint64_t bytes; ///< whole blocks if one side is on disk
};
struct ZeroStep {
  Address destination;
  uint64_t bytes;
};
/// Operands in the order of libraryOperands(); null for absent ones.
struct LibraryStep {
  uint32_t argsBegin, argsCount; ///< range of Program::args
};
struct CollectiveStep {
  MeetingKind kind;
  Axes axes;
  uint32_t rangesBegin, rangesCount; ///< range of Program::ranges
};

/// One instruction with resolved operands.
struct Step {
  std::variant<LaunchStep, CopyStep, ZeroStep, CollectiveStep, LibraryStep> operation;
  const fb::Instruction *instruction;
  uint32_t index; ///< index of the instruction in its entry, or of the loop that contains it
  fb::Stream stream;
  uint32_t afterBegin, afterCount; ///< range of Program::after
};

/// Steps [begin, end), run in order `iterations` times.
struct Block {
  uint32_t begin, end;
  uint64_t iterations;
};

/// The order of steps is one valid order. Any other order is valid that keeps the order within each stream
/// and runs each step after its dependencies.
struct Program {
  const fb::Plan *plan = nullptr;
  const fb::Entry *entry = nullptr;
  std::string_view name; ///< name of the entry
  std::vector<Step> steps;
  std::vector<Block> blocks;
  std::vector<Address> args;           ///< of all launches and library calls
  std::vector<CollectiveRange> ranges; ///< of all collectives
  std::vector<uint32_t> after;         ///< dependencies: steps on other streams that must run first

  std::span<const uint32_t> afterOf(const Step &step) const {
    return std::span(after).subspan(step.afterBegin, step.afterCount);
  }
  std::span<const CollectiveRange> rangesOf(const CollectiveStep &step) const {
    return std::span(ranges).subspan(step.rangesBegin, step.rangesCount);
  }
};

/// Prefixes an error with the instruction and its source op; returns any other status unchanged.
Status located(const Program &program, const Step &step, Status status);

/// A step and its program, not owned; or none.
struct StepPlace {
  const Program *program = nullptr;
  const Step *step = nullptr;

  /// See located(); without a step, returns the status unchanged.
  Status located(Status status) const {
    return step ? trainc::located(*program, *step, std::move(status)) : status;
  }
};

/// Resolves an entry of a verified plan for one rank; `buffers[i]` is the address of plan.buffers[i].
Program resolveProgram(const fb::Plan &plan, const fb::Entry &entry, uint32_t rank,
                       std::span<const DeviceAddress> buffers);

/// Index in `program.steps` of the first step that writes a parameter or an optimizer state, or of the begin
/// of its loop; steps.size() if there is none. A run may pause there while a checkpoint is still being
/// written.
uint32_t firstStateWrite(const fb::Plan &plan, const Program &program);

} // namespace trainc
