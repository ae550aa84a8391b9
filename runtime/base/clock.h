// When something ran, how long it took, and how long this process has been running.
#pragma once

#include <chrono>

namespace trainc {

/// Seconds of a clock that never jumps, since some moment in the past.
inline double steadySeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Seconds that a processor has worked for this thread.
double threadSeconds();

/// From when to when something ran, in seconds of steadySeconds().
struct TimeSpan {
  double begin = 0, end = 0;
  double threadSeconds = 0; ///< of these; 0 where nobody measured it

  double seconds() const { return end - begin; }
};

/// Seconds since the kernel started this process, loading of libraries included; exact to 10 ms. 0 where the
/// system does not tell.
double secondsSinceProcessStart();

} // namespace trainc
