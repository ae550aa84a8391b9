// Interface of data files: a table entry for each format, and a reader for each file.
#pragma once

#include "base/input_file.h"
#include "runtime/data/formats/columns.h"
#include "runtime/data/formats/token_file.h"

#include <filesystem>
#include <memory>

namespace trainc {

/// An open data file and its first bytes.
struct DataSource {
  std::filesystem::path path;
  InputFile file;
  std::vector<std::byte> head; ///< kForeignHeadBytes, or the whole file

  static Result<DataSource> open(const std::filesystem::path &path);
};

/// Column of a data file that provides a column of the plan.
struct FileColumn {
  ColumnSpec spec;         ///< as the plan needs it; `limit` may be lower
  SafetensorsDType dtype;  ///< of the file's elements
  uint64_t fileOffset = 0; ///< of element 0 of row 0
  uint64_t stride = 0;     ///< elements between the begins of two rows
  uint64_t count = 0;      ///< elements of a row in the file; the rest of a row is spec.ignore
  std::string limitName = "the model's limit"; ///< origin of spec.limit, for messages
};

/// Reads the columns of one file for a plan. Reads are thread-safe.
class DataReader {
public:
  explicit DataReader(DataSource source) : path_(source.path.string()), file_(std::move(source.file)) {}
  virtual ~DataReader() = default;

  const std::string &path() const { return path_; }
  const InputFile &file() const { return file_; }
  /// One column for each of the plan's, in the plan's order.
  const std::vector<FileColumn> &columns() const { return columns_; }
  uint64_t samples() const { return samples_; }
  /// Doubt about the file that does not keep it from being read; empty if there is none.
  const std::string &warning() const { return warning_; }
  /// XXH3-64 of the file, if a file beside it records one.
  std::optional<uint64_t> content() const { return content_; }

  /// Reads whole elements of a column, as the file stores them, from element `first` of the column on. Fails
  /// with kInvalidInput if the file was truncated. By default the elements lie in the file one after the
  /// other, from `fileOffset` on.
  virtual Status read(const FileColumn &column, uint64_t first, std::span<std::byte> elements) const;

  /// Position of an element of a column in the file, for messages: "byte 12".
  virtual std::string position(const FileColumn &column, uint64_t element) const;

  /// Likely cause of an integer `value` beyond a column's limit, as the end of a message; empty if none is
  /// known.
  virtual std::string explain(const FileColumn &column, std::string_view value) const = 0;

protected:
  /// Fails with kInvalidInput if the file's elements cannot be converted to the plan's.
  Status addColumn(FileColumn column);

  uint64_t samples_ = 0;
  std::string warning_;
  std::optional<uint64_t> content_;

private:
  std::string path_;
  InputFile file_; ///< read with pread: a mapping would end the process if the file is truncated
  std::vector<FileColumn> columns_;
};

/// A format of data files.
struct DataFormat {
  bool (*recognises)(const DataSource &source);
  /// Finds each of `columns` in a file that the format recognises. Errors (kInvalidInput) name the file, what
  /// the plan expects and what the file contains.
  Result<std::unique_ptr<DataReader>> (*open)(DataSource source, const std::vector<ColumnSpec> &columns,
                                              const TokenFileOptions &options);
};

/// Opens a file in the first format of formats.def that recognises it.
Result<std::unique_ptr<DataReader>> openDataReader(const std::filesystem::path &path,
                                                   const std::vector<ColumnSpec> &columns,
                                                   const TokenFileOptions &options);

/// Dtype and shape of a column for messages: "I32 [samples, 8]".
std::string describe(const ColumnSpec &spec);

} // namespace trainc
