// How long this process has been running.
#pragma once

namespace trainc {

/// Seconds since the kernel started this process, loading of libraries included; exact to 10 ms. 0 where the
/// system does not tell.
double secondsSinceProcessStart();

} // namespace trainc
