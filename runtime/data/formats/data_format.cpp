#include "runtime/data/formats/data_format.h"

#include "plan/facts/dtype.h"
#include "runtime/data/formats/foreign_file.h"

#include <algorithm>
#include <cassert>
#include <fmt/ranges.h>

namespace trainc {

#define TRAINC_DATA_FORMAT(source, table) extern const DataFormat table;
#include "runtime/data/formats/formats.def"
#undef TRAINC_DATA_FORMAT

namespace {

constexpr const DataFormat *kFormats[] = {
#define TRAINC_DATA_FORMAT(source, table) &table,
#include "runtime/data/formats/formats.def"
#undef TRAINC_DATA_FORMAT
};

} // namespace

Result<DataSource> DataSource::open(const std::filesystem::path &path) {
  TRAINC_ASSIGN_OR_RETURN(InputFile file, InputFile::open(path));
  std::vector<std::byte> head(std::min<uint64_t>(kForeignHeadBytes, file.size()));
  TRAINC_RETURN_IF_ERROR(file.read(0, head));
  return DataSource{path, std::move(file), std::move(head)};
}

Status DataReader::read(const FileColumn &column, uint64_t first, std::span<std::byte> elements) const {
  return file_.read(column.fileOffset + first * elementBytes(column.dtype), elements);
}

std::string DataReader::position(const FileColumn &column, uint64_t element) const {
  return fmt::format("byte {}", column.fileOffset + element * elementBytes(column.dtype));
}

Status DataReader::addColumn(FileColumn column) {
  if (!findConversion(column.dtype, column.spec.dtype))
    return invalidInput("{}: column '{}' is {}, the plan needs {}; convert the file", path_, column.spec.name,
                        dtypeName(column.dtype), fb::EnumNameDType(column.spec.dtype));
  columns_.push_back(std::move(column));
  return {};
}

Result<std::unique_ptr<DataReader>> openDataReader(const std::filesystem::path &path,
                                                   const std::vector<ColumnSpec> &columns,
                                                   const TokenFileOptions &options) {
  TRAINC_ASSIGN_OR_RETURN(DataSource source, DataSource::open(path));
  const auto *const format = std::ranges::find_if(
      kFormats, [&](const DataFormat *candidate) { return candidate->recognises(source); });
  assert(format != std::end(kFormats)); // raw tokens recognise every file
  return (*format)->open(std::move(source), columns, options);
}

std::string describe(const ColumnSpec &spec) {
  return fmt::format("{} [samples{}{}]", fb::EnumNameDType(spec.dtype), spec.shape.empty() ? "" : ", ",
                     fmt::join(spec.shape, ", "));
}

} // namespace trainc
