// Files that this process accesses by direct I/O.
#pragma once

#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <unistd.h>

namespace trainc::test {

/// How many of the open files.
inline size_t directFiles() {
  size_t count = 0;
  for (const auto &entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int flags = fcntl(std::atoi(entry.path().filename().c_str()), F_GETFL);
    count += flags >= 0 && (flags & O_DIRECT) != 0;
  }
  return count;
}

/// Whether the folder of DiskArena is on a file system that can.
inline bool canBeDirect() {
  const std::string folder = std::filesystem::temp_directory_path();
  const int file = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  const bool can = fcntl(file, F_SETFL, O_DIRECT) == 0;
  close(file);
  return can;
}

} // namespace trainc::test
