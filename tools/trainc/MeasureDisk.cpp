// Measures the rates of the disk, and how much transfers slow down computation.
#include "base/arena.h"
#include "base/clock.h"
#include "plan/schema/entry_names.h"
#include "plan/schema/limits.h"
#include "runtime/device/cpu/cpu_device.h"
#include "runtime/device/disk_arena.h"
#include "tools/trainc/Measure.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>

namespace trainc {

namespace {

constexpr uint64_t kDiskBytes = 256 << 20, kDiskPiece = 8 << 20, kDiskPieces = kDiskBytes / kDiskPiece,
                   kDiskAccesses = 64;
/// Short transfers, so that there are many: each wakes a thread twice, which preempts a computing one.
constexpr uint64_t kShortTransfer = 64 << 10;
/// Steps of about 0.1 s each, alternately alone and beside transfers, because a machine's speed varies.
constexpr uint32_t kTurns = 2, kStepsATurn = 4;

/// An arena on disk, and memory for a piece of it.
class Pieces {
public:
  static Result<Pieces> create() {
    TRAINC_ASSIGN_OR_RETURN(DiskArena arena, DiskArena::create("calibration", kDiskBytes));
    TRAINC_ASSIGN_OR_RETURN(ArenaMapping memory,
                            ArenaMapping::create("calibration", kDiskPiece, /*reserveOnly=*/false));
    Pieces pieces(std::move(arena), std::move(memory));
    for (uint64_t piece = 0; piece < kDiskPieces; ++piece) // the first write of a file is slower
      TRAINC_RETURN_IF_ERROR(pieces.write(piece, kDiskPiece));
    return pieces;
  }

  /// Transfers the first bytes of a piece; piece numbers wrap around.
  Status write(uint64_t piece, uint64_t bytes) { return arena_.write(addressOf(piece), memory(bytes)); }
  Status read(uint64_t piece, uint64_t bytes) { return arena_.read(memory(bytes), addressOf(piece)); }

private:
  Pieces(DiskArena arena, ArenaMapping memory) : arena_(std::move(arena)), memory_(std::move(memory)) {}

  DeviceAddress addressOf(uint64_t piece) const {
    return arena_.address() + piece % kDiskPieces * kDiskPiece;
  }
  std::span<std::byte> memory(uint64_t bytes) const { return {memory_.data(), bytes}; }

  DiskArena arena_;
  ArenaMapping memory_;
};

/// Mean time of `count` calls of `move(piece)`.
template <typename Move> Result<double> secondsEach(uint64_t count, Move move) {
  const double start = steadySeconds();
  for (uint64_t piece = 0; piece < count; ++piece)
    TRAINC_RETURN_IF_ERROR(move(piece));
  return (steadySeconds() - start) / double(count);
}

/// Keeps the disk reading and writing during its lifetime.
class BusyDisk {
public:
  explicit BusyDisk(Pieces &pieces) : thread_([this, &pieces] { work(pieces); }) {}
  BusyDisk(const BusyDisk &) = delete;
  BusyDisk &operator=(const BusyDisk &) = delete;
  ~BusyDisk() { (void)stop(); }

  /// Stops and returns the number of transfers. Fails if one failed.
  Result<uint64_t> stop() {
    stopped_ = true;
    if (thread_.joinable())
      thread_.join();
    TRAINC_RETURN_IF_ERROR(outcome_);
    return transfers_;
  }

private:
  void work(Pieces &pieces) {
    for (; !stopped_ && outcome_.ok(); ++transfers_)
      outcome_ = transfers_ % 2 == 0 ? pieces.read(transfers_, kShortTransfer)
                                     : pieces.write(transfers_, kShortTransfer);
  }

  std::atomic<bool> stopped_{false};
  Status outcome_;
  uint64_t transfers_ = 0;
  std::thread thread_;
};

Result<double> secondsOfSteps(Executor &executor) {
  const double start = steadySeconds();
  for (uint32_t step = 0; step < kStepsATurn; ++step)
    TRAINC_RETURN_IF_ERROR(runEntriesOfStep(executor));
  return steadySeconds() - start;
}

} // namespace

Result<DiskRates> measureDisk() {
  TRAINC_ASSIGN_OR_RETURN(Pieces pieces, Pieces::create());
  const auto write = [&](uint64_t bytes) {
    return [&pieces, bytes](uint64_t i) { return pieces.write(i, bytes); };
  };
  const auto read = [&](uint64_t bytes) {
    return [&pieces, bytes](uint64_t i) { return pieces.read(i, bytes); };
  };
  TRAINC_ASSIGN_OR_RETURN(const double written, secondsEach(kDiskPieces, write(kDiskPiece)));
  TRAINC_ASSIGN_OR_RETURN(const double wasRead, secondsEach(kDiskPieces, read(kDiskPiece)));
  TRAINC_ASSIGN_OR_RETURN(const double minWritten, secondsEach(kDiskAccesses, write(kDiskAlignment)));
  TRAINC_ASSIGN_OR_RETURN(const double minRead, secondsEach(kDiskAccesses, read(kDiskAlignment)));
  const auto perSecond = [](double seconds, double access) {
    return double(kDiskPiece) / std::max(seconds - access, seconds / 2);
  };
  return DiskRates{.readBytes = perSecond(wasRead, minRead),
                   .writeBytes = perSecond(written, minWritten),
                   .accessSeconds = (minRead + minWritten) / 2};
}

Result<double> measureComputeOfTransfers(const fb::Plan &plan) {
  TRAINC_ASSIGN_OR_RETURN(Pieces pieces, Pieces::create());
  CpuDevice device;
  TRAINC_ASSIGN_OR_RETURN(const std::unique_ptr<Executor> executor, Executor::create(plan, device));
  TRAINC_RETURN_IF_ERROR(executor->run(kInitEntry));
  TRAINC_RETURN_IF_ERROR(runEntriesOfStep(*executor));
  double alone = 0, beside = 0;
  uint64_t transfers = 0;
  for (uint32_t turn = 0; turn < kTurns; ++turn) {
    TRAINC_ASSIGN_OR_RETURN(const double quiet, secondsOfSteps(*executor));
    BusyDisk disk(pieces);
    TRAINC_ASSIGN_OR_RETURN(const double busy, secondsOfSteps(*executor));
    TRAINC_ASSIGN_OR_RETURN(const uint64_t made, disk.stop());
    alone += quiet;
    beside += busy;
    transfers += made;
  }
  return std::max(0.0, beside - alone) / double(std::max<uint64_t>(transfers, 1));
}

} // namespace trainc
