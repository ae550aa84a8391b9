// One data file, bound to the columns that a plan asks for.
#pragma once

#include "runtime/base/file_identity.h"
#include "runtime/base/input_file.h"
#include "runtime/data/columns.h"
#include "runtime/data/token_file.h"

namespace trainc {

/// A file whose samples have all columns of a plan. Token files give the columns "tokens" and
/// "labels": sample i is a window of T+1 tokens that starts at token i*T, its first T are the tokens, its
/// last T the labels. Safetensors files give one row a sample of each tensor; where "labels" is missing and
/// "tokens" is there, the labels are the tokens shifted by one, and the last one is the ignored value.
class DataFile {
public:
  /// Opens `path` (safetensors by its extension, else tokens) and finds each of `columns` in it. Errors
  /// (kInvalidInput) name the file, what the plan expects and what the file has.
  static Result<DataFile> open(const std::filesystem::path &path, const std::vector<ColumnSpec> &columns,
                               const TokenFileOptions &options);

  const std::string &path() const { return path_; }
  uint64_t samples() const { return samples_; }
  /// Reads `blocks` (2 or more) blocks of 4 KiB, which overlap in a small file.
  Result<FileIdentity> identity(uint64_t blocks) const;

  /// Writes `count` rows from `row` on of column `column` (an index into the `columns` given to open) to
  /// `destination`, which has spec.bytes() bytes for each. Fails (kInvalidInput) on a value that the column
  /// does not allow, and on a file that has become shorter: file, byte offset, value and limit are named.
  Status readRows(size_t column, uint64_t row, uint64_t count, std::byte *destination) const;

  /// Where an element of a row of column `column` lies, and what it is, for messages. The column holds
  /// floats.
  std::string describeElement(size_t column, uint64_t row, uint64_t element) const;

private:
  /// Where the rows of one column lie.
  struct Rows {
    ColumnSpec spec;
    SafetensorsDType dtype;
    uint64_t fileOffset; ///< of element 0 of row 0
    uint64_t stride;     ///< elements from one row to the next
    uint64_t count;      ///< elements of a row in the file; the rest is spec.ignore
    IntegerBounds bounds;
    ConvertElements convert;
  };

  Status bindStream(const std::vector<ColumnSpec> &columns, const TokenStream &stream, uint64_t length);
  Status bindTensors(const std::vector<ColumnSpec> &columns, const SafetensorsView &tensors);
  Status bindTensor(const ColumnSpec &spec, const SafetensorsView &tensors);
  Status addRows(Rows rows);
  Status readElements(const Rows &rows, uint64_t first, uint64_t count, std::byte *destination) const;
  /// The place of an element, counted from the column's first, for messages.
  std::string describePlace(const Rows &rows, uint64_t element) const;
  std::string suspect(const Rows &rows, std::string_view value) const;
  Status badValue(const Rows &rows, uint64_t element, const std::byte *source) const;

  std::string path_;
  InputFile file_;
  uint64_t samples_ = 0;
  bool isStream_ = false;           ///< of tokens, rather than columns of safetensors
  std::optional<uint64_t> content_; ///< its checksum, if that is recorded beside it
  std::vector<Rows> columns_;
};

} // namespace trainc
