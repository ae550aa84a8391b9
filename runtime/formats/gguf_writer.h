// Writes GGUF files of version 3; see gguf_file.h for the format.
#pragma once

#include "runtime/formats/gguf_file.h"

namespace trainc {

/// A tensor to write.
struct GgufOutputTensor {
  std::string name; ///< in GGUF (gguf_names.h)
  const GgufTensorType *type;
  std::vector<uint64_t> shape; ///< row-major
};

/// Layout of a file, independent of which process writes which part.
struct GgufLayout {
  std::string header;            ///< all bytes before the tensors
  std::vector<uint64_t> offsets; ///< file offset of each tensor
  uint64_t bytes = 0;            ///< file size; bytes between tensors are zeros
};

/// The metadata of a file to write, and the layout of its tensors.
class GgufHeader {
public:
  void addText(std::string_view key, std::string_view value);
  void addCount(std::string_view key, uint32_t value);
  void addNumber(std::string_view key, float value);
  void addBoolean(std::string_view key, bool value);
  void addTexts(std::string_view key, std::span<const std::string> values);
  void addNumbers(std::string_view key, std::span<const float> values);
  void addIntegers(std::string_view key, std::span<const int32_t> values);
  /// Adds an entry of another file.
  void addEntry(const GgufEntry &entry);

  /// Fails with kInvalidInput if a tensor has no or more than four extents, an extent of zero, or rows that
  /// are no whole blocks of its type.
  Result<GgufLayout> layOut(std::span<const GgufOutputTensor> tensors) const;

private:
  void add(std::string_view key, GgufValueType type, std::string_view value);

  std::string entries_;
  uint64_t count_ = 0;
};

/// Bytes of `elements` elements, a whole number of blocks.
uint64_t encodedBytes(const GgufTensorType &type, uint64_t elements);

/// Whether encodeGgufElements() knows the type: F32, F16, BF16 or Q8_0.
bool isEncodable(const GgufTensorType &type);

/// Encodes a whole number of blocks, whose elements are finite, into `stored`, of encodedBytes(). The bytes
/// are those of the Python package `gguf`. `type` is encodable.
void encodeGgufElements(const GgufTensorType &type, std::span<const float> elements,
                        std::span<std::byte> stored);

} // namespace trainc
