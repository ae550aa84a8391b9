// An emulated NCCL communicator of one rank.
#pragma once

#include "test/emulator/libnccl/errors.h"
#include "test/emulator/libnccl/exchange.h"
#include "test/emulator/libnccl/meeting.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

namespace trainc::emulator {

struct CommSettings {
  std::string id;
  uint32_t ranks = 1, rank = 0;
  bool blocking = true;
  std::array<unsigned char, 16> gpu{}; ///< the UUID of the rank's device
  bool manyOnOneGpu = false;           ///< ranks may share one
};

/// Where not blocking, calls are in progress until ncclCommGetAsyncError() has been asked several times: what
/// they enqueue is enqueued then, so that a program that does not ask is found out.
class Comm : public std::enable_shared_from_this<Comm> {
public:
  explicit Comm(CommSettings settings);

  uint32_t ranks() const { return settings_.ranks; }
  uint32_t rank() const { return settings_.rank; }

  /// Comes to the other ranks; blocking: waits for them.
  ncclResult_t open();
  /// What ncclCommGetAsyncError() gives.
  ncclResult_t poll();
  /// Refuses a call while another one is in progress.
  ncclResult_t checkReady(const char *entry);
  /// Operations of a group, for one stream.
  ncclResult_t enqueue(std::vector<Operation> operations, CUstream stream);
  ncclResult_t checkOperation(const Operation &operation) const;
  ncclResult_t finalize();
  /// Work under way ends, and others hear of it.
  void abort();
  /// Blocks until no graph holds work of the communicator: one that was captured, or runs.
  void awaitGraphs() const;
  /// Work that comes later is misuse.
  void destroy();

  void *enrol(CUdeviceptr address, uint64_t bytes);
  bool release(const void *handle);
  bool isEnrolled(CUdeviceptr address, uint64_t bytes) const;

private:
  /// A group's turn on the device.
  class Run;

  ncclResult_t inProgress(std::function<ncclResult_t()> then);
  ncclResult_t opened();
  ncclResult_t launch(std::vector<Operation> operations, CUstream stream);

  CommSettings settings_;
  std::mutex mutex_;
  std::mt19937_64 random_;
  std::shared_ptr<Meeting> meeting_;
  std::unique_ptr<RankExchange> exchange_;
  std::atomic<bool> aborted_{false}, destroyed_{false};
  std::atomic<const Run *> running_{nullptr}; ///< one at a time
  std::atomic<uint32_t> captured_{0};         ///< runs that graphs hold
  bool isOpen_ = false, isFinalizing_ = false;
  ncclResult_t state_ = ncclSuccess;
  uint32_t polls_ = 0; ///< that a call in progress takes
  std::vector<std::function<ncclResult_t()>> pending_;
  std::map<const void *, std::pair<CUdeviceptr, uint64_t>> enrolled_; ///< by handle
  uint64_t handles_ = 0;
};

} // namespace trainc::emulator
