// Runs the entries of one plan on one device.
#pragma once

#include "runtime/base/status.h"
#include "runtime/comm/communicator.h"
#include "runtime/device/device.h"
#include "runtime/exec/issue.h"
#include "runtime/exec/peers.h"
#include "runtime/exec/profile.h"
#include "runtime/exec/program.h"
#include "runtime/exec/replay.h"
#include "runtime/schema/plan_generated.h"

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace trainc {

/// What a rank holds of a persistent tensor, whose name, dtype, shape and role are in `info`: its elements
/// from `first` on, as raw bytes. All of them, unless `info` is divided; then perhaps none.
struct StateView {
  const fb::State *info;
  uint64_t first;
  std::span<std::byte> bytes;
};

/// What a communicator must have for the executor of a rank.
struct CommunicatorNeeds {
  uint64_t bytes; ///< to allocate, on each rank
  uint32_t slots;
};
CommunicatorNeeds communicatorNeeds(const fb::Plan &plan);

struct ExecutorOptions {
  bool profile = false; ///< measure the seconds of every instruction
  /// This rank among the plan's ranks, with communicatorNeeds(); must outlive the executor. Null for plans
  /// of one rank, and where nothing is run: the executor then stands for rank 0.
  Communicator *communicator = nullptr;
  uint64_t planChecksum = 0; ///< PlanFile::checksum(), which ranks compare
};

/// A verified plan bound to a device: arenas allocated, kernels loaded, every instruction resolved to the
/// rank's addresses. run() allocates nothing. Plan and device must outlive the executor.
class Executor {
public:
  /// `plan` must come from PlanFile (verified). Fails when memory or CPU features are missing, when there are
  /// not as many ranks as the plan is for, or when they run different plans (kInvalidInput). All ranks must
  /// create their executors together.
  static Result<std::unique_ptr<Executor>> create(const fb::Plan &plan, Device &device,
                                                  ExecutorOptions options = {});

  const fb::Plan &plan() const { return plan_; }
  Device &device() { return device_; }
  /// The other ranks.
  Peers &peers() { return peers_; }
  uint32_t rank() const { return peers_.rank(); }
  /// Whether a collective has failed: the states may be those of a step half done, and no other collective
  /// will succeed.
  bool broken() const { return broken_ || peers_.broken(); }

  bool hasEntry(std::string_view entry) const { return findProgram(entry) != nullptr; }
  /// Runs an entry that the plan has and waits for it. Fails (kFailed), naming instruction and source op,
  /// when a collective cannot be completed, or when the plan needs more ranks than this one.
  Status run(std::string_view entry);
  /// Sets what run() calls once per entry before the first instruction that changes a parameter or an
  /// optimizer state, such as waiting for a checkpoint writer that reads them.
  void onStateWrite(std::function<void()> callback) { onStateWrite_ = std::move(callback); }
  /// Runs an entry instruction by instruction and tells the first of all ranks' that wrote a non-finite f32;
  /// all ranks get the same answer. Fails as run() does.
  Result<std::optional<NonFinite>> replay(std::string_view entry);

  /// Sets a scalar; false when the plan has none of this name. T must be of the scalar's size.
  template <typename T> bool setScalar(std::string_view name, T value) {
    std::byte *address = scalarAddress(name, sizeof(T));
    if (address)
      device_.toDevice(address, std::as_bytes(std::span(&value, 1)));
    return address != nullptr;
  }
  /// Reads a scalar; nothing when the plan has none of this name. T must be of the scalar's size.
  template <typename T> std::optional<T> scalar(std::string_view name) {
    const std::byte *address = scalarAddress(name, sizeof(T));
    if (!address)
      return std::nullopt;
    T value;
    device_.fromDevice(std::as_writable_bytes(std::span(&value, 1)), address);
    return value;
  }

  /// All states, in the plan's order.
  std::span<const StateView> states() const { return states_; }
  std::optional<StateView> findState(std::string_view name) const;
  /// The columns of an entry, in the plan's order; empty when there is no such entry.
  std::span<const InputView> inputs(std::string_view entry) const;
  /// Any buffer of the plan, e.g. Generation.logits.
  std::span<std::byte> buffer(uint32_t index) const;

  /// By how many bytes the device's memory, or with peers the communicator's, has grown for the arenas;
  /// equals the compile report's peak.
  uint64_t peakBytes() const { return peakBytes_; }
  /// peakBytes() by fb::Role; see memory_by_role.h.
  std::array<uint64_t, 7> bytesByRole() const;
  /// Communicator::seconds(); of one rank none.
  CommunicationSeconds communicationSeconds() const {
    return communicator_ ? communicator_->seconds() : CommunicationSeconds{};
  }
  /// Bytes that this rank has sent in collectives so far; see Communicator::bytesSent().
  uint64_t sentBytes() const { return communicator_ ? communicator_->bytesSent() : 0; }
  /// What was measured so far; empty unless options.profile was set.
  std::vector<ProfileRow> profile() const;

private:
  struct Scalar {
    std::string_view name;
    std::byte *address;
    uint64_t bytes;
  };

  Executor(const fb::Plan &plan, Device &device, Peers peers, Communicator *communicator)
      : plan_(plan), device_(device), communicator_(communicator), peers_(peers),
        issuer_(plan, device, communicator) {}
  Status checkRanks() const;
  Status allocateArenas();
  uint64_t allocatedBytes() const {
    return communicator_ ? communicator_->allocatedBytes() : device_.allocatedBytes();
  }
  void bindInterface();
  StateView bindState(const fb::State &state) const;
  Status issueAll(const Program &program);
  Status issueStep(const Program &program, uint32_t index, uint64_t iteration);
  void clearScratch();
  const Program *findProgram(std::string_view entry) const;
  std::byte *scalarAddress(std::string_view name, size_t bytes) const;

  const fb::Plan &plan_;
  Device &device_;
  Communicator *communicator_;
  Peers peers_;
  Issuer issuer_;
  bool broken_ = false;
  uint64_t peakBytes_ = 0;
  std::vector<std::byte *> buffers_; ///< addresses, by index
  std::vector<Program> programs_;
  std::vector<StateView> states_;
  std::vector<Scalar> scalars_;
  std::optional<Profiler> profiler_;
  std::function<void()> onStateWrite_;
};

} // namespace trainc
