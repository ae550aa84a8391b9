#include "runtime/state/tensor_transfer.h"

#include "runtime/base/small_float.h"
#include "runtime/base/thread.h"
#include "runtime/state/stream_hash.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>

namespace trainc {

namespace {

template <typename From> void toFloats(std::byte *destination, std::span<const std::byte> source) {
  for (size_t i = 0; i < source.size() / sizeof(From); ++i) {
    From from;
    std::memcpy(&from, source.data() + i * sizeof(From), sizeof(From));
    const auto to = static_cast<float>(from);
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
  if (from == SafetensorsDType::kBF16)
    toFloats<BFloat16>(destination, source);
  else if (from == SafetensorsDType::kF16)
    toFloats<Float16>(destination, source);
  else
    toFloats<double>(destination, source);
}

/// Copies one tensor; false when its checksum differs.
bool transfer(const TensorTransfer &job) {
  const SafetensorsTensor &source = *job.source;
  const size_t sourceElement = elementBytes(source.dtype);
  const size_t destinationElement =
      source.elements() == 0 ? 1 : job.destination->bytes.size() / source.elements();
  StreamHash hash;
  for (size_t offset = 0; offset < source.bytes.size(); offset += kHashChunkBytes) {
    const auto chunk = source.bytes.subspan(offset, std::min(kHashChunkBytes, source.bytes.size() - offset));
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
    std::vector<std::thread> helpers;
    for (unsigned i = 1; i < std::min<size_t>(threads, transfers.size()); ++i)
      helpers.push_back(tryStartThread(work));
    work();
    for (std::thread &helper : helpers)
      if (helper.joinable())
        helper.join();
  }
  return damaged < transfers.size() ? std::optional<size_t>(damaged) : std::nullopt;
}

} // namespace trainc
