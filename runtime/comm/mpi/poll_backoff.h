// Polling interval of the thread that calls MPI.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace trainc {

/// Sleeps longer the longer nothing happens, to leave the cores to computation.
class PollBackoff {
public:
  void pause() {
    constexpr int kYields = 50, kLongest = 1000;
    if (++pauses_ <= kYields)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(std::min(10 * (pauses_ - kYields), kLongest)));
  }

private:
  int pauses_ = 0;
};

} // namespace trainc
