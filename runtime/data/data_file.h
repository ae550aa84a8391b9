// One data file, bound to the columns that a plan requires.
#pragma once

#include "base/file_identity.h"
#include "base/input_file.h"
#include "runtime/data/columns.h"
#include "runtime/data/token_file.h"

namespace trainc {

/// A data file whose samples have all columns of a plan. Token files provide the columns "tokens" and
/// "labels": sample i is a window of T+1 tokens from token i*T on; its first T tokens are the tokens, its
/// last T the labels. Safetensors files provide one row of each tensor per sample; if only "labels" is
/// missing, the labels are the tokens shifted by one, and the last one is the ignored value.
class DataFile {
public:
  /// Opens `path` (safetensors by its extension, else tokens) and finds each of `columns` in it. Errors
  /// (kInvalidInput) name the file, what the plan expects and what the file contains.
  static Result<DataFile> open(const std::filesystem::path &path, const std::vector<ColumnSpec> &columns,
                               const TokenFileOptions &options);

  const std::string &path() const { return path_; }
  uint64_t samples() const { return samples_; }
  /// Doubt about the file that does not keep it from being read; empty if there is none.
  const std::string &warning() const { return warning_; }
  /// Hashes `blocks` (2 or more) blocks of 4 KiB, which overlap in a small file.
  Result<FileIdentity> identity(uint64_t blocks) const;

  /// Reads `count` rows of column `column` (an index into the `columns` of open()) from `row` on into
  /// `destination`, spec.bytes() bytes each. Fails with kInvalidInput on a value that the column does not
  /// allow, and if the file was truncated; the message names file, byte offset, value and limit.
  Status readRows(size_t column, uint64_t row, uint64_t count, std::byte *destination) const;

  /// Location and value of an element in a row of a float column, for messages.
  std::string describeElement(size_t column, uint64_t row, uint64_t element) const;

private:
  /// Location of the rows of one column.
  struct Rows {
    ColumnSpec spec;
    SafetensorsDType dtype;
    uint64_t fileOffset; ///< of element 0 of row 0
    uint64_t stride;     ///< elements between the begins of two rows
    uint64_t count;      ///< elements of a row in the file; the rest is spec.ignore
    IntegerBounds bounds;
    ConvertElements convert;
    bool isLimitOfSidecar = false; ///< spec.limit is the vocabulary that the JSON beside the file says
  };

  Status bindStream(const std::vector<ColumnSpec> &columns, const TokenStream &stream, uint64_t length);
  Status bindTensors(const std::vector<ColumnSpec> &columns, const SafetensorsView &tensors);
  Status bindTensor(const ColumnSpec &spec, const SafetensorsView &tensors);
  /// Fails if the file is not the one whose checksum the JSON beside it records.
  Status checkContent() const;
  Status addRows(Rows rows);
  Status readElements(const Rows &rows, uint64_t first, uint64_t count, std::byte *destination) const;
  /// Location of an element, counted from the column's first, for messages.
  std::string describePlace(const Rows &rows, uint64_t element) const;
  std::string suspect(const Rows &rows, std::string_view value) const;
  Status badValue(const Rows &rows, uint64_t element, const std::byte *source) const;

  std::string path_;
  InputFile file_;
  uint64_t samples_ = 0;
  std::string warning_;
  bool isStream_ = false;           ///< whether the file is a token stream, not safetensors columns
  std::optional<uint64_t> content_; ///< content hash, if a file beside it records one
  std::vector<Rows> columns_;
};

} // namespace trainc
