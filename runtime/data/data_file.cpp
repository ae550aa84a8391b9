#include "runtime/data/data_file.h"

#include "base/hash.h"
#include "plan/facts/dtype.h"

#include <algorithm>
#include <array>

namespace trainc {

namespace {

/// Bytes read and converted at a time, on the stack: a row of 8192 uint16 tokens.
constexpr size_t kChunkBytes = size_t{1} << 14;
/// Block size of file identities.
constexpr size_t kBlockBytes = size_t{1} << 12;

} // namespace

DataFile::DataFile(std::unique_ptr<DataReader> reader) : reader_(std::move(reader)) {
  for (const FileColumn &column : reader_->columns())
    columns_.push_back({column, integerBounds(column.spec), findConversion(column.dtype, column.spec.dtype)});
}

Result<DataFile> DataFile::open(const std::filesystem::path &path, const std::vector<ColumnSpec> &columns,
                                const TokenFileOptions &options) {
  TRAINC_ASSIGN_OR_RETURN(std::unique_ptr<DataReader> reader, openDataReader(path, columns, options));
  return DataFile(std::move(reader));
}

Result<FileIdentity> DataFile::identity(uint64_t blocks) const {
  std::array<std::byte, kBlockBytes> block{};
  const std::span<std::byte> bytes =
      std::span(block).first(std::min<uint64_t>(kBlockBytes, reader_->file().size()));
  const uint64_t last = reader_->file().size() - bytes.size();
  StreamHash hash;
  for (uint64_t i = 0; i < blocks; ++i) {
    const uint64_t offset = last / (blocks - 1) * i + last % (blocks - 1) * i / (blocks - 1);
    TRAINC_RETURN_IF_ERROR(reader_->file().read(offset, bytes));
    hash.update(bytes);
  }
  return FileIdentity{reader_->file().size(), hash.digest(), reader_->content()};
}

Status DataFile::readRows(size_t index, uint64_t row, uint64_t count, std::byte *destination) const {
  const Rows &rows = columns_[index];
  const FileColumn &column = rows.column;
  if (column.count == column.stride)
    return readElements(rows, row * column.stride, count * column.count, destination);
  const size_t width = elementBytes(column.spec.dtype);
  for (uint64_t i = 0; i < count; ++i, destination += column.spec.bytes()) {
    TRAINC_RETURN_IF_ERROR(readElements(rows, (row + i) * column.stride, column.count, destination));
    fillIntegers(column.spec.ignore, column.spec.elements() - column.count, column.spec.dtype,
                 destination + column.count * width);
  }
  return {};
}

Status DataFile::readElements(const Rows &rows, uint64_t first, uint64_t count,
                              std::byte *destination) const {
  const FileColumn &column = rows.column;
  std::array<std::byte, kChunkBytes> chunk;
  const size_t width = elementBytes(column.dtype);
  while (count > 0) {
    const uint64_t part = std::min<uint64_t>(count, kChunkBytes / width);
    TRAINC_RETURN_IF_ERROR(reader_->read(column, first, std::span(chunk).first(part * width)));
    const size_t converted = rows.convert(chunk.data(), part, destination, rows.bounds);
    if (converted != part)
      return badValue(rows, first + converted, chunk.data() + converted * width);
    first += part;
    count -= part;
    destination += part * elementBytes(column.spec.dtype);
  }
  return {};
}

std::string DataFile::describePlace(const FileColumn &column, uint64_t element) const {
  return fmt::format("{}: {}: sample {}, column '{}', element {}", path(), reader_->position(column, element),
                     element / column.stride, column.spec.name, element % column.stride);
}

std::string DataFile::describeElement(size_t index, uint64_t row, uint64_t element) const {
  const FileColumn &column = columns_[index].column;
  const uint64_t at = row * column.stride + element;
  const std::string place = describePlace(column, at);
  std::array<std::byte, sizeof(double)> value{};
  const size_t width = elementBytes(column.dtype);
  if (const Status status = reader_->read(column, at, std::span(value).first(width)); !status.ok())
    return place;
  return fmt::format("{} is {}", place,
                     isInteger(column.spec.dtype) ? integerText(column.dtype, value.data())
                                                  : floatText(column.dtype, value.data()));
}

Status DataFile::badValue(const Rows &rows, uint64_t element, const std::byte *source) const {
  const FileColumn &column = rows.column;
  const std::string value = integerText(column.dtype, source);
  const std::string where = fmt::format("{}: {}", describePlace(column, element), value);
  if (column.spec.limit == 0)
    return invalidInput("{} does not fit the plan's {}", where, fb::EnumNameDType(column.spec.dtype));
  const std::string problem = value.starts_with('-')
                                  ? "is negative"
                                  : fmt::format("is not below {} {}", column.limitName, column.spec.limit);
  return invalidInput("{} {}{}{}", where, problem,
                      rows.bounds.ignores ? fmt::format(" (and not the ignored {})", rows.bounds.ignore) : "",
                      reader_->explain(column, value));
}

} // namespace trainc
