#include "runtime/device/disk_ring.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <liburing.h>
#include <unistd.h>

namespace trainc {

namespace {

/// Requests in flight and bytes of each, enough to keep a disk busy. With smaller pieces the kernel's
/// overhead dominates.
constexpr unsigned kDepth = 8;
constexpr uint64_t kPiece = uint64_t{4} << 20;

/// Remainder of a piece in flight.
struct Piece {
  uint64_t begin = 0, bytes = 0;
};

/// Whether a request that the kernel rejected may succeed if repeated.
bool isTransient(int64_t result) { return result == -EINTR || result == -EAGAIN; }

} // namespace

struct DiskRing::Transfer {
  int file;
  std::byte *memory;
  uint64_t bytes, offset;
  bool writes;

  int64_t perform(const Piece &piece) const {
    const auto at = static_cast<off_t>(offset + piece.begin);
    const ssize_t count = writes ? pwrite(file, memory + piece.begin, piece.bytes, at)
                                 : pread(file, memory + piece.begin, piece.bytes, at);
    return count < 0 ? -errno : count;
  }

  void prepare(io_uring_sqe &request, const Piece &piece, uint64_t slot) const {
    const auto size = static_cast<unsigned>(piece.bytes);
    if (writes)
      io_uring_prep_write(&request, file, memory + piece.begin, size, offset + piece.begin);
    else
      io_uring_prep_read(&request, file, memory + piece.begin, size, offset + piece.begin);
    io_uring_sqe_set_data64(&request, slot);
  }
};

namespace {

/// Result of completed requests: the first failure, and the remainder of a piece to submit again.
class Outcome {
public:
  int failure = 0;

  /// Whether a part of the piece remains to be transferred.
  bool isLeft(Piece &piece, int64_t result) {
    if (result <= 0 && !isTransient(result)) {
      failure = failure ? failure : result == 0 ? -1 : static_cast<int>(-result);
      return false;
    }
    const auto done = static_cast<uint64_t>(std::max<int64_t>(result, 0));
    piece = {piece.begin + done, piece.bytes - done};
    return piece.bytes > 0 && failure == 0;
  }
};

} // namespace

DiskRing::DiskRing() : ring_(std::make_unique<io_uring>()) {
  if (io_uring_queue_init(kDepth, ring_.get(), 0) != 0)
    ring_.reset();
}

DiskRing::DiskRing(DiskRing &&other) noexcept = default;

DiskRing::~DiskRing() {
  if (ring_)
    io_uring_queue_exit(ring_.get());
}

int DiskRing::read(int file, std::span<std::byte> destination, uint64_t offset) {
  return run({file, destination.data(), destination.size(), offset, /*writes=*/false});
}

int DiskRing::write(int file, std::span<const std::byte> source, uint64_t offset) {
  return run({file, const_cast<std::byte *>(source.data()), source.size(), offset, /*writes=*/true});
}

/// Called when the kernel accepts no more requests. Waits for the accepted ones, which still use the memory.
/// Later transfers work without the ring.
void DiskRing::abandon(unsigned taken) {
  io_uring_cqe *done = nullptr;
  for (; taken > 0 && io_uring_wait_cqe(ring_.get(), &done) == 0; --taken)
    io_uring_cqe_seen(ring_.get(), done);
  io_uring_queue_exit(ring_.get());
  ring_.reset();
}

int DiskRing::run(const Transfer &transfer) {
  const std::scoped_lock lock(*mutex_);
  Outcome outcome;
  if (!ring_ || transfer.bytes <= kPiece) { // a single piece has nothing to overlap with
    Piece piece{0, transfer.bytes};
    while (piece.bytes > 0 && outcome.isLeft(piece, transfer.perform(piece))) {
    }
    return outcome.failure;
  }
  std::array<Piece, kDepth> pieces;
  uint64_t next = 0;
  unsigned inFlight = 0;
  const auto begin = [&](uint64_t slot) { // there are as many requests as slots
    transfer.prepare(*io_uring_get_sqe(ring_.get()), pieces[slot], slot);
    ++inFlight;
  };
  const auto beginNext = [&](uint64_t slot) {
    if (next == transfer.bytes || outcome.failure != 0)
      return;
    pieces[slot] = {next, std::min(kPiece, transfer.bytes - next)};
    next += pieces[slot].bytes;
    begin(slot);
  };
  for (uint64_t slot = 0; slot < kDepth; ++slot)
    beginNext(slot);
  while (inFlight > 0) { // also after a failure: the kernel still uses the memory
    const int submitted = io_uring_submit_and_wait(ring_.get(), 1);
    if (submitted < 0 && !isTransient(submitted) && submitted != -EBUSY) {
      abandon(inFlight - io_uring_sq_ready(ring_.get()));
      return -submitted;
    }
    io_uring_cqe *done = nullptr;
    while (io_uring_peek_cqe(ring_.get(), &done) == 0) {
      const uint64_t slot = io_uring_cqe_get_data64(done);
      const int64_t result = done->res;
      io_uring_cqe_seen(ring_.get(), done);
      --inFlight;
      outcome.isLeft(pieces[slot], result) ? begin(slot) : beginNext(slot);
    }
  }
  return outcome.failure;
}

} // namespace trainc
