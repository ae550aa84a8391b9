// Paths of test files.
#pragma once

#include <cstdlib>
#include <filesystem>

namespace trainc::test {

/// Path in the build folder; or in the folder TRAINC_TEST_FILES, for tests on another machine.
inline std::filesystem::path testFile(const std::filesystem::path &built) {
  const char *folder = std::getenv("TRAINC_TEST_FILES");
  return folder ? folder / built.filename() : built;
}

} // namespace trainc::test
