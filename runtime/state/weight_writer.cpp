#include "runtime/state/weight_writer.h"

#include "runtime/formats/safetensors_layout.h"
#include "runtime/state/checkpoint_files.h"
#include "runtime/state/durable_file.h"
#include "runtime/state/file_checksums.h"
#include "runtime/state/float_rounding.h"

#include <algorithm>

namespace trainc {

/// Maximum growth of a piece by conversion: from F16 or BF16 to F32.
static constexpr size_t kMaxGrowth = 2;

Result<SafetensorsDType> writtenDType(const WeightTensor &tensor, SafetensorsDType wanted) {
  const SafetensorsDType dtype = tensor.dtype;
  if (isRoundable(dtype))
    return wanted;
  if (dtype != SafetensorsDType::kF8E4M3 && dtype != SafetensorsDType::kF8E5M2)
    return dtype;
  return invalidInput("{}: tensor '{}': expected floats of 16, 32 or 64 bits, found {}, whose scale is not "
                      "known; use weights that are not quantized",
                      tensor.file, tensor.name, describe(tensor));
}

WeightWriter::WeightWriter(const WeightSource &source, WeightWriterOptions options, uint64_t totalBytes)
    : source_(source), options_(std::move(options)), rounded_(kMaxGrowth * kHashChunkBytes),
      total_(totalBytes) {}

Status WeightWriter::writeFile(const std::filesystem::path &path, std::span<const WeightOutput> outputs) {
  std::vector<TensorEntry> entries;
  for (const WeightOutput &output : outputs)
    entries.push_back({output.name, dtypeName(output.dtype), output.source->shape, output.bytes()});
  const SafetensorsLayout layout = layOutSafetensors(entries);
  TRAINC_ASSIGN_OR_RETURN(ReplacingFile file, ReplacingFile::create(path, layout.bytes));
  file_ = &file;
  path_ = path.string();
  TRAINC_RETURN_IF_ERROR(file.write(0, std::as_bytes(std::span(layout.header))));
  for (size_t i = 0; i < outputs.size(); ++i)
    TRAINC_RETURN_IF_ERROR(write(outputs[i], layout.offsets[i]));
  TRAINC_RETURN_IF_ERROR(source_.weights.check());
  return file.publish();
}

/// Writes a tensor at byte `offset` of the file. An overflow may be caused by damage, which is known only
/// after the whole tensor was read.
Status WeightWriter::write(const WeightOutput &output, uint64_t offset) {
  const WeightTensor &weight = *output.source;
  const uint64_t bytes = weight.bytes();
  BlockVerifier verifier(source_.recorded, weight.name);
  Status status;
  for (uint64_t begin = 0; begin < bytes; begin += kHashChunkBytes) {
    const auto piece = weight.read(begin, std::min<uint64_t>(kHashChunkBytes, bytes - begin), decoded_);
    verifier.update(piece);
    if (status.ok())
      status = writePiece(output, piece, begin, offset);
    if (status.code() == StatusCode::kFailed)
      return status;
  }
  if (verifier.finish())
    return status;
  return invalidInput("{}: byte {}: tensor '{}' does not have the checksum recorded in {}; the checkpoint is "
                      "damaged, use another one",
                      weight.file, weight.fileOffset, weight.name, kTrainerStateFile);
}

/// Writes the piece from byte `begin` of a tensor whose output is at byte `offset`.
Status WeightWriter::writePiece(const WeightOutput &output, std::span<const std::byte> piece, uint64_t begin,
                                uint64_t offset) {
  const uint64_t element = begin / elementBytes(output.source->dtype);
  noteNonFinite(*output.source, piece, element);
  TRAINC_ASSIGN_OR_RETURN(const std::span<const std::byte> rounded, round(output, piece, element));
  TRAINC_RETURN_IF_ERROR(file_->write(offset + element * elementBytes(output.dtype), rounded));
  return report(piece.size());
}

/// Converts a piece, which begins with element `element` of its tensor.
Result<std::span<const std::byte>> WeightWriter::round(const WeightOutput &output,
                                                       std::span<const std::byte> piece, uint64_t element) {
  const WeightTensor &weight = *output.source;
  const SafetensorsDType from = weight.dtype, to = output.dtype;
  if (from == to)
    return piece;
  const auto overflow = roundElements(from, piece, to, rounded_.data());
  if (!overflow)
    return std::span<const std::byte>(rounded_).first(piece.size() / elementBytes(from) * elementBytes(to));
  return invalidInput("{}: tensor '{}', element {}: {:.9g} does not fit {}, whose numbers reach {:.9g}; use "
                      "a --dtype of a larger range",
                      weight.file, weight.name, element + overflow->element, overflow->value, dtypeName(to),
                      largestFinite(to));
}

void WeightWriter::noteNonFinite(const WeightTensor &weight, std::span<const std::byte> piece,
                                 uint64_t element) {
  if (latestNonFinite_ == &weight)
    return;
  const std::optional<BadElement> found = findNonFinite(weight.dtype, piece);
  if (!found)
    return;
  latestNonFinite_ = &weight;
  if (nonFiniteTensors_++ == 0)
    firstNonFinite_ = fmt::format("{}: tensor '{}', element {} is {}", weight.file, weight.name,
                                  element + found->element, found->value);
}

Status WeightWriter::report(uint64_t bytes) {
  done_ += bytes;
  if (!options_.progress || options_.progress(done_, total_))
    return {};
  return failed("{}: not written: stopped after {} of {} bytes of weights", path_, done_, total_);
}

void WeightWriter::warnOfNonFinite() const {
  if (nonFiniteTensors_ == 0 || !options_.warn)
    return;
  const std::string others =
      nonFiniteTensors_ == 1 ? "" : fmt::format(", and {} more tensors hold such", nonFiniteTensors_ - 1);
  options_.warn(firstNonFinite_ + others + "; they stay as they are");
}

} // namespace trainc
