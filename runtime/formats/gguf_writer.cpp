#include "runtime/formats/gguf_writer.h"

#include "base/small_float.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/ranges.h>
#include <ranges>

// This file is compiled without contraction of products and sums into one instruction, which rounds once.

namespace trainc {

namespace {

constexpr uint32_t kWrittenVersion = 3;
constexpr uint64_t kWrittenAlignment = 32;

template <typename T> std::string bytesOf(T value) {
  return {reinterpret_cast<const char *>(&value), sizeof(value)};
}

template <typename T> std::string bytesOfAll(std::span<const T> values) {
  return {reinterpret_cast<const char *>(values.data()), values.size_bytes()};
}

std::string withLength(std::string_view text) { return bytesOf<uint64_t>(text.size()) + std::string(text); }

/// The type and number of elements of an array.
std::string arrayHead(GgufValueType type, uint64_t count) {
  return bytesOf(static_cast<uint32_t>(type)) + bytesOf(count);
}

uint64_t aligned(uint64_t offset) {
  return (offset + kWrittenAlignment - 1) / kWrittenAlignment * kWrittenAlignment;
}

uint64_t elementsOf(const GgufOutputTensor &tensor) {
  uint64_t count = 1;
  for (const uint64_t extent : tensor.shape)
    count *= extent;
  return count;
}

Status checkShape(const GgufOutputTensor &tensor) {
  constexpr size_t kMaxExtents = 4;
  if (tensor.shape.empty() || tensor.shape.size() > kMaxExtents ||
      std::ranges::find(tensor.shape, 0) != tensor.shape.end())
    return invalidInput("tensor '{}': GGUF has tensors of 1 to {} extents above zero, found [{}]",
                        tensor.name, kMaxExtents, fmt::join(tensor.shape, ", "));
  if (tensor.shape.back() % tensor.type->blockElements == 0)
    return {};
  return invalidInput(
      "tensor '{}': {} needs rows of whole blocks of {} elements, found rows of {}; write it as F16",
      tensor.name, tensor.type->name, tensor.type->blockElements, tensor.shape.back());
}

// --- Elements ---

/// The nearest integer, halves away from zero.
float nearestInteger(float value) {
  const float magnitude = std::abs(value), whole = std::floor(magnitude);
  return std::copysign(whole + std::floor(2 * (magnitude - whole)), value);
}

void encodeQ8_0(std::span<const float> elements, std::byte *stored) {
  constexpr size_t kBlock = 32, kScaleBytes = 2;
  for (; !elements.empty(); elements = elements.subspan(kBlock), stored += kScaleBytes + kBlock) {
    float largest = 0;
    for (const float element : elements.first(kBlock))
      largest = std::max(largest, std::abs(element));
    const float scale = largest / 127;
    // The inverse of a scale that is zero in 16 bits may be infinite.
    const float inverse = std::isfinite(1 / scale) ? 1 / scale : 0;
    const uint16_t bits = Float16::nearest(scale).bits;
    std::memcpy(stored, &bits, kScaleBytes);
    for (size_t i = 0; i < kBlock; ++i)
      stored[kScaleBytes + i] =
          static_cast<std::byte>(static_cast<int8_t>(nearestInteger(elements[i] * inverse)));
  }
}

template <typename Small> void encodeSmall(std::span<const float> elements, std::byte *stored) {
  for (const float element : elements) {
    const uint16_t bits = Small::nearest(element).bits;
    std::memcpy(stored, &bits, sizeof(bits));
    stored += sizeof(bits);
  }
}

} // namespace

void GgufHeader::add(std::string_view key, GgufValueType type, std::string_view value) {
  entries_ += withLength(key) + bytesOf(static_cast<uint32_t>(type)) + std::string(value);
  ++count_;
}

void GgufHeader::addText(std::string_view key, std::string_view value) {
  add(key, GgufValueType::kString, withLength(value));
}
void GgufHeader::addCount(std::string_view key, uint32_t value) {
  add(key, GgufValueType::kUint32, bytesOf(value));
}
void GgufHeader::addNumber(std::string_view key, float value) {
  add(key, GgufValueType::kFloat32, bytesOf(value));
}
void GgufHeader::addBoolean(std::string_view key, bool value) {
  add(key, GgufValueType::kBool, bytesOf(static_cast<uint8_t>(value)));
}
void GgufHeader::addTexts(std::string_view key, std::span<const std::string> values) {
  std::string array = arrayHead(GgufValueType::kString, values.size());
  for (const std::string &value : values)
    array += withLength(value);
  add(key, GgufValueType::kArray, array);
}
void GgufHeader::addNumbers(std::string_view key, std::span<const float> values) {
  add(key, GgufValueType::kArray, arrayHead(GgufValueType::kFloat32, values.size()) + bytesOfAll(values));
}
void GgufHeader::addIntegers(std::string_view key, std::span<const int32_t> values) {
  add(key, GgufValueType::kArray, arrayHead(GgufValueType::kInt32, values.size()) + bytesOfAll(values));
}

void GgufHeader::addEntry(const GgufEntry &entry) {
  add(entry.key, entry.type, {reinterpret_cast<const char *>(entry.stored.data()), entry.stored.size()});
}

Result<GgufLayout> GgufHeader::layOut(std::span<const GgufOutputTensor> tensors) const {
  GgufLayout layout;
  layout.header =
      "GGUF" + bytesOf(kWrittenVersion) + bytesOf<uint64_t>(tensors.size()) + bytesOf(count_) + entries_;
  uint64_t end = 0;
  for (const GgufOutputTensor &tensor : tensors) {
    TRAINC_RETURN_IF_ERROR(checkShape(tensor));
    const uint64_t offset = aligned(end);
    layout.header += withLength(tensor.name) + bytesOf(static_cast<uint32_t>(tensor.shape.size()));
    for (const uint64_t extent : std::views::reverse(tensor.shape))
      layout.header += bytesOf(extent);
    layout.header += bytesOf(tensor.type->id) + bytesOf(offset);
    layout.offsets.push_back(offset);
    end = offset + encodedBytes(*tensor.type, elementsOf(tensor));
  }
  layout.header.resize(aligned(layout.header.size()), '\0');
  for (uint64_t &offset : layout.offsets)
    offset += layout.header.size();
  layout.bytes = layout.header.size() + aligned(end);
  return layout;
}

uint64_t encodedBytes(const GgufTensorType &type, uint64_t elements) {
  return elements / type.blockElements * type.blockBytes;
}

bool isEncodable(const GgufTensorType &type) {
  return type.name == "F32" || type.name == "F16" || type.name == "BF16" || type.name == "Q8_0";
}

void encodeGgufElements(const GgufTensorType &type, std::span<const float> elements,
                        std::span<std::byte> stored) {
  if (type.name == "F32")
    std::memcpy(stored.data(), elements.data(), elements.size_bytes());
  else if (type.name == "F16")
    encodeSmall<Float16>(elements, stored.data());
  else if (type.name == "BF16")
    encodeSmall<BFloat16>(elements, stored.data());
  else
    encodeQ8_0(elements, stored.data());
}

} // namespace trainc
