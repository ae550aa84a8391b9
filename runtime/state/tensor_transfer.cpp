#include "runtime/state/tensor_transfer.h"

#include "runtime/state/stream_hash.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <thread>

namespace trainc {

namespace {

/// Hashed and copied while it is in the cache; a multiple of every element size.
constexpr size_t kChunkBytes = size_t{1} << 18;

/// IEEE binary16: 1 sign bit, 5 exponent bits (bias 15), 10 fraction bits.
float floatFromHalf(uint16_t half) {
  const int exponent = half >> 10 & 31;
  const int fraction = half & 1023;
  const float sign = half & 0x8000 ? -1.0F : 1.0F;
  if (exponent == 0)
    return sign * std::ldexp(static_cast<float>(fraction), -24);
  if (exponent == 31) // infinities and NaN: the same fraction, moved to the top of the wider one
    return std::bit_cast<float>(static_cast<uint32_t>(half & 0x8000) << 16 | 0x7F800000U |
                                static_cast<uint32_t>(fraction) << 13);
  return sign * std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
}

template <typename From, typename Convert>
void convertTo(std::byte *destination, std::span<const std::byte> source, Convert convert) {
  for (size_t i = 0; i < source.size() / sizeof(From); ++i) {
    From from;
    std::memcpy(&from, source.data() + i * sizeof(From), sizeof(From));
    const float to = convert(from);
    std::memcpy(destination + i * sizeof(float), &to, sizeof(float));
  }
}

/// Whether the elements have the same name, and hence the same bytes, on both sides.
bool sameType(SafetensorsDType from, fb::DType to) { return dtypeName(from) == fb::EnumNameDType(to); }

void convertChunk(SafetensorsDType from, fb::DType to, std::byte *destination,
                  std::span<const std::byte> source) {
  if (sameType(from, to)) {
    std::memcpy(destination, source.data(), source.size());
    return;
  }
  if (from == SafetensorsDType::kBF16) // the upper half of an F32
    convertTo<uint16_t>(destination, source, [](uint16_t value) {
      return std::bit_cast<float>(static_cast<uint32_t>(value) << 16);
    });
  else if (from == SafetensorsDType::kF16)
    convertTo<uint16_t>(destination, source, floatFromHalf);
  else
    convertTo<double>(destination, source, [](double value) { return static_cast<float>(value); });
}

/// Copies one tensor; false when its checksum differs.
bool transfer(const TensorTransfer &job) {
  const SafetensorsTensor &source = *job.source;
  const size_t sourceElement = elementBytes(source.dtype);
  const size_t destinationElement =
      source.elements() == 0 ? 1 : job.destination->bytes.size() / source.elements();
  StreamHash hash;
  for (size_t offset = 0; offset < source.bytes.size(); offset += kChunkBytes) {
    const auto chunk = source.bytes.subspan(offset, std::min(kChunkBytes, source.bytes.size() - offset));
    if (job.checksum)
      hash.update(chunk);
    std::byte *destination = job.destination->bytes.data() + offset / sourceElement * destinationElement;
    convertChunk(source.dtype, job.destination->dtype, destination, chunk);
  }
  return !job.checksum || hash.digest() == *job.checksum;
}

} // namespace

bool convertible(SafetensorsDType from, fb::DType to) {
  const bool isFloat =
      from == SafetensorsDType::kF64 || from == SafetensorsDType::kF16 || from == SafetensorsDType::kBF16;
  return sameType(from, to) || (isFloat && to == fb::DType::F32);
}

std::optional<size_t> transferTensors(std::span<const TensorTransfer> transfers, unsigned threads) {
  std::vector<size_t> order(transfers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  // Largest first, so that no thread is left with a large one at the end.
  std::ranges::sort(order, std::greater(), [&](size_t i) { return transfers[i].source->bytes.size(); });
  std::atomic<size_t> next = 0;
  std::atomic<size_t> damaged = transfers.size();
  const auto work = [&] {
    for (size_t i = next++; i < order.size(); i = next++)
      if (!transfer(transfers[order[i]])) {
        size_t first = damaged;
        while (order[i] < first && !damaged.compare_exchange_weak(first, order[i])) {
        }
      }
  };
  {
    std::vector<std::jthread> helpers;
    for (unsigned i = 1; i < std::min<size_t>(threads, transfers.size()); ++i)
      helpers.emplace_back(work);
    work();
  }
  return damaged < transfers.size() ? std::optional<size_t>(damaged) : std::nullopt;
}

} // namespace trainc
