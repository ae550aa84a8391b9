#include "runtime/state/tensor_transfer.h"

#include "runtime/base/hash.h"
#include "runtime/base/small_float.h"
#include "runtime/base/thread.h"
#include "runtime/plan/dtype.h"
#include "runtime/state/checkpoint_files.h"
#include "runtime/state/float_rounding.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <numeric>

// --- Matching ---

namespace trainc {

namespace {

constexpr size_t kListed = 8;

std::string listed(std::string_view title, const std::vector<std::string> &entries) {
  if (entries.empty())
    return "";
  std::string text = fmt::format("\n  {} ({}):", title, entries.size());
  for (size_t i = 0; i < std::min(entries.size(), kListed); ++i)
    text += "\n    " + entries[i];
  if (entries.size() > kListed)
    text += fmt::format("\n    ... and {} more", entries.size() - kListed);
  return text;
}

} // namespace

Status addChecksums(const FileChecksums &recorded, std::span<TensorTransfer> transfers) {
  if (recorded.bytes == 0) // weights without a checkpoint
    return {};
  for (TensorTransfer &transfer : transfers) {
    const auto found = recorded.tensors.find(transfer.source->name);
    if (found == recorded.tensors.end())
      return invalidInput("expected a checksum of tensor '{}' in {}, found none; the checkpoint is damaged, "
                          "use another one",
                          transfer.source->name, kTrainerStateFile);
    transfer.checksums = &found->second;
    transfer.blockBytes = recorded.blockBytes;
  }
  return {};
}

Status TensorMatch::status(const std::string &what) const {
  if (missing.empty() && unexpected.empty() && different.empty())
    return {};
  return invalidInput("{}{}{}{}", what, listed("different", different), listed("only in the plan", missing),
                      listed("only in the file", unexpected));
}

TensorMatch matchTensors(std::span<const SafetensorsView> files, std::span<const StateTensor> tensors,
                         const TensorLookup &lookup, const TensorFilter &ignore, Conversion conversion) {
  TensorMatch match;
  std::set<const SafetensorsTensor *> used;
  for (const StateTensor &tensor : tensors) {
    const SafetensorsTensor *source = lookup(tensor.name);
    if (!source) {
      match.missing.push_back(fmt::format("{}: {}", tensor.name, describe(tensor)));
      continue;
    }
    used.insert(source);
    if (source->shape != tensor.shape || !convertible(source->dtype, tensor.dtype, conversion))
      match.different.push_back(fmt::format("{}: {} in the file, {} in the plan", tensor.name,
                                            describe(*source), describe(tensor)));
    else
      match.transfers.push_back({source, &tensor});
  }
  for (const SafetensorsView &file : files)
    for (const SafetensorsTensor &tensor : file.tensors())
      if (!used.contains(&tensor) && !ignore(tensor, used))
        match.unexpected.push_back(fmt::format("{}: {}", tensor.name, describe(tensor)));
  return match;
}

// --- Transfers ---

namespace {

template <typename From> void toFloats(std::byte *destination, std::span<const std::byte> source) {
  for (size_t i = 0; i < source.size() / sizeof(From); ++i) {
    From from;
    std::memcpy(&from, source.data() + i * sizeof(From), sizeof(From));
    const auto to = static_cast<float>(from);
    std::memcpy(destination + i * sizeof(float), &to, sizeof(float));
  }
}

/// Whether the element types have the same name, and hence the same bytes, on both sides.
bool sameType(SafetensorsDType from, fb::DType to) { return dtypeName(from) == fb::EnumNameDType(to); }

/// Returns the first overflow, if any.
std::optional<RoundingOverflow> convertChunk(SafetensorsDType from, fb::DType to, std::byte *destination,
                                             std::span<const std::byte> source) {
  if (to == fb::DType::BF16)
    return roundElements(from, source, SafetensorsDType::kBF16, destination);
  if (from == SafetensorsDType::kBF16)
    toFloats<BFloat16>(destination, source);
  else if (from == SafetensorsDType::kF16)
    toFloats<Float16>(destination, source);
  else
    toFloats<double>(destination, source);
  return std::nullopt;
}

/// A transfer in progress.
class Transfer {
public:
  explicit Transfer(const TensorTransfer &job)
      : job_(job), source_(*job.source), element_(elementBytes(source_.dtype)),
        converted_(elementBytes(job.destination->dtype)),
        begin_(job.destination->firstByte / converted_ * element_),
        end_(begin_ + job.destination->bytes.size() / converted_ * element_) {}

  /// Returns false if a checksum differs. An overflow may be caused by damage, so it is reported at the end.
  Result<bool> run() {
    TRAINC_ASSIGN_OR_RETURN(const bool good, copyAll());
    if (good && overflow_)
      return invalidInput(
          "tensor '{}', element {}: {:.9g} does not fit BF16, whose numbers reach {:.9g}; use "
          "--param-type=f32 when compiling",
          source_.name, overflow_->element, overflow_->value, largestFinite(SafetensorsDType::kBF16));
    return good;
  }

private:
  Result<bool> copyAll() {
    if (!job_.checksums) {
      TRAINC_RETURN_IF_ERROR(copy(begin_, end_));
      return true;
    }
    if (begin_ == end_)
      return true;
    const uint64_t bytes = source_.bytes.size(), blockBytes = std::min(job_.blockBytes, bytes);
    if (job_.checksums->size() != blockCount(bytes, blockBytes))
      return false;
    bool good = true;
    for (uint64_t block = begin_ / blockBytes; block * blockBytes < end_; ++block) {
      TRAINC_ASSIGN_OR_RETURN(const uint64_t checksum,
                              checkBlock(block * blockBytes, std::min((block + 1) * blockBytes, bytes)));
      good &= checksum == (*job_.checksums)[block];
    }
    return good;
  }

  /// Copies the wanted part of the source's bytes [begin, end), and returns the checksum of all of them.
  Result<uint64_t> checkBlock(uint64_t begin, uint64_t end) {
    StreamHash hash;
    for (uint64_t offset = begin; offset < end; offset += kHashChunkBytes) {
      const uint64_t chunkEnd = std::min(offset + kHashChunkBytes, end);
      hash.update(source_.bytes.subspan(offset, chunkEnd - offset));
      TRAINC_RETURN_IF_ERROR(copy(std::max(offset, begin_), std::min(chunkEnd, end_)));
    }
    return hash.digest();
  }

  /// Copies the source's bytes [begin, end), if any, to the destination.
  Status copy(uint64_t begin, uint64_t end) {
    for (uint64_t next = begin; next < end; next += kHashChunkBytes) {
      const uint64_t bytes = std::min<uint64_t>(kHashChunkBytes, end - next);
      TRAINC_RETURN_IF_ERROR(job_.destination->bytes.write(
          (next - begin_) / element_ * converted_, bytes / element_ * converted_, staging_,
          [&](std::span<std::byte> destination) { convert(next, bytes, destination.data()); }));
    }
    return {};
  }

  /// Converts the source's bytes [begin, begin + bytes).
  void convert(uint64_t begin, uint64_t bytes, std::byte *destination) {
    const std::span<const std::byte> source = source_.bytes.subspan(begin, bytes);
    if (sameType(source_.dtype, job_.destination->dtype)) {
      std::memcpy(destination, source.data(), source.size());
      return;
    }
    const auto found = convertChunk(source_.dtype, job_.destination->dtype, destination, source);
    if (found && !overflow_)
      overflow_ = {begin / element_ + found->element, found->value};
  }

  const TensorTransfer &job_;
  const SafetensorsTensor &source_;
  uint64_t element_, converted_; ///< element sizes of source and destination
  uint64_t begin_, end_;         ///< source bytes that the destination holds
  std::vector<std::byte> staging_;
  std::optional<RoundingOverflow> overflow_; ///< first one over the whole tensor
};

} // namespace

bool convertible(SafetensorsDType from, fb::DType to, Conversion conversion) {
  const bool widens = to == fb::DType::F32;
  const bool rounds = to == fb::DType::BF16 && conversion == Conversion::kRound;
  return sameType(from, to) || (isRoundable(from) && (widens || rounds));
}

Result<std::optional<size_t>> transferTensors(std::span<const TensorTransfer> transfers, unsigned threads) {
  std::vector<size_t> order(transfers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  // Largest first, so that no thread is left with a large one at the end.
  std::ranges::sort(order, std::greater(), [&](size_t i) { return transfers[i].destination->bytes.size(); });
  std::atomic<size_t> next = 0;
  size_t damaged = transfers.size();
  Status status;
  std::mutex mutex; // guards the two variables above
  const auto work = [&] {
    for (size_t i = next++; i < order.size(); i = next++) {
      const Result<bool> good = Transfer(transfers[order[i]]).run();
      if (good.ok() && *good)
        continue;
      const std::scoped_lock lock(mutex);
      if (good.ok())
        damaged = std::min(damaged, order[i]);
      else if (status.ok()) {
        status = good.status();
        next = order.size(); // a device failure is permanent
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
  TRAINC_RETURN_IF_ERROR(status);
  return damaged < transfers.size() ? std::optional<size_t>(damaged) : std::nullopt;
}

} // namespace trainc
