// One data file, bound to the columns that a plan requires.
#pragma once

#include "base/file_identity.h"
#include "runtime/data/formats/data_format.h"

namespace trainc {

/// A data file whose samples have all columns of a plan, in one of the formats of formats/formats.def.
class DataFile {
public:
  /// Opens `path` and finds each of `columns` in it. Errors (kInvalidInput) name the file, what the plan
  /// expects and what the file contains.
  static Result<DataFile> open(const std::filesystem::path &path, const std::vector<ColumnSpec> &columns,
                               const TokenFileOptions &options);

  const std::string &path() const { return reader_->path(); }
  uint64_t samples() const { return reader_->samples(); }
  /// Doubt about the file that does not keep it from being read; empty if there is none.
  const std::string &warning() const { return reader_->warning(); }
  /// Hashes `blocks` (2 or more) blocks of 4 KiB, which overlap in a small file.
  Result<FileIdentity> identity(uint64_t blocks) const;

  /// Reads `count` rows of column `index` (of the `columns` of open()) from `row` on into `destination`,
  /// spec.bytes() bytes each. Fails with kInvalidInput on a value that the column does not allow, and if the
  /// file was truncated; the message names file, position, value and limit.
  Status readRows(size_t index, uint64_t row, uint64_t count, std::byte *destination) const;

  /// Location and value of an element in a row of a float column, for messages.
  std::string describeElement(size_t index, uint64_t row, uint64_t element) const;

private:
  /// A column of the file, and how its elements become the plan's.
  struct Rows {
    const FileColumn &column; ///< of the reader
    IntegerBounds bounds;
    ConvertElements convert;
  };

  explicit DataFile(std::unique_ptr<DataReader> reader);
  Status readElements(const Rows &rows, uint64_t first, uint64_t count, std::byte *destination) const;
  /// Location of an element, counted from the column's first, for messages.
  std::string describePlace(const FileColumn &column, uint64_t element) const;
  Status badValue(const Rows &rows, uint64_t element, const std::byte *source) const;

  std::unique_ptr<DataReader> reader_;
  std::vector<Rows> columns_;
};

} // namespace trainc
