#include "runtime/exec/control_channel.h"

#include <algorithm>

namespace trainc {

Status ControlChannel::exchange(std::span<const std::byte> own, std::span<std::byte> all) {
  if (!communicator_) {
    std::ranges::copy(own, all.begin());
    return {};
  }
  communicator_->noteProgress();
  const Status status = communicator_->exchange(own, all);
  communicator_->noteProgress();
  broken_ |= !status.ok();
  return status;
}

Result<bool> ControlChannel::anyStops(bool wantsToStop, const Status &own) {
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
