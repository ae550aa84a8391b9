#include "runtime/data/data_file.h"

#include "runtime/plan/dtype.h"

#include <algorithm>
#include <fmt/ranges.h>

namespace trainc {

namespace {

std::string describe(const ColumnSpec &spec) {
  return fmt::format("{} [samples{}{}]", fb::EnumNameDType(spec.dtype), spec.shape.empty() ? "" : ", ",
                     fmt::join(spec.shape, ", "));
}

/// Whether a token stream has a column: tokens or labels, sequences of the same length for both.
bool isSequence(const ColumnSpec &spec, const std::vector<ColumnSpec> &columns) {
  return (spec.name == "tokens" || spec.name == "labels") && spec.shape.size() == 1 && spec.elements() > 0 &&
         spec.elements() == columns.front().elements();
}

/// Elements of a sample in a token stream.
Result<uint64_t> sequenceLength(const std::string &file, const std::vector<ColumnSpec> &columns) {
  const auto other =
      std::ranges::find_if(columns, [&](const ColumnSpec &spec) { return !isSequence(spec, columns); });
  if (other == columns.end())
    return columns.empty() ? 0 : columns.front().elements();
  std::vector<std::string> needed;
  for (const ColumnSpec &spec : columns)
    needed.push_back(fmt::format("{} {}", spec.name, describe(spec)));
  return invalidInput(
      "{}: a token file gives the columns tokens [samples, length] and labels of the same shape (the "
      "tokens shifted by one); the plan needs {}. Give a .safetensors file with these columns",
      file, fmt::join(needed, ", "));
}

} // namespace

Result<DataFile> DataFile::open(const std::filesystem::path &path, const std::vector<ColumnSpec> &columns,
                                const TokenFileOptions &options) {
  DataFile data;
  data.path_ = path.string();
  if (path.extension() == ".safetensors") {
    TRAINC_ASSIGN_OR_RETURN(data.tensors_, SafetensorsView::open(path));
    TRAINC_RETURN_IF_ERROR(data.bindTensors(columns));
    return data;
  }
  TRAINC_ASSIGN_OR_RETURN(data.file_, MappedFile::open(path));
  TRAINC_ASSIGN_OR_RETURN(const TokenStream stream, readTokenStream(path, data.file_.bytes(), options));
  TRAINC_RETURN_IF_ERROR(data.bindStream(columns, stream));
  return data;
}

Status DataFile::bindStream(const std::vector<ColumnSpec> &columns, const TokenStream &stream) {
  TRAINC_ASSIGN_OR_RETURN(const uint64_t length, sequenceLength(path_, columns));
  if (length == 0)
    return invalidInput("{}: the plan takes no data", path_);
  if (stream.count() < length + 1)
    return invalidInput(
        "{}: expected at least {} tokens ({} bytes) for one sample of length {} and its last label, "
        "found {} tokens",
        path_, length + 1, (length + 1) * elementBytes(stream.dtype), length, stream.count());
  samples_ = (stream.count() - 1) / length;
  for (const ColumnSpec &spec : columns) {
    const uint64_t shift = spec.name == "labels" ? elementBytes(stream.dtype) : 0;
    TRAINC_RETURN_IF_ERROR(
        addRows({spec, stream.dtype, stream.bytes.data() + shift, stream.fileOffset + shift, length, length,
                 integerBounds(spec), nullptr}));
  }
  return {};
}

Status DataFile::bindTensors(const std::vector<ColumnSpec> &columns) {
  if (columns.empty())
    return invalidInput("{}: the plan takes no data", path_);
  for (const ColumnSpec &spec : columns)
    TRAINC_RETURN_IF_ERROR(bindTensor(spec));
  if (samples_ == 0)
    return invalidInput("{}: expected at least one sample, found columns with none ({})", path_,
                        tensors_.names());
  return {};
}

Status DataFile::bindTensor(const ColumnSpec &spec) {
  const SafetensorsTensor *tensor = tensors_.find(spec.name);
  const bool shifted = !tensor && spec.name == "labels" && isInteger(spec.dtype);
  if (shifted)
    tensor = tensors_.find("tokens");
  if (!tensor)
    return invalidInput("{}: the plan needs the column '{}' {}; the file has: {}", path_, spec.name,
                        describe(spec), tensors_.names());
  if (tensor->shape.empty() || !std::ranges::equal(std::span(tensor->shape).subspan(1), spec.shape))
    return invalidInput(
        "{}: column '{}' is {}, the plan needs {}; compile for this length (--seq-len) or convert the "
        "file",
        path_, tensor->name, trainc::describe(*tensor), describe(spec));
  const uint64_t samples = tensor->shape[0];
  if (!columns_.empty() && samples != samples_)
    return invalidInput(
        "{}: column '{}' has {} samples, column '{}' has {}; all columns need the same number", path_,
        tensor->name, samples, columns_.front().spec.name, samples_);
  samples_ = samples;
  const uint64_t length = spec.elements();
  const uint64_t shift = shifted && length > 0 ? elementBytes(tensor->dtype) : 0;
  return addRows({spec, tensor->dtype, tensor->bytes.data() + shift, tensor->fileOffset + shift, length,
                  shift ? length - 1 : length, integerBounds(spec), nullptr});
}

Status DataFile::addRows(Rows rows) {
  rows.convert = findConversion(rows.dtype, rows.spec.dtype);
  if (!rows.convert)
    return invalidInput("{}: column '{}' is {}, the plan needs {}; convert the file", path_, rows.spec.name,
                        dtypeName(rows.dtype), fb::EnumNameDType(rows.spec.dtype));
  columns_.push_back(std::move(rows));
  return {};
}

Status DataFile::readRow(size_t column, uint64_t row, std::byte *destination) const {
  const Rows &rows = columns_[column];
  const std::byte *source = rows.first + row * rows.stride * elementBytes(rows.dtype);
  const size_t converted = rows.convert(source, rows.count, destination, rows.bounds);
  if (converted != rows.count)
    return badValue(rows, row, converted);
  if (const uint64_t rest = rows.spec.elements() - rows.count; rest > 0)
    fillIntegers(rows.spec.ignore, rest, rows.spec.dtype,
                 destination + rows.count * elementBytes(rows.spec.dtype));
  return {};
}

Status DataFile::badValue(const Rows &rows, uint64_t row, uint64_t element) const {
  const uint64_t offset = (row * rows.stride + element) * elementBytes(rows.dtype);
  const int64_t value = readInteger(rows.dtype, rows.first + offset);
  const std::string where = fmt::format("{}: byte {}: sample {}, column '{}', element {}: {}", path_,
                                        rows.fileOffset + offset, row, rows.spec.name, element, value);
  if (rows.spec.limit == 0)
    return invalidInput("{} does not fit the plan's {}", where, fb::EnumNameDType(rows.spec.dtype));
  return invalidInput(
      "{} is not below the model's limit {}{}; was the file made with another tokenizer, or with "
      "another --data-dtype than {}?",
      where, rows.spec.limit,
      rows.bounds.ignores ? fmt::format(" (and not the ignored {})", rows.bounds.ignore) : "",
      dtypeName(rows.dtype));
}

} // namespace trainc
