// Where the files of tests lie.
#pragma once

#include <cstdlib>
#include <filesystem>

namespace trainc::test {

/// Where the build has it; or in the folder TRAINC_TEST_FILES, for tests that run on another machine.
inline std::filesystem::path testFile(const std::filesystem::path &built) {
  const char *folder = std::getenv("TRAINC_TEST_FILES");
  return folder ? folder / built.filename() : built;
}

} // namespace trainc::test
