// The decoded form of a kernel: calls are inlined, registers and labels are numbers.
#pragma once

#include "test/emulator/device_memory.h"
#include "test/emulator/ptx/syntax.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace trainc::emulator {

class Warp;
struct Instruction;

constexpr unsigned kLanes = 32;
constexpr uint32_t kAllLanes = 0xffffffffU;

/// Executes an instruction for the active lanes of a warp.
using Handler = void (*)(const Instruction &, Warp &);

/// Offset of a register's values of all lanes in a warp's register file; a predicate is a mask.
struct Slot {
  uint32_t offset = 0;
  uint32_t reg = 0; ///< 0: a constant, which is always initialised
  uint8_t bits = 0;
};

/// Effect on control flow.
enum class Flow : uint8_t {
  kNext,
  kBranch,        ///< to targets[0]
  kBranchIndexed, ///< to targets[reads[0]]
  kCollective,    ///< executes together with the lanes that a mask names
  kBarrier,       ///< waits for threads of the block
  kBarrierArrive, ///< arrives without waiting
  kExit,
  kTrap,
};

struct Instruction {
  Handler execute = nullptr;
  Flow flow = Flow::kNext;
  Space space = Space::kGeneric;
  bool hasGuard = false, guardIsNegated = false;
  bool copies = false;   ///< an uninitialised register may be read, and the result stays uninitialised
  bool isStrong = false; ///< a memory access that orders others
  int16_t members = -1;  ///< index in `reads` of the member mask of a collective; -1: all lanes
  Slot guard;
  std::vector<Slot> reads, writes;
  std::vector<uint32_t> targets;
  int64_t displacement = 0; ///< added to the address in reads[0]
  uint32_t bytes = 0;       ///< of a lane's memory access
  uint64_t detail = 0;      ///< defined by the handler
  uint32_t source = 0;      ///< index in PtxProgram::sources
};

/// A special register such as %tid.x.
struct Special {
  enum class Kind : uint8_t {
    kThread,
    kBlockSize,
    kBlock,
    kGrid,
    kLane,
    kWarp,
    kWarps,
    kLanesEqual,
    kLanesLess,
    kLanesLessOrEqual,
    kLanesGreater,
    kLanesGreaterOrEqual,
    kZero,
    kOne,
    kDynamicShared,
    kTotalShared,
  };
  Kind kind = Kind::kZero;
  uint8_t dimension = 0;
  uint8_t bits = 32;
};

struct PtxProgram {
  struct Source {
    uint32_t line;
    std::string text;
  };
  struct Constant {
    Slot slot;
    uint64_t bits;
  };
  /// A variable of the module; `.const` ones are read-only.
  struct ModuleVariable {
    std::string name;
    std::shared_ptr<DeviceAllocation> memory;
    bool isReadOnly;
  };

  std::string kernel;
  std::vector<Instruction> code;
  std::vector<Source> sources;
  std::vector<Constant> constants;
  std::vector<std::pair<Slot, Special>> specials;
  std::vector<ModuleVariable> variables;
  std::vector<std::string> registers = {"a constant"}; ///< names
  uint32_t fileBytes = 0;                              ///< size of a warp's register file
  uint32_t frameBytes = 0;                             ///< local memory per thread
  uint32_t sharedBytes = 0;                            ///< static
  uint32_t parameterBytes = 0;                         ///< of a launch
};

// Windows of generic addresses, distinct from host addresses.
constexpr uint64_t kSharedWindow = uint64_t{1} << 56;
constexpr uint64_t kLocalWindow = uint64_t{2} << 56;
constexpr uint64_t kParameterWindow = uint64_t{3} << 56;
/// Also used for direct accesses to `.global` and `.const` variables.
constexpr uint64_t kModuleWindow = uint64_t{4} << 56;
constexpr uint64_t kWindowSize = uint64_t{1} << 56;

} // namespace trainc::emulator
