// Names of streams and spaces, for messages.
#pragma once

#include "plan/schema/plan_generated.h"

namespace trainc {

inline const char *streamName(fb::Stream stream) {
  static constexpr const char *names[] = {"compute",  "communication", "copy_in",
                                          "copy_out", "disk",          "host_compute"};
  return names[static_cast<size_t>(stream)];
}

inline const char *spaceName(fb::Space space) {
  static constexpr const char *names[] = {"device", "host", "disk"};
  return names[static_cast<size_t>(space)];
}

inline constexpr size_t kStreams = static_cast<size_t>(fb::Stream::MAX) + 1;

} // namespace trainc
