#include "runtime/state/consolidate.h"

#include "runtime/formats/safetensors_layout.h"
#include "runtime/state/checkpoint_files.h"
#include "runtime/state/durable_file.h"
#include "runtime/state/file_checksums.h"
#include "runtime/state/float_rounding.h"

#include <algorithm>

namespace trainc {

namespace {

/// Maximum growth of a piece by conversion: from F16 or BF16 to F32.
constexpr size_t kMaxGrowth = 2;

/// A tensor of the source, and its file.
struct Weight {
  const SafetensorsTensor *tensor;
  const SafetensorsView *file;
};

std::vector<Weight> sortedWeights(const WeightFiles &weights) {
  std::vector<Weight> sorted;
  for (const SafetensorsView &file : weights.files())
    for (const SafetensorsTensor &tensor : file.tensors())
      sorted.push_back({&tensor, &file});
  std::ranges::sort(sorted, {}, [](const Weight &weight) { return std::string_view(weight.tensor->name); });
  return sorted;
}

/// Dtype in the output. Fails for 8-bit floats, which need scales in other tensors.
Result<SafetensorsDType> outputDType(const Weight &weight, SafetensorsDType wanted) {
  const SafetensorsDType dtype = weight.tensor->dtype;
  if (isRoundable(dtype))
    return wanted;
  if (dtype != SafetensorsDType::kF8E4M3 && dtype != SafetensorsDType::kF8E5M2)
    return dtype;
  return invalidInput("{}: tensor '{}': expected floats of 16, 32 or 64 bits, found {}, whose scale is not "
                      "known; use weights that are not quantized",
                      weight.file->path(), weight.tensor->name, describe(*weight.tensor));
}

/// Writes weights one after the other.
class Consolidation {
public:
  Consolidation(const WeightSource &source, const ConsolidateOptions &options, ReplacingFile &file,
                uint64_t total)
      : source_(source), options_(options), file_(file), total_(total) {}

  /// Writes a tensor at byte `offset` of the file. An overflow may be caused by damage, which is known only
  /// after the whole tensor was read.
  Status write(const Weight &weight, SafetensorsDType to, uint64_t offset) {
    const std::span<const std::byte> bytes = weight.tensor->bytes;
    BlockVerifier verifier(source_.recorded, weight.tensor->name);
    Status status;
    for (uint64_t begin = 0; begin < bytes.size(); begin += kHashChunkBytes) {
      const auto piece = bytes.subspan(begin, std::min(kHashChunkBytes, bytes.size() - begin));
      verifier.update(piece);
      if (status.ok())
        status = writePiece(weight, piece, begin, to, offset);
      if (status.code() == StatusCode::kFailed)
        return status;
    }
    if (verifier.finish())
      return status;
    return invalidInput(
        "{}: byte {}: tensor '{}' does not have the checksum recorded in {}; the checkpoint is "
        "damaged, use another one",
        weight.file->path(), weight.tensor->fileOffset, weight.tensor->name, kTrainerStateFile);
  }

  /// Tells of NaN and infinities among all that was written.
  void warnOfNonFinite() const {
    if (nonFiniteTensors_ == 0 || !options_.warn)
      return;
    const std::string others =
        nonFiniteTensors_ == 1 ? "" : fmt::format(", and {} more tensors hold such", nonFiniteTensors_ - 1);
    options_.warn(firstNonFinite_ + others + "; they stay as they are");
  }

private:
  /// Writes the piece from byte `begin` of a tensor whose output is at byte `offset`.
  Status writePiece(const Weight &weight, std::span<const std::byte> piece, uint64_t begin,
                    SafetensorsDType to, uint64_t offset) {
    const uint64_t element = begin / elementBytes(weight.tensor->dtype);
    noteNonFinite(weight, piece, element);
    TRAINC_ASSIGN_OR_RETURN(const std::span<const std::byte> rounded, round(weight, piece, element, to));
    TRAINC_RETURN_IF_ERROR(file_.write(offset + element * elementBytes(to), rounded));
    return report(piece.size());
  }

  /// Converts a piece, which begins with element `element` of its tensor.
  Result<std::span<const std::byte>> round(const Weight &weight, std::span<const std::byte> piece,
                                           uint64_t element, SafetensorsDType to) {
    const SafetensorsDType from = weight.tensor->dtype;
    if (from == to)
      return piece;
    const auto overflow = roundElements(from, piece, to, rounded_.data());
    if (!overflow)
      return std::span<const std::byte>(rounded_).first(piece.size() / elementBytes(from) * elementBytes(to));
    return invalidInput(
        "{}: tensor '{}', element {}: {:.9g} does not fit {}, whose numbers reach {:.9g}; use "
        "a --dtype of a larger range",
        weight.file->path(), weight.tensor->name, element + overflow->element, overflow->value, dtypeName(to),
        largestFinite(to));
  }

  void noteNonFinite(const Weight &weight, std::span<const std::byte> piece, uint64_t element) {
    if (latestNonFinite_ == weight.tensor)
      return;
    const std::optional<BadElement> found = findNonFinite(weight.tensor->dtype, piece);
    if (!found)
      return;
    latestNonFinite_ = weight.tensor;
    if (nonFiniteTensors_++ == 0)
      firstNonFinite_ = fmt::format("{}: tensor '{}', element {} is {}", weight.file->path(),
                                    weight.tensor->name, element + found->element, found->value);
  }

  Status report(uint64_t bytes) {
    done_ += bytes;
    if (!options_.progress || options_.progress(done_, total_))
      return {};
    return failed("{}: not written: stopped after {} of {} bytes of weights", options_.output.string(), done_,
                  total_);
  }

  const WeightSource &source_;
  const ConsolidateOptions &options_;
  ReplacingFile &file_;
  std::vector<std::byte> rounded_ = std::vector<std::byte>(kMaxGrowth * kHashChunkBytes);
  uint64_t total_, done_ = 0; ///< bytes of all weights, and bytes written
  const SafetensorsTensor *latestNonFinite_ = nullptr;
  uint64_t nonFiniteTensors_ = 0;
  std::string firstNonFinite_; ///< first NaN or infinity
};

} // namespace

Status consolidate(const WeightSource &source, const ConsolidateOptions &options) {
  const std::vector<Weight> weights = sortedWeights(source.weights);
  std::vector<SafetensorsDType> dtypes;
  std::vector<TensorEntry> entries;
  uint64_t total = 0;
  for (const Weight &weight : weights) {
    const SafetensorsTensor &tensor = *weight.tensor;
    TRAINC_ASSIGN_OR_RETURN(const SafetensorsDType dtype, outputDType(weight, options.dtype));
    dtypes.push_back(dtype);
    entries.push_back({tensor.name, dtypeName(dtype), tensor.shape, tensor.elements() * elementBytes(dtype)});
    total += tensor.bytes.size();
  }
  const SafetensorsLayout layout = layOutSafetensors(entries);
  TRAINC_ASSIGN_OR_RETURN(ReplacingFile file, ReplacingFile::create(options.output, layout.bytes));
  TRAINC_RETURN_IF_ERROR(file.write(0, std::as_bytes(std::span(layout.header))));
  Consolidation consolidation(source, options, file, total);
  for (size_t i = 0; i < weights.size(); ++i)
    TRAINC_RETURN_IF_ERROR(consolidation.write(weights[i], dtypes[i], layout.offsets[i]));
  TRAINC_RETURN_IF_ERROR(source.weights.check());
  TRAINC_RETURN_IF_ERROR(file.publish());
  consolidation.warnOfNonFinite();
  return {};
}

} // namespace trainc
