// GGUF files made on the fly for tests.
#pragma once

#include "runtime/formats/gguf_file.h"
#include "test/unit/runtime/data/support.h"

namespace trainc::test {

/// A file's bytes, piece by piece. Counts in the header may be set to wrong numbers.
class GgufBuilder {
public:
  uint32_t version = 3;
  uint64_t alignment = 32; ///< of the tensors' bytes; the file says so if an entry is added

  template <typename T> GgufBuilder &number(std::string_view key, GgufValueType type, T value) {
    return entry(key, type, bytesOf(std::vector<T>{value}));
  }
  GgufBuilder &u32(std::string_view key, uint32_t value) {
    return number(key, GgufValueType::kUint32, value);
  }
  GgufBuilder &text(std::string_view key, std::string_view value) {
    return entry(key, GgufValueType::kString, string(value));
  }
  template <typename T>
  GgufBuilder &array(std::string_view key, GgufValueType type, const std::vector<T> &values) {
    return entry(key, GgufValueType::kArray,
                 bytesOf(std::vector{static_cast<uint32_t>(type)}) +
                     bytesOf(std::vector<uint64_t>{values.size()}) + bytesOf(values));
  }
  GgufBuilder &strings(std::string_view key, const std::vector<std::string> &values) {
    std::string all = bytesOf(std::vector{static_cast<uint32_t>(GgufValueType::kString)}) +
                      bytesOf(std::vector<uint64_t>{values.size()});
    for (const std::string &value : values)
      all += string(value);
    return entry(key, GgufValueType::kArray, all);
  }
  GgufBuilder &entry(std::string_view key, GgufValueType type, std::string_view value) {
    entries_ += string(key) + bytesOf(std::vector{static_cast<uint32_t>(type)}) + std::string(value);
    ++entryCount_;
    return *this;
  }
  /// `extents` begin with the contiguous one, as in the file. The tensor follows the last one unless `offset`
  /// is given.
  GgufBuilder &tensor(std::string_view name, const std::vector<uint64_t> &extents, uint32_t type,
                      std::string_view bytes, std::optional<uint64_t> offset = std::nullopt) {
    data_.resize((data_.size() + alignment - 1) / alignment * alignment);
    tensors_ += string(name) + bytesOf(std::vector{static_cast<uint32_t>(extents.size())}) +
                bytesOf(extents) + bytesOf(std::vector{type}) +
                bytesOf(std::vector{offset.value_or(data_.size())});
    data_ += bytes;
    ++tensorCount_;
    return *this;
  }
  GgufBuilder &floats(std::string_view name, const std::vector<uint64_t> &extents,
                      const std::vector<float> &values) {
    return tensor(name, extents, 0, bytesOf(values));
  }

  std::string build() const {
    std::string file = "GGUF" + bytesOf(std::vector{version}) +
                       bytesOf(std::vector<uint64_t>{tensorCount_, entryCount_}) + entries_ + tensors_;
    file.resize((file.size() + alignment - 1) / alignment * alignment);
    return file + data_;
  }

  static std::string string(std::string_view text) {
    return bytesOf(std::vector<uint64_t>{text.size()}) + std::string(text);
  }

private:
  std::string entries_, tensors_, data_;
  uint64_t entryCount_ = 0, tensorCount_ = 0;
};

inline Result<GgufFile> parseGguf(const std::string &content) {
  return GgufFile::parse("f", asBytes(content));
}

} // namespace trainc::test
