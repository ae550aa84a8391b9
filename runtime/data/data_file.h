// One data file, bound to the columns that a plan asks for.
#pragma once

#include "runtime/data/element_convert.h"
#include "runtime/data/token_file.h"

namespace trainc {

/// A mapped file whose samples have all columns of a plan. Token files give the columns "tokens" and
/// "labels": sample i is a window of T+1 tokens that starts at token i*T, its first T are the tokens, its
/// last T the labels. Safetensors files give one row a sample of each tensor; where "labels" is missing and
/// "tokens" is there, the labels are the tokens shifted by one, and the last one is the ignored value.
class DataFile {
public:
  /// Maps `path` (safetensors by its extension, else tokens) and finds each of `columns` in it. Errors
  /// (kInvalidInput) name the file, what the plan expects and what the file has.
  static Result<DataFile> open(const std::filesystem::path &path, const std::vector<ColumnSpec> &columns,
                               const TokenFileOptions &options);

  const std::string &path() const { return path_; }
  uint64_t samples() const { return samples_; }

  /// Writes row `row` of column `column` (an index into the `columns` given to open) to `destination`, which
  /// has spec.bytes() bytes. Fails (kInvalidInput) on a value that the column does not allow: file, byte
  /// offset, value and limit are named.
  Status readRow(size_t column, uint64_t row, std::byte *destination) const;

private:
  /// Where the rows of one column lie.
  struct Rows {
    ColumnSpec spec;
    SafetensorsDType dtype;
    const std::byte *first; ///< element 0 of row 0
    uint64_t fileOffset;    ///< of `first`
    uint64_t stride;        ///< elements from one row to the next
    uint64_t count;         ///< elements of a row in the file; the rest is spec.ignore
    IntegerBounds bounds;
    ConvertElements convert;
  };

  Status bindStream(const std::vector<ColumnSpec> &columns, const TokenStream &stream);
  Status bindTensors(const std::vector<ColumnSpec> &columns);
  Status bindTensor(const ColumnSpec &spec);
  Status addRows(Rows rows);
  Status badValue(const Rows &rows, uint64_t row, uint64_t element) const;

  std::string path_;
  MappedFile file_;
  SafetensorsView tensors_;
  uint64_t samples_ = 0;
  std::vector<Rows> columns_;
};

} // namespace trainc
