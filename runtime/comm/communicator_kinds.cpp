#include "runtime/comm/communicator_kinds.h"

#include "runtime/comm/built_communicators.h"

#include <algorithm>

namespace trainc {

#define TRAINC_HOST_COMMUNICATOR(folder, help)
#define TRAINC_DEVICE_COMMUNICATOR(folder, connect, target, title, help) ConnectRanks connect;
#include "runtime/comm/communicators.def"
#undef TRAINC_HOST_COMMUNICATOR
#undef TRAINC_DEVICE_COMMUNICATOR

namespace {

constexpr CommunicatorKind kKinds[] = {
#define TRAINC_HOST_COMMUNICATOR(folder, help) {#folder, help},
#define TRAINC_DEVICE_COMMUNICATOR(folder, connect, target, title, help)                                     \
  {#folder, help, target, title, TRAINC_BUILT_##folder ? connect : nullptr},
#include "runtime/comm/communicators.def"
#undef TRAINC_HOST_COMMUNICATOR
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

const CommunicatorKind *communicatorOfTarget(std::string_view target) {
  return findKind(&CommunicatorKind::target, target);
}

} // namespace trainc
