#include "runtime/exec/peers.h"

#include <algorithm>

namespace trainc {

Result<Peers> Peers::create(Communicator *communicator) {
  Peers peers(communicator);
  if (communicator) {
    TRAINC_ASSIGN_OR_RETURN(peers.values_,
                            communicator->allocate("peers", uint64_t{communicator->ranks()} * kValueBytes));
  }
  return peers;
}

Result<const std::byte *> Peers::exchange(const void *value, size_t bytes) {
  if (!communicator_) {
    std::memcpy(own_.data(), value, bytes);
    return static_cast<const std::byte *>(own_.data());
  }
  std::byte *part = values_ + rank() * bytes;
  std::memcpy(part, value, bytes);
  communicator_->noteProgress();
  const CollectiveRange range{
      .source = part, .destination = values_, .elements = ranks() * bytes, .dtype = fb::DType::U8};
  const Status status = communicator_->wait(
      communicator_->start({.kind = CollectiveKind::kAllGather, .ranges = std::span(&range, 1)}));
  communicator_->noteProgress();
  broken_ |= !status.ok();
  TRAINC_RETURN_IF_ERROR(status);
  return static_cast<const std::byte *>(values_);
}

Result<bool> Peers::anyStops(bool wantsToStop, const Status &own) {
  struct Wish {
    bool stop, failed;
  };
  TRAINC_ASSIGN_OR_RETURN(const std::span<const Wish> wishes, gather(Wish{wantsToStop, !own.ok()}));
  if (std::ranges::any_of(wishes, &Wish::stop))
    return true;
  TRAINC_RETURN_IF_ERROR(own);
  const auto failure = std::ranges::find_if(wishes, &Wish::failed);
  if (failure != wishes.end())
    return failed("rank {} cannot go on; its own message says why", failure - wishes.begin());
  return false;
}

} // namespace trainc
