// An entry of the plan, resolved to a rank's addresses once, so that running it looks nothing up.
#pragma once

#include "runtime/base/device_address.h"
#include "runtime/base/status.h"
#include "runtime/comm/communicator.h"
#include "runtime/schema/plan_generated.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

namespace trainc {

/// A place in device memory that moves by `stride` bytes per iteration.
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
  uint64_t bytes; ///< of whole blocks where one side is on disk
};
struct ZeroStep {
  Address destination;
  uint64_t bytes;
};
/// Its operands in the order of libraryOperands(); null for those that it does not have.
struct LibraryStep {
  uint32_t argsBegin, argsCount; ///< range of Program::args
};
struct CollectiveStep {
  MeetingKind kind;
  fb::Group group;
  uint32_t rangesBegin, rangesCount; ///< range of Program::ranges
};

/// One instruction, ready to run.
struct Step {
  std::variant<LaunchStep, CopyStep, ZeroStep, CollectiveStep, LibraryStep> operation;
  const fb::Instruction *instruction;
  uint32_t index; ///< of the instruction in its entry, or of the loop that holds it
  fb::Stream stream;
  uint32_t afterBegin, afterCount; ///< range of Program::after
};

/// Steps [begin, end) run in order, `iterations` times.
struct Block {
  uint32_t begin, end;
  uint64_t iterations;
};

/// The order of the steps is one in which they may run; another one may be taken that keeps that of each
/// stream, and what steps come after.
struct Program {
  const fb::Plan *plan = nullptr;
  const fb::Entry *entry = nullptr;
  std::string_view name; ///< of the entry
  std::vector<Step> steps;
  std::vector<Block> blocks;
  std::vector<Address> args;           ///< of all launches and library calls
  std::vector<CollectiveRange> ranges; ///< of all collectives
  std::vector<uint32_t> after;         ///< steps on other streams, each before the step that comes after it

  std::span<const uint32_t> afterOf(const Step &step) const {
    return std::span(after).subspan(step.afterBegin, step.afterCount);
  }
  std::span<const CollectiveRange> rangesOf(const CollectiveStep &step) const {
    return std::span(ranges).subspan(step.rangesBegin, step.rangesCount);
  }
};

/// An error of a step, with the instruction's place and source before it; other statuses as they are.
Status located(const Program &program, const Step &step, Status status);

/// A step of a program, both of which outlive it; or none.
struct StepPlace {
  const Program *program = nullptr;
  const Step *step = nullptr;

  /// See located(); of none the status as it is.
  Status located(Status status) const {
    return step ? trainc::located(*program, *step, std::move(status)) : status;
  }
};

/// Resolves an entry of a verified plan for one rank; `buffers[i]` is the address of plan.buffers[i].
Program resolveProgram(const fb::Plan &plan, const fb::Entry &entry, uint32_t rank,
                       std::span<const DeviceAddress> buffers);

/// Where in `program.steps` a run may pause before it writes a parameter or an optimizer state, which is what
/// checkpoints hold: the first step that does, or the first of the loop that it is in; steps.size() when none
/// does.
uint32_t firstStateWrite(const fb::Plan &plan, const Program &program);

} // namespace trainc
