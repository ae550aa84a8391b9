#include "runtime/formats/gguf_blocks.h"

#include "base/small_float.h"

#include <algorithm>
#include <array>
#include <cstring>

// This file is compiled without contraction of products and sums into one instruction, which rounds once.

namespace trainc {

namespace {

/// Elements of a block of a legacy type, and of a super-block of a K type.
constexpr size_t kSmallBlock = 32, kLargeBlock = 256;

using Block = const uint8_t *;

float halfAt(Block block, size_t offset) {
  uint16_t bits;
  std::memcpy(&bits, block + offset, sizeof(bits));
  return static_cast<float>(Float16{bits});
}

int low(uint8_t byte) { return byte & 0xf; }
int high(uint8_t byte) { return byte >> 4; }

// --- Floats ---

void decodeF32(Block block, float *out) { std::memcpy(out, block, sizeof(float)); }
void decodeF16(Block block, float *out) { *out = halfAt(block, 0); }
void decodeBF16(Block block, float *out) {
  uint16_t bits;
  std::memcpy(&bits, block, sizeof(bits));
  *out = static_cast<float>(BFloat16{bits});
}

// --- Blocks of 32: a scale, perhaps a minimum, and 4, 5 or 8 bits an element ---

void decodeQ8_0(Block block, float *out) {
  const float scale = halfAt(block, 0);
  for (size_t i = 0; i < kSmallBlock; ++i)
    out[i] = scale * static_cast<float>(static_cast<int8_t>(block[2 + i]));
}

/// Four bits of elements 0 to 15 are the low halves of the bytes, those of 16 to 31 the high ones.
int nibble(Block bytes, size_t element) {
  return element < kSmallBlock / 2 ? low(bytes[element]) : high(bytes[element - kSmallBlock / 2]);
}

int fifthBit(Block bytes, size_t element) { return bytes[element / 8] >> (element % 8) & 1; }

void decodeQ4_0(Block block, float *out) {
  const float scale = halfAt(block, 0);
  for (size_t i = 0; i < kSmallBlock; ++i)
    out[i] = scale * static_cast<float>(nibble(block + 2, i) - 8);
}

void decodeQ4_1(Block block, float *out) {
  const float scale = halfAt(block, 0), minimum = halfAt(block, 2);
  for (size_t i = 0; i < kSmallBlock; ++i)
    out[i] = scale * static_cast<float>(nibble(block + 4, i)) + minimum;
}

void decodeQ5_0(Block block, float *out) {
  const float scale = halfAt(block, 0);
  for (size_t i = 0; i < kSmallBlock; ++i)
    out[i] = scale * static_cast<float>((nibble(block + 6, i) | fifthBit(block + 2, i) << 4) - 16);
}

void decodeQ5_1(Block block, float *out) {
  const float scale = halfAt(block, 0), minimum = halfAt(block, 2);
  for (size_t i = 0; i < kSmallBlock; ++i)
    out[i] = scale * static_cast<float>(nibble(block + 8, i) | fifthBit(block + 4, i) << 4) + minimum;
}

// --- Super-blocks of 256: one scale of the quantised scales of 8 or 16 sub-blocks ---

void decodeQ2_K(Block block, float *out) {
  constexpr size_t kSubBlock = 16;
  const Block scales = block, bits = block + 16;
  const float scale = halfAt(block, 80), minimum = halfAt(block, 82);
  for (size_t sub = 0; sub < kLargeBlock / kSubBlock; ++sub) {
    const float subScale = scale * static_cast<float>(low(scales[sub]));
    const float subMinimum = minimum * static_cast<float>(high(scales[sub]));
    // Each half of the block has 32 bytes, whose four pairs of bits are of elements at a distance of 32.
    const Block bytes = bits + sub / 8 * 32 + sub % 2 * kSubBlock;
    const size_t shift = sub % 8 / 2 * 2;
    for (size_t i = 0; i < kSubBlock; ++i)
      out[sub * kSubBlock + i] = subScale * static_cast<float>(bytes[i] >> shift & 3) - subMinimum;
  }
}

void decodeQ3_K(Block block, float *out) {
  constexpr size_t kSubBlock = 16;
  const Block highBits = block, bits = block + 32, scales = block + 96;
  const float scale = halfAt(block, 108);
  for (size_t sub = 0; sub < kLargeBlock / kSubBlock; ++sub) {
    const int lowScale = sub < 8 ? low(scales[sub]) : high(scales[sub - 8]);
    const int highScale = scales[8 + sub % 4] >> (2 * (sub / 4)) & 3;
    const float subScale = scale * static_cast<float>((lowScale | highScale << 4) - 32);
    const size_t column = sub % 2 * kSubBlock;
    const Block bytes = bits + sub / 8 * 32 + column;
    const size_t shift = sub % 8 / 2 * 2;
    for (size_t i = 0; i < kSubBlock; ++i) {
      const int third = highBits[column + i] >> (sub / 2) & 1;
      out[sub * kSubBlock + i] = subScale * static_cast<float>((bytes[i] >> shift & 3) - (third ? 0 : 4));
    }
  }
}

/// Scale and minimum of one of 8 sub-blocks, 6 bits each, from 12 bytes.
struct ScaleAndMinimum {
  int scale, minimum;
};

ScaleAndMinimum scaleAndMinimum(Block bytes, size_t sub) {
  if (sub < 4)
    return {bytes[sub] & 0x3f, bytes[sub + 4] & 0x3f};
  const uint8_t lowBits = bytes[sub + 4];
  return {low(lowBits) | (bytes[sub - 4] >> 6) << 4, high(lowBits) | (bytes[sub] >> 6) << 4};
}

/// Q4_K, and Q5_K with a fifth bit of each element in `fifthBits`.
void decodeWithMinimum(Block block, Block fifthBits, Block bits, float *out) {
  const float scale = halfAt(block, 0), minimum = halfAt(block, 2);
  for (size_t sub = 0; sub < kLargeBlock / kSmallBlock; ++sub) {
    const auto [quantScale, quantMinimum] = scaleAndMinimum(block + 4, sub);
    const float subScale = scale * static_cast<float>(quantScale);
    const float subMinimum = minimum * static_cast<float>(quantMinimum);
    const Block bytes = bits + sub / 2 * kSmallBlock;
    for (size_t i = 0; i < kSmallBlock; ++i) {
      const int fourBits = sub % 2 ? high(bytes[i]) : low(bytes[i]);
      const int fifth = fifthBits ? fifthBits[i] >> sub & 1 : 0;
      out[sub * kSmallBlock + i] = subScale * static_cast<float>(fourBits | fifth << 4) - subMinimum;
    }
  }
}

void decodeQ4_K(Block block, float *out) { decodeWithMinimum(block, nullptr, block + 16, out); }
void decodeQ5_K(Block block, float *out) { decodeWithMinimum(block, block + 16, block + 48, out); }

void decodeQ6_K(Block block, float *out) {
  constexpr size_t kSubBlock = 16;
  const Block lowBits = block, highBits = block + 128, scales = block + 192;
  const float scale = halfAt(block, 208);
  for (size_t sub = 0; sub < kLargeBlock / kSubBlock; ++sub) {
    const float subScale = scale * static_cast<float>(static_cast<int8_t>(scales[sub]));
    const size_t half = sub / 8, group = sub % 8 / 2, column = sub % 2 * kSubBlock;
    for (size_t i = 0; i < kSubBlock; ++i) {
      const uint8_t byte = lowBits[half * 64 + group % 2 * 32 + column + i];
      const int fourBits = group < 2 ? low(byte) : high(byte);
      const int twoBits = highBits[half * 32 + column + i] >> (2 * group) & 3;
      out[sub * kSubBlock + i] = subScale * static_cast<float>((fourBits | twoBits << 4) - 32);
    }
  }
}

/// How a block becomes elements, by the type's name.
struct BlockDecoder {
  std::string_view type;
  void (*decode)(Block block, float *out);
};

constexpr std::array<BlockDecoder, 13> kDecoders = {{{"F32", decodeF32},
                                                     {"F16", decodeF16},
                                                     {"BF16", decodeBF16},
                                                     {"Q8_0", decodeQ8_0},
                                                     {"Q4_0", decodeQ4_0},
                                                     {"Q4_1", decodeQ4_1},
                                                     {"Q5_0", decodeQ5_0},
                                                     {"Q5_1", decodeQ5_1},
                                                     {"Q2_K", decodeQ2_K},
                                                     {"Q3_K", decodeQ3_K},
                                                     {"Q4_K", decodeQ4_K},
                                                     {"Q5_K", decodeQ5_K},
                                                     {"Q6_K", decodeQ6_K}}};

const BlockDecoder *findDecoder(const GgufTensorType &type) {
  const auto *found = std::ranges::find(kDecoders, type.name, &BlockDecoder::type);
  return found == kDecoders.end() ? nullptr : found;
}

} // namespace

bool isDecodable(const GgufTensorType &type) { return findDecoder(type); }

std::string decodableTypes() {
  std::string names;
  for (const BlockDecoder &decoder : kDecoders)
    names += (names.empty() ? "" : ", ") + std::string(decoder.type);
  return names;
}

void decodeGgufElements(const GgufTensorType &type, std::span<const std::byte> stored, uint64_t first,
                        std::span<float> elements) {
  const auto decode = findDecoder(type)->decode;
  const uint64_t size = type.blockElements;
  std::array<float, kLargeBlock> partial;
  for (uint64_t done = 0; done < elements.size();) {
    const uint64_t element = first + done, block = element / size, begin = element % size;
    const uint64_t count = std::min<uint64_t>(size - begin, elements.size() - done);
    const Block bytes = reinterpret_cast<Block>(stored.data()) + block * type.blockBytes;
    if (count == size) {
      decode(bytes, elements.data() + done);
    } else {
      decode(bytes, partial.data());
      std::copy_n(partial.begin() + static_cast<std::ptrdiff_t>(begin), count,
                  elements.begin() + static_cast<std::ptrdiff_t>(done));
    }
    done += count;
  }
}

} // namespace trainc
