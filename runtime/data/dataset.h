// All data files of a run as one numbered list of samples.
#pragma once

#include "runtime/data/data_file.h"

namespace trainc {

/// Samples 0 to samples()-1: those of the first file, then those of the second, and so on. Files stay open;
/// nothing is read until fill(). Reading is thread-safe.
class Dataset {
public:
  /// Opens the files that `patterns` name (see expandPatterns) for the columns of a plan (see
  /// distinctColumns). `dtype` overrides the width of raw token files (--data-dtype). Errors (kInvalidInput)
  /// name the file.
  static Result<Dataset> open(const std::vector<std::string> &patterns, std::vector<ColumnSpec> columns,
                              std::optional<SafetensorsDType> dtype = std::nullopt);

  uint64_t samples() const { return firstSample_.back(); }
  /// Of all files, in their order.
  Result<std::vector<FileIdentity>> identity() const;
  const std::vector<DataFile> &files() const { return files_; }
  const std::vector<ColumnSpec> &columns() const { return columns_; }

  /// Position of the column in columns(), or nothing.
  std::optional<size_t> findColumn(const ColumnSpec &spec) const;

  /// Writes the given samples of column `column` to `destination`, one row after the other. Rows of
  /// `destination` beyond them (the rest of an incomplete evaluation batch) become zero, or, in a column that
  /// pads, the ignored value. Fails (kInvalidInput) on a value that the column does not allow.
  Status fill(size_t column, std::span<const uint64_t> samples, std::span<std::byte> destination) const;

  /// Where the first value of column `column` lies that is no finite number, and what it is, if `rows`, which
  /// fill() wrote for `samples`, hold one.
  std::optional<std::string> findNonFinite(size_t column, std::span<const uint64_t> samples,
                                           std::span<const std::byte> rows) const;

private:
  /// The file that holds a sample.
  size_t fileOf(uint64_t sample) const;

  std::vector<ColumnSpec> columns_;
  std::vector<DataFile> files_;
  std::vector<uint64_t> firstSample_ = {0}; ///< of each file, and the total
};

} // namespace trainc
