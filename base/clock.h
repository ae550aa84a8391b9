// Clocks: time spans of events, CPU time of a thread, and the age of this process.
#pragma once

#include <chrono>

namespace trainc {

/// Seconds of a monotonic clock; the zero point is arbitrary.
inline double steadySeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// CPU seconds that the calling thread has used.
double threadSeconds();

/// Begin and end of an event, in seconds of steadySeconds().
struct TimeSpan {
  double begin = 0, end = 0;
  double threadSeconds = 0; ///< CPU seconds used within the span; 0 if not measured

  double seconds() const { return end - begin; }
};

/// Seconds since the kernel started this process, including the loading of libraries; exact to 10 ms. Returns
/// 0 if the system does not report the start time.
double secondsSinceProcessStart();

} // namespace trainc
