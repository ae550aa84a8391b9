#include "runtime/data/data_file.h"

#include "base/hash.h"
#include "base/nearest_word.h"
#include "plan/facts/dtype.h"
#include "runtime/data/foreign_file.h"

#include <algorithm>
#include <array>
#include <fmt/ranges.h>
#include <functional>
#include <numeric>

namespace trainc {

namespace {

/// Bytes read and converted at a time, on the stack: a row of 8192 uint16 tokens.
constexpr size_t kChunkBytes = size_t{1} << 14;

std::string describe(const ColumnSpec &spec) {
  return fmt::format("{} [samples{}{}]", fb::EnumNameDType(spec.dtype), spec.shape.empty() ? "" : ", ",
                     fmt::join(spec.shape, ", "));
}

/// Bytes read at a time to compare a file's checksum.
constexpr size_t kHashedBytes = size_t{1} << 20;
/// Block size of file identities.
constexpr size_t kBlockBytes = size_t{1} << 12;

/// Advice for a column whose shape differs from the plan's.
std::string adviceOnShape(std::span<const uint64_t> found, const ColumnSpec &spec) {
  if (found.empty())
    return "convert the file";
  const std::span<const uint64_t> row = found.subspan(1);
  const std::vector<uint64_t> &needed = spec.shape;
  if (isInteger(spec.dtype) && row.size() == needed.size() + 1 && row.back() == spec.limit &&
      std::ranges::equal(row.first(needed.size()), needed))
    return "these look like one-hot labels: write the number of the class instead, as argmax gives it";
  const auto product = [](std::span<const uint64_t> sizes) {
    return std::accumulate(sizes.begin(), sizes.end(), uint64_t{1}, std::multiplies<>());
  };
  if (row.size() != needed.size() && product(row) == spec.elements())
    return fmt::format("reshape it to [{}{}{}]", found[0], needed.empty() ? "" : ", ",
                       fmt::join(needed, ", "));
  const bool isLength = row.size() == needed.size() && !row.empty() && row[0] != needed[0] &&
                        std::ranges::equal(row.subspan(1), std::span(needed).subspan(1));
  if (isLength && isInteger(spec.dtype))
    return "compile for this length (--seq-len) or convert the file";
  return "convert the file, or change the model's text";
}

/// Suggests which column of the file may be the missing one.
std::string adviceOnName(const std::string &name, const SafetensorsView &tensors) {
  std::vector<std::string> names;
  for (const SafetensorsTensor &tensor : tensors.tensors())
    names.push_back(tensor.name);
  const std::string nearest = findNearest(name, names);
  return nearest.empty()
             ? ""
             : fmt::format("; if '{}' is meant, rename it in one of the two, file or model", nearest);
}

/// Whether a token stream provides the column: tokens or labels, with sequences of equal length.
bool isSequence(const ColumnSpec &spec, const std::vector<ColumnSpec> &columns) {
  return (spec.name == "tokens" || spec.name == "labels") && spec.shape.size() == 1 && spec.elements() > 0 &&
         spec.elements() == columns.front().elements();
}

/// Sequence length of a token stream, or an error that says what the file, which begins with `head`, is
/// instead.
Result<uint64_t> sequenceLength(const std::string &file, std::span<const std::byte> head,
                                const std::vector<ColumnSpec> &columns) {
  const auto other =
      std::ranges::find_if(columns, [&](const ColumnSpec &spec) { return !isSequence(spec, columns); });
  if (other == columns.end())
    return columns.empty() ? 0 : columns.front().elements();
  std::vector<std::string> needed;
  for (const ColumnSpec &spec : columns)
    needed.push_back(fmt::format("{} {}", spec.name, describe(spec)));
  const auto foreign = findForeignKind(std::filesystem::path(file).extension().string(), head);
  const std::string found =
      foreign ? fmt::format("found {}; {}", foreign->name, foreign->forColumns)
              : "found a file of tokens, which gives the columns tokens [samples, length] and "
                "labels of the same shape (the tokens shifted by one)";
  return invalidInput("{}: expected a .safetensors file with the plan's columns {}, {}", file,
                      fmt::join(needed, ", "), found);
}

} // namespace

Result<DataFile> DataFile::open(const std::filesystem::path &path, const std::vector<ColumnSpec> &columns,
                                const TokenFileOptions &options) {
  DataFile data;
  data.path_ = path.string();
  TRAINC_ASSIGN_OR_RETURN(data.file_, InputFile::open(path));
  if (path.extension() == ".safetensors") {
    const Result<SafetensorsView> tensors = SafetensorsView::open(path);
    if (!tensors.ok()) {
      const std::optional<ForeignKind> kind = findForeignKind(path);
      return kind ? invalidInput("{}: expected a safetensors file, found {}; {}", data.path_, kind->name,
                                 kind->forColumns)
                  : tensors.status();
    }
    TRAINC_RETURN_IF_ERROR(data.bindTensors(columns, *tensors));
    return data;
  }
  std::vector<std::byte> head(std::min<uint64_t>(kForeignHeadBytes, data.file_.size()));
  TRAINC_RETURN_IF_ERROR(data.file_.read(0, head));
  TRAINC_ASSIGN_OR_RETURN(const uint64_t length, sequenceLength(data.path_, head, columns));
  TRAINC_ASSIGN_OR_RETURN(const TokenStream stream, readTokenStream(path, head, data.file_.size(), options));
  TRAINC_RETURN_IF_ERROR(data.bindStream(columns, stream, length));
  TRAINC_RETURN_IF_ERROR(data.checkContent());
  return data;
}

/// Larger files would delay the start of a run; their size alone is compared.
Status DataFile::checkContent() const {
  constexpr uint64_t kMaxBytes = uint64_t{64} << 20;
  if (!content_ || file_.size() > kMaxBytes)
    return {};
  std::vector<std::byte> piece(std::min<uint64_t>(kHashedBytes, file_.size()));
  StreamHash hash;
  for (uint64_t begin = 0; begin < file_.size(); begin += piece.size()) {
    const std::span<std::byte> bytes =
        std::span(piece).first(std::min<uint64_t>(piece.size(), file_.size() - begin));
    TRAINC_RETURN_IF_ERROR(file_.read(begin, bytes));
    hash.update(bytes);
  }
  if (hash.digest() == *content_)
    return {};
  return invalidInput("{}: expected the checksum {:016x}, as {} says, found {:016x}; the file is damaged or "
                      "another one: copy or tokenize it again, or delete the JSON file",
                      path_, *content_, sidecarPath(path_).string(), hash.digest());
}

Result<FileIdentity> DataFile::identity(uint64_t blocks) const {
  std::array<std::byte, kBlockBytes> block{};
  const std::span<std::byte> bytes = std::span(block).first(std::min<uint64_t>(kBlockBytes, file_.size()));
  const uint64_t last = file_.size() - bytes.size();
  StreamHash hash;
  for (uint64_t i = 0; i < blocks; ++i) {
    const uint64_t offset = last / (blocks - 1) * i + last % (blocks - 1) * i / (blocks - 1);
    TRAINC_RETURN_IF_ERROR(file_.read(offset, bytes));
    hash.update(bytes);
  }
  return FileIdentity{file_.size(), hash.digest(), content_};
}

Status DataFile::bindStream(const std::vector<ColumnSpec> &columns, const TokenStream &stream,
                            uint64_t length) {
  if (length == 0)
    return invalidInput("{}: the plan takes no data", path_);
  if (stream.count < length + 1)
    return invalidInput(
        "{}: expected at least {} tokens ({} bytes) for one sample of length {} and its last label, "
        "found {} tokens",
        path_, length + 1, (length + 1) * elementBytes(stream.dtype), length, stream.count);
  samples_ = (stream.count - 1) / length;
  content_ = stream.content;
  warning_ = stream.warning;
  isStream_ = true;
  for (ColumnSpec spec : columns) {
    if (stream.vocabulary && spec.limit > 0 && *stream.vocabulary > spec.limit)
      warning_ = fmt::format(
          "{}: its tokenizer has {} ids, as {} says, the model takes those below {}; the run ends at "
          "the first token beyond: make the model's vocabulary as large",
          path_, *stream.vocabulary, sidecarPath(path_).string(), spec.limit);
    const uint64_t shift = spec.name == "labels" ? elementBytes(stream.dtype) : 0;
    const bool isOfSidecar = stream.vocabulary && (spec.limit == 0 || *stream.vocabulary < spec.limit);
    if (isOfSidecar)
      spec.limit = *stream.vocabulary;
    const IntegerBounds bounds = integerBounds(spec);
    TRAINC_RETURN_IF_ERROR(addRows({std::move(spec), stream.dtype, stream.fileOffset + shift, length, length,
                                    bounds, nullptr, isOfSidecar}));
  }
  return {};
}

Status DataFile::bindTensors(const std::vector<ColumnSpec> &columns, const SafetensorsView &tensors) {
  if (columns.empty())
    return invalidInput("{}: the plan takes no data", path_);
  for (const ColumnSpec &spec : columns)
    TRAINC_RETURN_IF_ERROR(bindTensor(spec, tensors));
  if (samples_ == 0)
    return invalidInput("{}: expected at least one sample, found columns with none ({})", path_,
                        tensors.names());
  return {};
}

Status DataFile::bindTensor(const ColumnSpec &spec, const SafetensorsView &tensors) {
  const SafetensorsTensor *tensor = tensors.find(spec.name);
  const bool shifted = !tensor && spec.name == "labels" && isInteger(spec.dtype) && spec.shape.size() == 1 &&
                       spec.elements() > 1;
  if (shifted)
    tensor = tensors.find("tokens");
  if (!tensor)
    return invalidInput("{}: the plan needs the column '{}' {}; the file has: {}{}", path_, spec.name,
                        describe(spec), tensors.names(), adviceOnName(spec.name, tensors));
  if (tensor->shape.empty() || !std::ranges::equal(std::span(tensor->shape).subspan(1), spec.shape))
    return invalidInput("{}: column '{}' is {}, the plan needs {}; {}", path_, tensor->name,
                        trainc::describe(*tensor), describe(spec), adviceOnShape(tensor->shape, spec));
  const uint64_t samples = tensor->shape[0];
  if (!columns_.empty() && samples != samples_)
    return invalidInput(
        "{}: column '{}' has {} samples, column '{}' has {}; all columns need the same number", path_,
        tensor->name, samples, columns_.front().spec.name, samples_);
  samples_ = samples;
  const uint64_t length = spec.elements();
  const uint64_t shift = shifted ? elementBytes(tensor->dtype) : 0;
  return addRows({spec, tensor->dtype, tensor->fileOffset + shift, length, shifted ? length - 1 : length,
                  integerBounds(spec), nullptr});
}

Status DataFile::addRows(Rows rows) {
  rows.convert = findConversion(rows.dtype, rows.spec.dtype);
  if (!rows.convert)
    return invalidInput("{}: column '{}' is {}, the plan needs {}; convert the file", path_, rows.spec.name,
                        dtypeName(rows.dtype), fb::EnumNameDType(rows.spec.dtype));
  columns_.push_back(std::move(rows));
  return {};
}

Status DataFile::readRows(size_t column, uint64_t row, uint64_t count, std::byte *destination) const {
  const Rows &rows = columns_[column];
  if (rows.count == rows.stride)
    return readElements(rows, row * rows.stride, count * rows.count, destination);
  const size_t width = elementBytes(rows.spec.dtype);
  for (uint64_t i = 0; i < count; ++i, destination += rows.spec.bytes()) {
    TRAINC_RETURN_IF_ERROR(readElements(rows, (row + i) * rows.stride, rows.count, destination));
    fillIntegers(rows.spec.ignore, rows.spec.elements() - rows.count, rows.spec.dtype,
                 destination + rows.count * width);
  }
  return {};
}

/// Reads with pread: a mapping would end the process if the file is truncated.
Status DataFile::readElements(const Rows &rows, uint64_t first, uint64_t count,
                              std::byte *destination) const {
  std::array<std::byte, kChunkBytes> chunk;
  const size_t width = elementBytes(rows.dtype);
  while (count > 0) {
    const uint64_t part = std::min<uint64_t>(count, kChunkBytes / width);
    TRAINC_RETURN_IF_ERROR(file_.read(rows.fileOffset + first * width, std::span(chunk).first(part * width)));
    const size_t converted = rows.convert(chunk.data(), part, destination, rows.bounds);
    if (converted != part)
      return badValue(rows, first + converted, chunk.data() + converted * width);
    first += part;
    count -= part;
    destination += part * elementBytes(rows.spec.dtype);
  }
  return {};
}

std::string DataFile::describePlace(const Rows &rows, uint64_t element) const {
  return fmt::format("{}: byte {}: sample {}, column '{}', element {}", path_,
                     rows.fileOffset + element * elementBytes(rows.dtype), element / rows.stride,
                     rows.spec.name, element % rows.stride);
}

std::string DataFile::describeElement(size_t column, uint64_t row, uint64_t element) const {
  const Rows &rows = columns_[column];
  const uint64_t at = row * rows.stride + element;
  const std::string place = describePlace(rows, at);
  std::array<std::byte, sizeof(double)> value{};
  const size_t width = elementBytes(rows.dtype);
  if (const Status status = file_.read(rows.fileOffset + at * width, std::span(value).first(width));
      !status.ok())
    return place;
  return fmt::format("{} is {}", place,
                     isInteger(rows.spec.dtype) ? integerText(rows.dtype, value.data())
                                                : floatText(rows.dtype, value.data()));
}

/// Possible cause of an integer beyond a column's limit.
std::string DataFile::suspect(const Rows &rows, std::string_view value) const {
  if (rows.isLimitOfSidecar)
    return "; the two do not belong together: tokenize again, or delete the JSON file";
  if (isStream_)
    return fmt::format("; was the file made with another tokenizer, or with another --data-dtype than {}?",
                       dtypeName(rows.dtype));
  const bool isClass = rows.spec.shape.empty();
  if (isClass && value.starts_with('-'))
    return rows.bounds.ignores
               ? fmt::format("; if it marks what does not count, write {} instead", rows.bounds.ignore)
               : "";
  if (isClass && value == fmt::to_string(rows.spec.limit))
    return fmt::format("; classes count from 0 to {}: if those of the file begin at 1, subtract 1",
                       rows.spec.limit - 1);
  if (isClass)
    return "; has the model all classes of the data?";
  if (rows.spec.name == "tokens" || rows.spec.name == "labels")
    return "; was the file made with another tokenizer?";
  return fmt::format("; the model takes values from 0 to {} in this column", rows.spec.limit - 1);
}

Status DataFile::badValue(const Rows &rows, uint64_t element, const std::byte *source) const {
  const std::string value = integerText(rows.dtype, source);
  const std::string where = fmt::format("{}: {}", describePlace(rows, element), value);
  if (rows.spec.limit == 0)
    return invalidInput("{} does not fit the plan's {}", where, fb::EnumNameDType(rows.spec.dtype));
  const std::string problem =
      value.starts_with('-')
          ? "is negative"
          : fmt::format("is not below {} {}",
                        rows.isLimitOfSidecar
                            ? fmt::format("the vocabulary that {} says,", sidecarPath(path_).string())
                            : "the model's limit",
                        rows.spec.limit);
  return invalidInput("{} {}{}{}", where, problem,
                      rows.bounds.ignores ? fmt::format(" (and not the ignored {})", rows.bounds.ignore) : "",
                      suspect(rows, value));
}

} // namespace trainc
