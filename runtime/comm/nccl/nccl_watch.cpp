#include "runtime/comm/nccl/nccl_watch.h"

#include <atomic>

namespace trainc {

Result<NcclWatch> NcclWatch::create() {
  TRAINC_ASSIGN_OR_RETURN(PinnedMemory word, PinnedMemory::create(sizeof(uint32_t)));
  return NcclWatch(std::move(word));
}

Status NcclWatch::begin(CUstream stream, std::string text) {
  const auto [found, isNew] = numbers_.try_emplace(text, static_cast<uint32_t>(texts_.size() + 1));
  if (isNew)
    texts_.push_back(std::move(text));
  return write(stream, found->second);
}

std::optional<uint32_t> NcclWatch::current() const {
  auto &word = *reinterpret_cast<uint32_t *>(word_.data());
  const uint32_t number = std::atomic_ref(word).load(std::memory_order_acquire);
  return number == kNone ? std::nullopt : std::optional(number);
}

/// Pinned memory has the same address on host and device.
Status NcclWatch::write(CUstream stream, uint32_t number) const {
  return driver().cuStreamWriteValue32(stream, reinterpret_cast<CUdeviceptr>(word_.data()), number,
                                       CU_STREAM_WRITE_VALUE_DEFAULT);
}

} // namespace trainc
