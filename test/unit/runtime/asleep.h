// Waiting until another thread of the test waits, in place of a guess how long that takes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <sys/types.h>
#include <thread>
#include <unistd.h>

namespace trainc::test {

/// The state of a process, or of a thread of this one: 'R' runs, 'S' sleeps, 'T' is stopped, 'Z' has ended
/// and was not waited for; 0 if there is none.
inline char stateIn(const std::filesystem::path &folder) {
  std::ifstream file(folder / "stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const size_t name = text.rfind(") "); // it may hold anything
  return name == std::string::npos ? '\0' : text[name + 2];
}

/// Returns when the thread `id` of this process sleeps, or has ended.
inline void waitUntilAsleep(pid_t id) {
  for (char state = 'R'; state != 'S' && state != '\0';
       state = stateIn("/proc/self/task/" + std::to_string(id)))
    std::this_thread::yield();
}

/// Returns when all threads of this process sleep, except the one that asks.
inline void waitUntilOthersAreAsleep() {
  for (const auto &task : std::filesystem::directory_iterator("/proc/self/task"))
    if (const auto id = static_cast<pid_t>(std::stol(task.path().filename().string())); id != ::gettid())
      waitUntilAsleep(id);
}

/// How often each thread of this process has slept, except the one that asks.
inline std::map<std::string, uint64_t> sleepsOfOthers() {
  std::map<std::string, uint64_t> sleeps;
  for (const auto &task : std::filesystem::directory_iterator("/proc/self/task")) {
    const std::string id = task.path().filename().string();
    std::ifstream file(task.path() / "status");
    for (std::string word; id != std::to_string(::gettid()) && file >> word;)
      if (word == "voluntary_ctxt_switches:")
        file >> sleeps[id];
  }
  return sleeps;
}

/// Calls `work` until another thread of this process has woken up `times` more, to look whether it must wait
/// on. That counts the time that it sees, however busy the machine is.
template <typename Work> void workWhileOneLooks(uint64_t times, Work work) {
  const std::map<std::string, uint64_t> before = sleepsOfOthers();
  const auto hasLooked = [&](const auto &thread) {
    const auto found = before.find(thread.first);
    return thread.second >= times + (found == before.end() ? 0 : found->second);
  };
  for (auto now = before; !std::ranges::any_of(now, hasLooked); now = sleepsOfOthers()) {
    work();
    std::this_thread::yield();
  }
}

} // namespace trainc::test
