#include "runtime/state/tensor_transfer.h"

#include "base/hash.h"
#include "base/small_float.h"
#include "base/thread.h"
#include "plan/facts/dtype.h"
#include "runtime/state/checkpoint_files.h"
#include "runtime/state/float_rounding.h"

#include <algorithm>
#include <atomic>
#include <cmath>
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

TensorMatch matchTensors(std::span<const WeightTensor> stored, std::span<const StateTensor> tensors,
                         const TensorLookup &lookup, const TensorFilter &ignore, Conversion conversion) {
  TensorMatch match;
  std::set<const WeightTensor *> used;
  for (const StateTensor &tensor : tensors) {
    const WeightTensor *source = lookup(tensor.name);
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
  for (const WeightTensor &tensor : stored)
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

/// Returns the first number that does not fit, if any.
std::optional<BadElement> convertChunk(SafetensorsDType from, fb::DType to, std::byte *destination,
                                       std::span<const std::byte> source) {
  if (to == fb::DType::BF16)
    return roundElements(from, source, SafetensorsDType::kBF16, destination);
  if (from == SafetensorsDType::kF64)
    return roundElements(from, source, SafetensorsDType::kF32, destination);
  if (from == SafetensorsDType::kBF16)
    toFloats<BFloat16>(destination, source);
  else
    toFloats<Float16>(destination, source);
  return std::nullopt;
}

/// A transfer in progress.
class Transfer {
public:
  Transfer(const TensorTransfer &job, Numbers numbers)
      : job_(job), numbers_(numbers), source_(*job.source), element_(elementBytes(source_.dtype)),
        converted_(elementBytes(job.destination->dtype)),
        begin_(job.destination->firstByte / converted_ * element_),
        end_(begin_ + job.destination->bytes.size() / converted_ * element_) {}

  /// Returns the fault of the source, if any. A number that cannot be taken may come from damage: that is
  /// known at the end.
  Result<std::optional<TransferFault>> run() {
    TRAINC_ASSIGN_OR_RETURN(const bool good, copyAll());
    if (good && !bad_)
      return std::optional<TransferFault>();
    return std::optional(TransferFault{&job_, good ? bad_ : std::nullopt});
  }

private:
  /// Returns whether all checksums are as recorded.
  Result<bool> copyAll() {
    if (!job_.checksums) {
      TRAINC_RETURN_IF_ERROR(copy(begin_, end_));
      return true;
    }
    if (begin_ == end_)
      return true;
    const uint64_t bytes = source_.bytes(), blockBytes = std::min(job_.blockBytes, bytes);
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

  /// Copies the wanted part of the source's bytes [begin, end), and returns the checksum of all of them. Only
  /// checkpoints have checksums, whose files store the elements themselves.
  Result<uint64_t> checkBlock(uint64_t begin, uint64_t end) {
    StreamHash hash;
    for (uint64_t offset = begin; offset < end; offset += kHashChunkBytes) {
      const uint64_t chunkEnd = std::min(offset + kHashChunkBytes, end);
      hash.update(source_.stored.subspan(offset, chunkEnd - offset));
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
    const std::span<const std::byte> source = source_.read(begin, bytes, decoded_);
    std::optional<BadElement> found;
    if (sameType(source_.dtype, job_.destination->dtype))
      std::memcpy(destination, source.data(), source.size());
    else
      found = convertChunk(source_.dtype, job_.destination->dtype, destination, source);
    if (bad_)
      return;
    // The first bad element counts, whichever kind it is.
    if (numbers_ == Numbers::kFinite)
      if (const auto earlier =
              findNonFinite(source_.dtype, found ? source.first(found->element * element_) : source))
        found = earlier;
    if (found)
      bad_ = {begin / element_ + found->element, found->value};
  }

  const TensorTransfer &job_;
  Numbers numbers_;
  const WeightTensor &source_;
  uint64_t element_, converted_;   ///< element sizes of source and destination
  uint64_t begin_, end_;           ///< source bytes that the destination holds
  std::vector<std::byte> staging_; ///< converted bytes on their way to a device
  std::vector<std::byte> decoded_; ///< elements that the source computes
  std::optional<BadElement> bad_;  ///< first one of the whole tensor's elements
};

} // namespace

bool convertible(SafetensorsDType from, fb::DType to, Conversion conversion) {
  const bool widens = to == fb::DType::F32;
  const bool rounds = to == fb::DType::BF16 && conversion == Conversion::kRound;
  return sameType(from, to) || (isRoundable(from) && (widens || rounds));
}

std::string TransferFault::message() const {
  const std::string &name = transfer->source->name;
  if (!element)
    return fmt::format("byte {}: tensor '{}' does not have the checksum recorded in {}",
                       transfer->source->fileOffset, name, kTrainerStateFile);
  const std::string where = fmt::format("tensor '{}', element {}", name, element->element);
  if (!std::isfinite(element->value))
    return fmt::format("{}: expected a finite number, found {}", where, element->value);
  const SafetensorsDType to =
      transfer->destination->dtype == fb::DType::BF16 ? SafetensorsDType::kBF16 : SafetensorsDType::kF32;
  return fmt::format("{}: {:.9g} does not fit {}, whose numbers reach {:.9g}", where, element->value,
                     dtypeName(to), largestFinite(to));
}

Result<std::optional<TransferFault>> transferTensors(std::span<const TensorTransfer> transfers,
                                                     unsigned threads, Numbers numbers) {
  std::vector<size_t> order(transfers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  // Largest first, so that no thread is left with a large one at the end.
  std::ranges::sort(order, std::greater(), [&](size_t i) { return transfers[i].destination->bytes.size(); });
  std::atomic<size_t> next = 0;
  std::optional<TransferFault> first;
  Status status;
  std::mutex mutex; // guards the two variables above
  const auto work = [&] {
    for (size_t i = next++; i < order.size(); i = next++) {
      const auto fault = Transfer(transfers[order[i]], numbers).run();
      if (fault.ok() && !*fault)
        continue;
      const std::scoped_lock lock(mutex);
      if (!fault.ok()) {
        status = fault.status();
        next = order.size(); // a device failure is permanent
      } else if (!first || (*fault)->transfer < first->transfer) {
        first = *fault;
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
  return first;
}

} // namespace trainc
