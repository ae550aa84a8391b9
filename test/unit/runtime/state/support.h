// Helpers of the tests of runtime/state.
#pragma once

#include "runtime/state/durable_file.h"
#include "runtime/state/state_tensor.h"
#include "test/unit/runtime/read_file.h"

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/resource.h>

namespace trainc {

/// An empty folder, removed at the end.
class TempFolder {
public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "trainc-test-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }

  const std::filesystem::path &path() const { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

private:
  std::filesystem::path path_;
};

/// A tensor with its own memory.
struct OwnedTensor {
  std::vector<std::byte> bytes;
  StateTensor tensor;

  template <typename T>
  OwnedTensor(std::string name, fb::DType dtype, std::vector<uint64_t> shape, const std::vector<T> &values)
      : bytes(values.size() * sizeof(T)),
        tensor{
            .name = std::move(name), .dtype = dtype, .shape = std::move(shape), .bytes = std::span(bytes)} {
    if (!values.empty())
      std::memcpy(bytes.data(), values.data(), bytes.size());
  }
  OwnedTensor(const OwnedTensor &other) : bytes(other.bytes), tensor(other.tensor) {
    tensor.bytes = std::span(bytes);
  }

  std::vector<float> floats() const {
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  std::vector<uint16_t> shorts() const {
    std::vector<uint16_t> values(bytes.size() / sizeof(uint16_t));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
};

inline OwnedTensor f32(std::string name, std::vector<uint64_t> shape, const std::vector<float> &values) {
  return {std::move(name), fb::DType::F32, std::move(shape), values};
}

inline std::vector<StateTensor> views(const std::vector<OwnedTensor> &tensors) {
  std::vector<StateTensor> result;
  for (const OwnedTensor &tensor : tensors)
    result.push_back(tensor.tensor);
  return result;
}

/// Writes a whole safetensors file.
inline Status saveTensors(const std::filesystem::path &path, const std::vector<OwnedTensor> &tensors) {
  const SafetensorsLayout layout = layOutSafetensors(views(tensors));
  TRAINC_ASSIGN_OR_RETURN(DurableFile file, DurableFile::create(path, layout.bytes));
  TRAINC_RETURN_IF_ERROR(file.write(0, std::as_bytes(std::span(layout.header))));
  for (size_t i = 0; i < tensors.size(); ++i)
    TRAINC_RETURN_IF_ERROR(file.write(layout.offsets[i], tensors[i].bytes));
  return file.close();
}

/// Files of this process cannot grow beyond a limit while this lives: a full disk.
class FullDisk {
public:
  explicit FullDisk(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

private:
  rlimit before_{};
  void (*handler_)(int);
};

inline void writeFile(const std::filesystem::path &path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

} // namespace trainc
