// How long something takes.
#pragma once

#include <chrono>

namespace trainc {

/// Seconds of a clock that never jumps, since some moment in the past.
inline double steadySeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

} // namespace trainc
