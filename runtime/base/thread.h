// Starting threads where a limit may be reached.
#pragma once

#include <system_error>
#include <thread>
#include <utility>

namespace trainc {

/// A thread that runs `work`; one that is not joinable where the system starts no more.
template <typename Work> std::thread tryStartThread(Work work) {
  try {
    return std::thread(std::move(work));
  } catch (const std::system_error &) {
    return {};
  }
}

} // namespace trainc
