// Files made on the fly for the tests of runtime/data.
#pragma once

#include "base/status.h"
#include "test/unit/runtime/read_file.h"

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <span>
#include <string>
#include <vector>

namespace trainc::test {

/// An empty folder, removed at the end.
class Folder {
public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "trainc-data-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder &) = delete;
  Folder &operator=(const Folder &) = delete;

  const std::filesystem::path &path() const { return path_; }
  std::string operator/(std::string_view name) const { return (path_ / name).string(); }

  /// Writes a file and returns its path.
  std::string write(std::string_view name, std::string_view content) const {
    std::ofstream(path_ / name, std::ios::binary) << content;
    return *this / name;
  }

private:
  std::filesystem::path path_;
};

/// The bytes of `values` in memory.
template <typename T> std::string bytesOf(const std::vector<T> &values) {
  return {reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T)};
}

/// The values whose bytes these are.
template <typename T> std::vector<T> valuesOf(std::span<const std::byte> bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

inline std::span<const std::byte> asBytes(std::string_view text) { return std::as_bytes(std::span(text)); }

/// A safetensors file: header length, header, data.
inline std::string safetensors(std::string_view header, std::string_view data) {
  return bytesOf(std::vector<uint64_t>{header.size()}) + std::string(header) + std::string(data);
}

/// One tensor of a safetensors file to write.
struct Column {
  std::string name;
  std::string dtype;
  std::string shape; ///< as JSON
  std::string bytes;
};

inline std::string safetensors(const std::vector<Column> &columns) {
  std::string header;
  std::string data;
  for (const Column &column : columns) {
    header +=
        fmt::format(R"({}"{}":{{"dtype":"{}","shape":{},"data_offsets":[{},{}]}})", header.empty() ? "" : ",",
                    column.name, column.dtype, column.shape, data.size(), data.size() + column.bytes.size());
    data += column.bytes;
  }
  return safetensors("{" + header + "}", data);
}

inline Status statusOf(Status status) { return status; }
template <typename T> const Status &statusOf(const Result<T> &result) { return result.status(); }

} // namespace trainc::test

/// Expects that `result` failed for a fault of the user's, with exactly this message.
#define EXPECT_INVALID(result, text)                                                                         \
  do {                                                                                                       \
    const auto &failed_ = (result);                                                                          \
    ASSERT_FALSE(failed_.ok());                                                                              \
    EXPECT_EQ(::trainc::test::statusOf(failed_).exitCode(), 2);                                              \
    EXPECT_EQ(::trainc::test::statusOf(failed_).message(), text);                                            \
  } while (false)

#define ASSERT_OK(result) ASSERT_TRUE((result).ok()) << ::trainc::test::statusOf(result).message()
