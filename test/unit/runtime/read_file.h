#pragma once

#include <filesystem>
#include <fstream>
#include <string>

namespace trainc {

/// All bytes of a file; none if there is no such file.
inline std::string readFile(const std::filesystem::path &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return {};
  std::string bytes(std::filesystem::file_size(path), '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

} // namespace trainc
