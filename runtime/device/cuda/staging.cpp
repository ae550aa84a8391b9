#include "runtime/device/cuda/staging.h"

#include <algorithm>
#include <cstring>

namespace trainc {

namespace {

constexpr uint64_t kPieceAlignment = 64;
/// A piece is at most this fraction of a ring, so that the host fills one piece while the device empties
/// others.
constexpr uint64_t kPiecesAtLeast = 4;
constexpr uint64_t kBesideBytes = uint64_t{4} << 20;

uint64_t roundedUpToPiece(uint64_t bytes) {
  return (bytes + kPieceAlignment - 1) / kPieceAlignment * kPieceAlignment;
}

} // namespace

Result<StagingRing> StagingRing::create(CUstream stream, uint64_t bytes,
                                        std::function<Status(CUevent)> wait) {
  TRAINC_ASSIGN_OR_RETURN(PinnedMemory memory, PinnedMemory::create(bytes));
  return StagingRing(stream, std::move(memory), std::move(wait));
}

/// Offset of `bytes` contiguous free bytes.
std::optional<uint64_t> StagingRing::room(uint64_t bytes) const {
  if (pieces_.empty())
    return 0;
  const uint64_t begin = pieces_.front().begin, end = pieces_.back().begin + pieces_.back().bytes;
  if (end <= begin) // the ring has wrapped around
    return begin - end >= bytes ? std::optional(end) : std::nullopt;
  if (memory_.size() - end >= bytes)
    return end;
  return begin >= bytes ? std::optional<uint64_t>(0) : std::nullopt;
}

Result<std::byte *> StagingRing::reserve(uint64_t bytes, std::span<std::byte> destination) {
  const uint64_t whole = roundedUpToPiece(bytes);
  std::optional<uint64_t> begin;
  while (!(begin = room(whole))) {
    TRAINC_RETURN_IF_ERROR(wait_(pieces_.front().done.get()));
    retireFront();
  }
  if (events_.empty()) {
    TRAINC_ASSIGN_OR_RETURN(CudaEvent event, makeCudaEvent(/*isTimed=*/false));
    events_.push_back(std::move(event));
  }
  pieces_.push_back({*begin, whole, std::move(events_.back()), destination});
  events_.pop_back();
  return memory_.data() + *begin;
}

void StagingRing::retireFront() {
  Piece &piece = pieces_.front();
  if (!piece.destination.empty())
    std::memcpy(piece.destination.data(), memory_.data() + piece.begin, piece.destination.size());
  events_.push_back(std::move(piece.done));
  pieces_.pop_front();
}

Status StagingRing::write(CUdeviceptr destination, std::span<const std::byte> source) {
  for (uint64_t done = 0; done < source.size();) {
    const uint64_t bytes = std::min(source.size() - done, memory_.size() / kPiecesAtLeast);
    TRAINC_ASSIGN_OR_RETURN(std::byte *const staged, reserve(bytes, {}));
    std::memcpy(staged, source.data() + done, bytes);
    TRAINC_RETURN_IF_ERROR(driver().cuMemcpyHtoDAsync(destination + done, staged, bytes, stream_));
    TRAINC_RETURN_IF_ERROR(driver().cuEventRecord(pieces_.back().done.get(), stream_));
    done += bytes;
  }
  return {};
}

Status StagingRing::read(std::span<std::byte> destination, CUdeviceptr source) {
  for (uint64_t done = 0; done < destination.size();) {
    const uint64_t bytes = std::min(destination.size() - done, memory_.size() / kPiecesAtLeast);
    TRAINC_ASSIGN_OR_RETURN(std::byte *const staged, reserve(bytes, destination.subspan(done, bytes)));
    TRAINC_RETURN_IF_ERROR(driver().cuMemcpyDtoHAsync(staged, source + done, bytes, stream_));
    TRAINC_RETURN_IF_ERROR(driver().cuEventRecord(pieces_.back().done.get(), stream_));
    done += bytes;
  }
  return {};
}

void StagingRing::finish() {
  while (!pieces_.empty())
    retireFront();
}

Result<std::unique_ptr<BesideCopies>> BesideCopies::create() {
  TRAINC_ASSIGN_OR_RETURN(CudaStream stream, makeCudaStream(0));
  TRAINC_ASSIGN_OR_RETURN(PinnedMemory memory, PinnedMemory::create(kBesideBytes));
  return std::unique_ptr<BesideCopies>(new BesideCopies(std::move(stream), std::move(memory)));
}

Status BesideCopies::write(CUdeviceptr destination, std::span<const std::byte> source) {
  const std::lock_guard lock(mutex_);
  for (uint64_t done = 0; done < source.size(); done += kBesideBytes) {
    const uint64_t bytes = std::min(source.size() - done, kBesideBytes);
    std::memcpy(memory_.data(), source.data() + done, bytes);
    TRAINC_RETURN_IF_ERROR(
        driver().cuMemcpyHtoDAsync(destination + done, memory_.data(), bytes, stream_.get()));
    TRAINC_RETURN_IF_ERROR(driver().cuStreamSynchronize(stream_.get()));
  }
  return {};
}

Status BesideCopies::read(std::span<std::byte> destination, CUdeviceptr source) {
  const std::lock_guard lock(mutex_);
  for (uint64_t done = 0; done < destination.size(); done += kBesideBytes) {
    const uint64_t bytes = std::min(destination.size() - done, kBesideBytes);
    TRAINC_RETURN_IF_ERROR(driver().cuMemcpyDtoHAsync(memory_.data(), source + done, bytes, stream_.get()));
    TRAINC_RETURN_IF_ERROR(driver().cuStreamSynchronize(stream_.get()));
    std::memcpy(destination.data() + done, memory_.data(), bytes);
  }
  return {};
}

} // namespace trainc
