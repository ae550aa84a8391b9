// An entry of the plan, resolved to addresses once, so that running it allocates nothing and looks nothing
// up.
#pragma once

#include "runtime/comm/communicator.h"
#include "runtime/schema/plan_generated.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

namespace trainc {

/// A place in device memory that moves by `stride` bytes per iteration.
struct Address {
  std::byte *base = nullptr;
  int64_t stride = 0;

  std::byte *at(uint64_t iteration) const { return base + static_cast<int64_t>(iteration) * stride; }
};

struct LaunchStep {
  uint32_t kernel;
  uint32_t argsBegin, argsCount; ///< range of Program::args
  bool moves;                    ///< some argument has a stride
  uint64_t grid;
};
struct CopyStep {
  Address source, destination;
  uint64_t bytes;
};
struct ZeroStep {
  Address destination;
  uint64_t bytes;
};
struct StartStep {
  uint32_t slot;
  CollectiveKind kind;
  fb::Group group;
  uint32_t rangesBegin, rangesCount; ///< range of Program::ranges
};
struct WaitStep {
  uint32_t slot;
  uint32_t start; ///< index in Program::steps of what it waits for
};

/// One instruction, ready to be issued.
struct Step {
  std::variant<LaunchStep, CopyStep, ZeroStep, StartStep, WaitStep> operation;
  const fb::Instruction *instruction;
  uint32_t index; ///< of the instruction in its entry, or of the loop that holds it
};

/// Steps [begin, end) run in order, `iterations` times.
struct Block {
  uint32_t begin, end;
  uint64_t iterations;
};

/// An entry's batch column.
struct InputView {
  const fb::Input *info;
  std::span<std::byte> bytes; ///< row-major, exactly those of the shape
};

struct Program {
  std::string_view name;
  const fb::Entry *entry = nullptr;
  std::vector<InputView> inputs;
  std::vector<Step> steps;
  std::vector<Block> blocks;
  uint32_t firstStateWrite = 0;        ///< index in steps; see state_writes.h
  std::vector<CollectiveRange> ranges; ///< of all collectives
  std::vector<Address> args;           ///< of all launches
  std::vector<void *> pointers;        ///< args' bases, as launches outside loops pass them
  mutable std::vector<void *> moving;  ///< room for the arguments of one launch in a loop

  /// What a step starts, as long as the program lives.
  Collective collective(const StartStep &start) const {
    return {.kind = start.kind,
            .group = start.group,
            .ranges = std::span(ranges).subspan(start.rangesBegin, start.rangesCount)};
  }
};

/// Resolves an entry of a verified plan for one rank; `buffers[i]` is the address of plan.buffers[i].
Program resolveProgram(const fb::Plan &plan, const fb::Entry &entry, uint32_t rank,
                       std::span<std::byte *const> buffers);

} // namespace trainc
