#include "runtime/comm/communicator_kinds.h"

#include "plan/schema/targets.h"
#include "runtime/comm/built_communicators.h"

#include <algorithm>

namespace trainc {

#define TRAINC_HOST_COMMUNICATOR(folder, help)
#define TRAINC_JOB_COMMUNICATOR(folder, open, title, help) OpenJob open;
#define TRAINC_DEVICE_COMMUNICATOR(folder, connect, target, title, help)                                     \
  ConnectRanks connect;                                                                                      \
  static_assert(findTarget(target) != nullptr, "a row of targets.def");
#include "runtime/comm/communicators.def"
#undef TRAINC_HOST_COMMUNICATOR
#undef TRAINC_JOB_COMMUNICATOR
#undef TRAINC_DEVICE_COMMUNICATOR

namespace {

constexpr CommunicatorKind kKinds[] = {
#define TRAINC_HOST_COMMUNICATOR(folder, help) {#folder, help},
#define TRAINC_JOB_COMMUNICATOR(folder, open, title, help) {#folder, help, {}, title, nullptr, open},
#define TRAINC_DEVICE_COMMUNICATOR(folder, connect, target, title, help)                                     \
  {#folder, help, target, title, TRAINC_BUILT_##folder ? connect : nullptr},
#include "runtime/comm/communicators.def"
#undef TRAINC_HOST_COMMUNICATOR
#undef TRAINC_JOB_COMMUNICATOR
#undef TRAINC_DEVICE_COMMUNICATOR
};

const CommunicatorKind *findKind(std::string_view CommunicatorKind::*field, std::string_view value) {
  const auto *const found = std::ranges::find(kKinds, value, field);
  return found == std::end(kKinds) ? nullptr : found;
}

} // namespace

std::span<const CommunicatorKind> communicatorKinds() { return kKinds; }

const CommunicatorKind *findCommunicatorKind(std::string_view name) {
  return findKind(&CommunicatorKind::name, name);
}

const CommunicatorKind &jobCommunicator() {
  constexpr auto *kind =
      std::ranges::find_if(kKinds, [](const CommunicatorKind &each) { return each.open != nullptr; });
  static_assert(kind != std::end(kKinds));
  return *kind;
}

const CommunicatorKind *communicatorOfTarget(std::string_view target) {
  return findKind(&CommunicatorKind::target, target);
}

} // namespace trainc
