// Writes tensors of a source of weights to safetensors files, converted and verified piece by piece.
#pragma once

#include "runtime/state/weight_source.h"

#include <functional>
#include <span>
#include <vector>

namespace trainc {

class ReplacingFile;

/// A tensor of an output file.
struct WeightOutput {
  const WeightTensor *source; ///< its elements
  std::string name;           ///< in the output
  SafetensorsDType dtype;     ///< in the output; see writtenDType()

  uint64_t bytes() const { return source->elements() * elementBytes(dtype); }
};

/// Type of a tensor that is written with floats of type `wanted`: integers and booleans stay. Fails
/// (kInvalidInput) for 8-bit floats, which need scales in other tensors.
Result<SafetensorsDType> writtenDType(const WeightTensor &tensor, SafetensorsDType wanted);

struct WeightWriterOptions {
  /// If set, called with a sentence about NaN and infinities among the weights, which are written as they
  /// are.
  std::function<void(const std::string &text)> warn = {};
  /// If set, called from time to time with the bytes done so far and in total; returns false to cancel.
  std::function<bool(uint64_t done, uint64_t total)> progress = {};
};

/// Writes files of tensors of one source. Floats are rounded to the nearest value of their output's type,
/// ties to even. The source is read once, in pieces, so its size does not matter.
class WeightWriter {
public:
  /// `totalBytes`: bytes of all tensors in the source, for the progress.
  WeightWriter(const WeightSource &source, WeightWriterOptions options, uint64_t totalBytes);

  /// Writes a file. It is complete and verified, or absent. Fails with kInvalidInput if a tensor is damaged
  /// or exceeds the range of its type; with kFailed if the file cannot be written or `progress` canceled.
  Status writeFile(const std::filesystem::path &path, std::span<const WeightOutput> outputs);

  /// Tells of NaN and infinities among all that was written.
  void warnOfNonFinite() const;

private:
  Status write(const WeightOutput &output, uint64_t offset);
  Status writePiece(const WeightOutput &output, std::span<const std::byte> piece, uint64_t begin,
                    uint64_t offset);
  Result<std::span<const std::byte>> round(const WeightOutput &output, std::span<const std::byte> piece,
                                           uint64_t element);
  void noteNonFinite(const WeightTensor &weight, std::span<const std::byte> piece, uint64_t element);
  Status report(uint64_t bytes);

  const WeightSource &source_;
  WeightWriterOptions options_;
  ReplacingFile *file_ = nullptr; ///< the file that is being written
  std::string path_;              ///< its path, for messages
  std::vector<std::byte> rounded_;
  std::vector<std::byte> decoded_; ///< elements that the source computes
  uint64_t total_, done_ = 0;      ///< bytes of all weights, and bytes written
  const WeightTensor *latestNonFinite_ = nullptr;
  uint64_t nonFiniteTensors_ = 0;
  std::string firstNonFinite_; ///< first NaN or infinity
};

} // namespace trainc
