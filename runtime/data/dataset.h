// All data files of a run as one list of samples.
#pragma once

#include "runtime/data/data_file.h"

#include <functional>

namespace trainc {

/// Samples 0 to samples()-1 of all files, concatenated in order. Files stay open; nothing is read until
/// fill(). Reads are thread-safe.
class Dataset {
public:
  /// Opens the files that match `patterns` (see expandPatterns) for the columns of a plan (see
  /// distinctColumns). `dtype` overrides the width of raw token files (--data-dtype). Errors (kInvalidInput)
  /// name the file.
  static Result<Dataset> open(const std::vector<std::string> &patterns, std::vector<ColumnSpec> columns,
                              std::optional<SafetensorsDType> dtype = std::nullopt);

  uint64_t samples() const { return firstSample_.back(); }
  /// Identities of all files, in order.
  Result<std::vector<FileIdentity>> identity() const;
  const std::vector<DataFile> &files() const { return files_; }
  const std::vector<ColumnSpec> &columns() const { return columns_; }

  /// Index of the column in columns(), or nothing.
  std::optional<size_t> findColumn(const ColumnSpec &spec) const;

  /// Writes the given samples of column `column` to `destination`, one row after the other. The remaining
  /// rows of `destination` (an incomplete evaluation batch) become zero or, if the column pads, the ignored
  /// value. Fails with kInvalidInput on a value that the column does not allow.
  Status fill(size_t column, std::span<const uint64_t> samples, std::span<std::byte> destination) const;

  /// Location and value of the first non-finite value in `rows`, which fill() wrote for `samples` of column
  /// `column`, if there is one.
  std::optional<std::string> findNonFinite(size_t column, std::span<const uint64_t> samples,
                                           std::span<const std::byte> rows) const;

  /// A doubt about the labels of the first samples: they are the tokens themselves, not the next ones, as in
  /// data sets of Hugging Face, whose models shift them. Empty if there is none.
  std::string doubtOfLabels() const;

  /// Whether a column may mask another column of classes; see findMaskedClass().
  bool hasMasks() const;
  /// Describes the first class of a column of classes, such as labels, that a mask of the same sample
  /// excludes: its position, and the mask. A mask is a column with one number for each class, or one for each
  /// element and class. It has -infinity or a number such as -1e9 for excluded classes; or it has 0 and 1,
  /// and the number that most targets have stands for allowed classes. `rows(column)` are what fill() wrote
  /// for `samples`.
  std::optional<std::string>
  findMaskedClass(std::span<const uint64_t> samples,
                  const std::function<std::span<const std::byte>(size_t column)> &rows) const;

private:
  /// Says where an element of a sample lies, and what it is.
  std::string describeElement(size_t column, uint64_t sample, uint64_t element) const;
  /// Index of the file that contains a sample.
  size_t fileOf(uint64_t sample) const;

  std::vector<ColumnSpec> columns_;
  std::vector<DataFile> files_;
  std::vector<uint64_t> firstSample_ = {0}; ///< first sample of each file, and the total
};

} // namespace trainc
