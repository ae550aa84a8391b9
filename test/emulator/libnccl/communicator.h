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
  std::array<unsigned char, 16> gpu{}; ///< UUID of the rank's device
  bool manyOnOneGpu = false;           ///< whether ranks may share a device
};

/// A communicator. In non-blocking mode calls stay in progress until ncclCommGetAsyncError() was called
/// several times, and only then enqueue their work, so that programs that do not poll are detected.
class Comm : public std::enable_shared_from_this<Comm> {
public:
  explicit Comm(CommSettings settings);

  uint32_t ranks() const { return settings_.ranks; }
  uint32_t rank() const { return settings_.rank; }

  /// Joins the other ranks; in blocking mode, waits for them.
  ncclResult_t open();
  /// Result of ncclCommGetAsyncError().
  ncclResult_t poll();
  /// Fails if another call is in progress.
  ncclResult_t checkReady(const char *entry);
  /// Enqueues the operations of a group on one stream.
  ncclResult_t enqueue(std::vector<Operation> operations, CUstream stream);
  ncclResult_t checkOperation(const Operation &operation) const;
  ncclResult_t finalize();
  /// Ends work in flight, and notifies the other ranks.
  void abort();
  /// Blocks until no graph holds work of the communicator: captured, or running.
  void awaitGraphs() const;
  /// Any later use is an error.
  void destroy();

  void *enrol(CUdeviceptr address, uint64_t bytes);
  bool release(const void *handle);
  bool isEnrolled(CUdeviceptr address, uint64_t bytes) const;

private:
  /// Execution of a group on the device.
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
  std::atomic<const Run *> running_{nullptr}; ///< at most one at a time
  std::atomic<uint32_t> captured_{0};         ///< runs that graphs hold
  bool isOpen_ = false, isFinalizing_ = false;
  ncclResult_t state_ = ncclSuccess;
  uint32_t polls_ = 0; ///< remaining polls of the call in progress
  std::vector<std::function<ncclResult_t()>> pending_;
  std::map<const void *, std::pair<CUdeviceptr, uint64_t>> enrolled_; ///< by handle
  uint64_t handles_ = 0;
};

} // namespace trainc::emulator
