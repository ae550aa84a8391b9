#include "runtime/formats/gguf_file.h"

#include "base/input_file.h"
#include "base/lfs_pointer.h"
#include "base/plain_text.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <fmt/ranges.h>
#include <ranges>

namespace trainc {

namespace {

// --- Types ---

constexpr std::array<GgufTensorType, 33> kTensorTypes = {{
    {0, "F32", 1, 4},         {1, "F16", 1, 2},         {2, "Q4_0", 32, 18},     {3, "Q4_1", 32, 20},
    {6, "Q5_0", 32, 22},      {7, "Q5_1", 32, 24},      {8, "Q8_0", 32, 34},     {10, "Q2_K", 256, 84},
    {11, "Q3_K", 256, 110},   {12, "Q4_K", 256, 144},   {13, "Q5_K", 256, 176},  {14, "Q6_K", 256, 210},
    {15, "Q8_K", 256, 292},   {16, "IQ2_XXS", 256, 66}, {17, "IQ2_XS", 256, 74}, {18, "IQ3_XXS", 256, 98},
    {19, "IQ1_S", 256, 50},   {20, "IQ4_NL", 32, 18},   {21, "IQ3_S", 256, 110}, {22, "IQ2_S", 256, 82},
    {23, "IQ4_XS", 256, 136}, {24, "I8", 1, 1},         {25, "I16", 1, 2},       {26, "I32", 1, 4},
    {27, "I64", 1, 8},        {28, "F64", 1, 8},        {29, "IQ1_M", 256, 56},  {30, "BF16", 1, 2},
    {34, "TQ1_0", 256, 54},   {35, "TQ2_0", 256, 66},   {39, "MXFP4", 32, 17},   {40, "NVFP4", 64, 36},
    {41, "Q1_0", 128, 18},
}};

struct ValueTypeInfo {
  std::string_view name;
  uint32_t bytes; ///< 0: not fixed
};

constexpr std::array<ValueTypeInfo, 13> kValueTypes = {{{"uint8", 1},
                                                        {"int8", 1},
                                                        {"uint16", 2},
                                                        {"int16", 2},
                                                        {"uint32", 4},
                                                        {"int32", 4},
                                                        {"float32", 4},
                                                        {"bool", 1},
                                                        {"string", 0},
                                                        {"array", 0},
                                                        {"uint64", 8},
                                                        {"int64", 8},
                                                        {"float64", 8}}};

const ValueTypeInfo &infoOf(GgufValueType type) { return kValueTypes[static_cast<uint32_t>(type)]; }

// --- Reading ---

constexpr std::string_view kMagic = "GGUF";
constexpr uint32_t kMinVersion = 2, kMaxVersion = 3;
constexpr uint64_t kMaxExtents = 4, kMaxNameBytes = 1024;
constexpr uint64_t kDefaultAlignment = 32;
constexpr std::string_view kAlignmentKey = "general.alignment", kPartsKey = "split.count";
/// Bytes of the shortest metadata entry and tensor description, which bound the numbers of them.
constexpr uint64_t kMinEntryBytes = 8 + 4 + 1, kMinTensorBytes = 8 + 4 + 8 + 4 + 8;

template <typename T> T loadAt(std::span<const std::byte> bytes, uint64_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

/// Position in the bytes before the tensors.
class Cursor {
public:
  Cursor(const std::string &file, std::span<const std::byte> bytes) : file_(file), bytes_(bytes) {}

  uint64_t position() const { return position_; }
  uint64_t left() const { return bytes_.size() - position_; }

  /// The next `count` bytes; `what` is for messages.
  Result<std::span<const std::byte>> take(uint64_t count, std::string_view what) {
    if (count > left())
      return invalidInput(
          "{}: byte {}: {} of {} bytes reaches beyond the end of the file ({} bytes); the file is "
          "truncated or damaged",
          file_, position_, what, count, bytes_.size());
    const auto taken = bytes_.subspan(static_cast<size_t>(position_), static_cast<size_t>(count));
    position_ += count;
    return taken;
  }

  template <typename T> Result<T> number(std::string_view what) {
    TRAINC_ASSIGN_OR_RETURN(const auto bytes, take(sizeof(T), what));
    return loadAt<T>(bytes, 0);
  }

  /// A length and as many bytes.
  Result<std::string_view> string(std::string_view what) {
    TRAINC_ASSIGN_OR_RETURN(const uint64_t length, number<uint64_t>(what));
    TRAINC_ASSIGN_OR_RETURN(const auto bytes, take(length, what));
    return std::string_view(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  }

  /// A string that can be shown: a key or a name.
  Result<std::string> name(std::string_view what) {
    const uint64_t begin = position_;
    TRAINC_ASSIGN_OR_RETURN(const std::string_view text, string(what));
    if (text.size() <= kMaxNameBytes && isPlainText(text))
      return std::string(text);
    return invalidInput(
        "{}: byte {}: expected {} of 1 to {} bytes without control or invisible characters, found "
        "'{}'",
        file_, begin, what, kMaxNameBytes, printable(text.substr(0, kMaxNameBytes)));
  }

  /// The type of a value or element.
  Result<GgufValueType> valueType(const std::string &key) {
    const uint64_t begin = position_;
    TRAINC_ASSIGN_OR_RETURN(const uint32_t type, number<uint32_t>("a type"));
    if (type < kValueTypes.size())
      return static_cast<GgufValueType>(type);
    return invalidInput("{}: byte {}: '{}': expected a type from 0 (uint8) to {} (float64), found {}", file_,
                        begin, key, kValueTypes.size() - 1, type);
  }

private:
  const std::string &file_;
  std::span<const std::byte> bytes_;
  uint64_t position_ = 0;
};

GgufValue scalar(GgufValueType type, std::span<const std::byte> bytes) {
  switch (type) {
  case GgufValueType::kUint8:
    return uint64_t{loadAt<uint8_t>(bytes, 0)};
  case GgufValueType::kUint16:
    return uint64_t{loadAt<uint16_t>(bytes, 0)};
  case GgufValueType::kUint32:
    return uint64_t{loadAt<uint32_t>(bytes, 0)};
  case GgufValueType::kUint64:
    return loadAt<uint64_t>(bytes, 0);
  case GgufValueType::kInt8:
    return int64_t{loadAt<int8_t>(bytes, 0)};
  case GgufValueType::kInt16:
    return int64_t{loadAt<int16_t>(bytes, 0)};
  case GgufValueType::kInt32:
    return int64_t{loadAt<int32_t>(bytes, 0)};
  case GgufValueType::kInt64:
    return loadAt<int64_t>(bytes, 0);
  case GgufValueType::kFloat32:
    return loadAt<float>(bytes, 0);
  case GgufValueType::kFloat64:
    return loadAt<double>(bytes, 0);
  default:
    return loadAt<uint8_t>(bytes, 0) != 0; // a Boolean
  }
}

/// Reads a file from its begin to the last description of a tensor.
class Reader {
public:
  Reader(const std::string &file, std::span<const std::byte> bytes)
      : file_(file), bytes_(bytes), cursor_(file, bytes) {}

  Result<uint32_t> readVersion();
  Status readCounts();
  Result<std::vector<GgufEntry>> readMetadata();
  /// Tensors with their offsets relative to the data section, and without bytes.
  Result<std::vector<GgufTensor>> readTensors();
  /// Gives each tensor its bytes in the data section, which begins at the next multiple of `alignment`.
  Status placeTensors(uint64_t alignment, std::vector<GgufTensor> &tensors) const;

private:
  Result<GgufValue> readValue(const std::string &key, GgufValueType type);
  Result<GgufArray> readArray(const std::string &key);
  Result<GgufTensor> readTensor();
  Status placeTensor(uint64_t dataOffset, uint64_t alignment, GgufTensor &tensor) const;
  Status verifyOverlaps(const std::vector<GgufTensor> &tensors) const;
  /// Fails if `count` things of at least `bytes` bytes do not fit into the rest of the file.
  Status checkCount(uint64_t count, uint64_t bytes, std::string_view what) const;

  const std::string &file_;
  std::span<const std::byte> bytes_;
  Cursor cursor_;
  uint64_t tensors_ = 0, entries_ = 0; ///< numbers in the header
};

Result<uint32_t> Reader::readVersion() {
  if (const std::string_view text(reinterpret_cast<const char *>(bytes_.data()), bytes_.size());
      text.starts_with(kLfsPointer))
    return invalidInput("{}: expected a GGUF file, found {}; {}", file_, kLfsName, kLfsAdvice);
  TRAINC_ASSIGN_OR_RETURN(const auto magic, cursor_.take(kMagic.size(), "the mark 'GGUF'"));
  if (std::memcmp(magic.data(), kMagic.data(), kMagic.size()) != 0)
    return invalidInput("{}: byte 0: expected the mark 'GGUF'; this is no GGUF file", file_);
  TRAINC_ASSIGN_OR_RETURN(const uint32_t version, cursor_.number<uint32_t>("the version"));
  if (version >= kMinVersion && version <= kMaxVersion)
    return version;
  if (const uint32_t swapped = __builtin_bswap32(version); swapped <= kMaxVersion)
    return invalidInput(
        "{}: byte {}: expected numbers in little-endian order, found version {} in big-endian "
        "order; convert the model again for a little-endian machine",
        file_, kMagic.size(), swapped);
  return invalidInput(
      "{}: byte {}: expected version {} or {} of GGUF, found {}; convert the model again with a "
      "current llama.cpp",
      file_, kMagic.size(), kMinVersion, kMaxVersion, version);
}

Status Reader::checkCount(uint64_t count, uint64_t bytes, std::string_view what) const {
  if (count <= cursor_.left() / bytes)
    return {};
  return invalidInput(
      "{}: byte {}: {} {} do not fit into the {} bytes that follow; the file is truncated or damaged", file_,
      cursor_.position(), count, what, cursor_.left());
}

Status Reader::readCounts() {
  TRAINC_ASSIGN_OR_RETURN(tensors_, cursor_.number<uint64_t>("the number of tensors"));
  TRAINC_ASSIGN_OR_RETURN(entries_, cursor_.number<uint64_t>("the number of metadata entries"));
  TRAINC_RETURN_IF_ERROR(checkCount(tensors_, kMinTensorBytes, "tensors"));
  return checkCount(entries_, kMinEntryBytes, "metadata entries");
}

Result<std::vector<GgufEntry>> Reader::readMetadata() {
  std::vector<GgufEntry> entries;
  for (uint64_t i = 0; i < entries_; ++i) {
    TRAINC_ASSIGN_OR_RETURN(std::string key, cursor_.name("a key"));
    TRAINC_ASSIGN_OR_RETURN(const GgufValueType type, cursor_.valueType(key));
    const uint64_t begin = cursor_.position();
    TRAINC_ASSIGN_OR_RETURN(GgufValue value, readValue(key, type));
    const auto stored =
        bytes_.subspan(static_cast<size_t>(begin), static_cast<size_t>(cursor_.position() - begin));
    entries.push_back({std::move(key), std::move(value), type, stored});
  }
  return entries;
}

Result<GgufValue> Reader::readValue(const std::string &key, GgufValueType type) {
  const std::string what = fmt::format("the value of '{}'", key);
  if (type == GgufValueType::kString) {
    TRAINC_ASSIGN_OR_RETURN(const std::string_view text, cursor_.string(what));
    return GgufValue(text);
  }
  if (type == GgufValueType::kArray) {
    TRAINC_ASSIGN_OR_RETURN(GgufArray array, readArray(key));
    return GgufValue(std::move(array));
  }
  TRAINC_ASSIGN_OR_RETURN(const auto bytes, cursor_.take(infoOf(type).bytes, what));
  return scalar(type, bytes);
}

Result<GgufArray> Reader::readArray(const std::string &key) {
  const uint64_t begin = cursor_.position();
  TRAINC_ASSIGN_OR_RETURN(const GgufValueType type, cursor_.valueType(key));
  TRAINC_ASSIGN_OR_RETURN(const uint64_t count,
                          cursor_.number<uint64_t>("the number of elements of '" + key + "'"));
  if (type == GgufValueType::kArray)
    return invalidInput("{}: byte {}: '{}': expected an array of numbers or strings, found one of arrays",
                        file_, begin, key);
  const uint64_t elementBytes = type == GgufValueType::kString ? sizeof(uint64_t) : infoOf(type).bytes;
  TRAINC_RETURN_IF_ERROR(checkCount(count, elementBytes, fmt::format("elements of '{}'", key)));
  GgufArray array{type, count, {}, {}};
  const uint64_t first = cursor_.position();
  if (type != GgufValueType::kString) {
    TRAINC_ASSIGN_OR_RETURN(array.bytes, cursor_.take(count * elementBytes, "the array '" + key + "'"));
    return array;
  }
  array.strings.reserve(count);
  const std::string what = fmt::format("a string of '{}'", key);
  for (uint64_t i = 0; i < count; ++i) {
    TRAINC_ASSIGN_OR_RETURN(const std::string_view text, cursor_.string(what));
    array.strings.push_back(text);
  }
  array.bytes = bytes_.subspan(static_cast<size_t>(first), static_cast<size_t>(cursor_.position() - first));
  return array;
}

Result<std::vector<GgufTensor>> Reader::readTensors() {
  TRAINC_RETURN_IF_ERROR(checkCount(tensors_, kMinTensorBytes, "tensors"));
  std::vector<GgufTensor> tensors;
  for (uint64_t i = 0; i < tensors_; ++i) {
    TRAINC_ASSIGN_OR_RETURN(GgufTensor tensor, readTensor());
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

Result<GgufTensor> Reader::readTensor() {
  TRAINC_ASSIGN_OR_RETURN(std::string name, cursor_.name("a tensor's name"));
  const std::string where = fmt::format("{}: byte {}: tensor '{}'", file_, cursor_.position(), name);
  TRAINC_ASSIGN_OR_RETURN(const uint32_t extents, cursor_.number<uint32_t>("a number of extents"));
  if (extents == 0 || extents > kMaxExtents)
    return invalidInput("{}: expected 1 to {} extents, found {}", where, kMaxExtents, extents);
  GgufTensor tensor{std::move(name), nullptr, std::vector<uint64_t>(extents), 0, {}};
  for (uint64_t &extent : std::ranges::reverse_view(tensor.shape)) {
    TRAINC_ASSIGN_OR_RETURN(extent, cursor_.number<uint64_t>("an extent"));
    if (extent == 0)
      return invalidInput("{}: expected extents above zero, found one of 0", where);
  }
  TRAINC_ASSIGN_OR_RETURN(const uint32_t type, cursor_.number<uint32_t>("a tensor's type"));
  tensor.type = findGgufType(type);
  if (!tensor.type)
    return invalidInput(
        "{}: expected a known type, such as 0 (F32) or 12 (Q4_K), found {}; it is newer than this "
        "program, or the file is damaged",
        where, type);
  if (tensor.shape.back() % tensor.type->blockElements != 0)
    return invalidInput("{}: expected rows of whole blocks of {} elements ({}), found rows of {}", where,
                        tensor.type->blockElements, tensor.type->name, tensor.shape.back());
  TRAINC_ASSIGN_OR_RETURN(tensor.fileOffset, cursor_.number<uint64_t>("an offset"));
  return tensor;
}

/// Size of a tensor in bytes; nothing if it exceeds 64 bits.
std::optional<uint64_t> byteSize(const GgufTensor &tensor) {
  uint64_t size = tensor.shape.back() / tensor.type->blockElements;
  if (__builtin_mul_overflow(size, uint64_t{tensor.type->blockBytes}, &size))
    return std::nullopt;
  for (size_t i = 0; i + 1 < tensor.shape.size(); ++i)
    if (__builtin_mul_overflow(size, tensor.shape[i], &size))
      return std::nullopt;
  return size;
}

Status Reader::placeTensor(uint64_t dataOffset, uint64_t alignment, GgufTensor &tensor) const {
  const std::string where = fmt::format("{}: tensor '{}'", file_, tensor.name);
  const uint64_t dataBytes = bytes_.size() - std::min<uint64_t>(dataOffset, bytes_.size());
  if (tensor.fileOffset % alignment != 0)
    return invalidInput("{}: expected an offset that is a multiple of the alignment {}, found {}", where,
                        alignment, tensor.fileOffset);
  const std::optional<uint64_t> size = byteSize(tensor);
  if (!size || *size > dataBytes || tensor.fileOffset > dataBytes - *size)
    return invalidInput(
        "{}: {} at offset {} needs {} bytes, which reach beyond the {} bytes after the header; the "
        "file is truncated or damaged",
        where, describe(tensor), tensor.fileOffset, size ? std::to_string(*size) : "more than 2^64",
        dataBytes);
  tensor.fileOffset += dataOffset;
  tensor.bytes = bytes_.subspan(static_cast<size_t>(tensor.fileOffset), static_cast<size_t>(*size));
  return {};
}

Status Reader::placeTensors(uint64_t alignment, std::vector<GgufTensor> &tensors) const {
  const uint64_t dataOffset = (cursor_.position() + alignment - 1) / alignment * alignment;
  for (GgufTensor &tensor : tensors)
    TRAINC_RETURN_IF_ERROR(placeTensor(dataOffset, alignment, tensor));
  return verifyOverlaps(tensors);
}

Status Reader::verifyOverlaps(const std::vector<GgufTensor> &tensors) const {
  std::vector<const GgufTensor *> sorted;
  for (const GgufTensor &tensor : tensors)
    sorted.push_back(&tensor);
  std::ranges::sort(sorted, {}, &GgufTensor::fileOffset);
  for (size_t i = 1; i < sorted.size(); ++i)
    if (const GgufTensor &last = *sorted[i - 1]; sorted[i]->fileOffset - last.fileOffset < last.bytes.size())
      return invalidInput("{}: byte {}: tensor '{}' overlaps tensor '{}', whose {} bytes begin at byte {}",
                          file_, sorted[i]->fileOffset, sorted[i]->name, last.name, last.bytes.size(),
                          last.fileOffset);
  return {};
}

/// Fails for a name that is in `index` already.
Status addName(const std::string &file, std::string_view what, const std::string &name, size_t position,
               std::map<std::string, size_t, std::less<>> &index) {
  if (index.emplace(name, position).second)
    return {};
  return invalidInput("{}: expected each {} once, found '{}' twice; the file is damaged", file, what, name);
}

} // namespace

std::string_view typeName(GgufValueType type) { return infoOf(type).name; }

const GgufTensorType *findGgufType(uint32_t id) {
  const auto *found = std::ranges::find(kTensorTypes, id, &GgufTensorType::id);
  return found == kTensorTypes.end() ? nullptr : found;
}

const GgufTensorType *findGgufType(std::string_view name) {
  const auto *found = std::ranges::find(kTensorTypes, name, &GgufTensorType::name);
  return found == kTensorTypes.end() ? nullptr : found;
}

double GgufArray::number(uint64_t index) const {
  const GgufValue value = scalar(type, bytes.subspan(index * infoOf(type).bytes));
  return std::visit(
      [](const auto &number) -> double {
        if constexpr (std::is_arithmetic_v<std::decay_t<decltype(number)>>)
          return static_cast<double>(number);
        else
          return 0;
      },
      value);
}

std::string describe(const GgufTensor &tensor) {
  return fmt::format("{} [{}]", tensor.type->name, fmt::join(tensor.shape, ", "));
}

// --- The file ---

bool isGguf(const std::filesystem::path &path) {
  const Result<InputFile> file = InputFile::open(path); // which does not wait for a pipe
  std::string begin(kMagic.size(), '\0');
  return file.ok() && file->size() >= begin.size() &&
         file->read(0, std::as_writable_bytes(std::span(begin))).ok() && begin == kMagic;
}

Result<GgufFile> GgufFile::open(const std::filesystem::path &path) {
  TRAINC_ASSIGN_OR_RETURN(MappedFile mapping, MappedFile::open(path));
  Result<GgufFile> file = parse(path.string(), mapping.bytes());
  if (mapping.isLost())
    return lostPages(path.string());
  if (file.ok())
    file->file_ = std::move(mapping);
  return file;
}

Result<GgufFile> GgufFile::parse(std::string name, std::span<const std::byte> bytes) {
  GgufFile file;
  file.path_ = std::move(name);
  Reader reader(file.path_, bytes);
  TRAINC_ASSIGN_OR_RETURN(file.version_, reader.readVersion());
  TRAINC_RETURN_IF_ERROR(reader.readCounts());
  TRAINC_ASSIGN_OR_RETURN(file.metadata_, reader.readMetadata());
  for (size_t i = 0; i < file.metadata_.size(); ++i)
    TRAINC_RETURN_IF_ERROR(addName(file.path_, "key", file.metadata_[i].key, i, file.entryIndex_));
  TRAINC_ASSIGN_OR_RETURN(const auto parts, file.count(kPartsKey));
  if (parts.value_or(1) > 1)
    return invalidInput(
        "{}: expected a whole model, found one of {} parts; merge them: llama-gguf-split --merge", file.path_,
        *parts);
  TRAINC_ASSIGN_OR_RETURN(const auto alignment, file.count(kAlignmentKey));
  if (alignment && (!std::has_single_bit(*alignment) || *alignment > UINT32_MAX))
    return invalidInput("{}: '{}': expected a power of two of 32 bits, found {}", file.path_, kAlignmentKey,
                        *alignment);
  TRAINC_ASSIGN_OR_RETURN(file.tensors_, reader.readTensors());
  for (size_t i = 0; i < file.tensors_.size(); ++i)
    TRAINC_RETURN_IF_ERROR(
        addName(file.path_, "name of a tensor", file.tensors_[i].name, i, file.tensorIndex_));
  TRAINC_RETURN_IF_ERROR(reader.placeTensors(alignment.value_or(kDefaultAlignment), file.tensors_));
  return file;
}

const GgufTensor *GgufFile::findTensor(std::string_view name) const {
  const auto found = tensorIndex_.find(name);
  return found == tensorIndex_.end() ? nullptr : &tensors_[found->second];
}

const GgufValue *GgufFile::find(std::string_view key) const {
  const auto found = entryIndex_.find(key);
  return found == entryIndex_.end() ? nullptr : &metadata_[found->second].value;
}

Result<std::string_view> GgufFile::text(std::string_view key) const {
  const GgufValue *value = find(key);
  if (const auto *text = value ? std::get_if<std::string_view>(value) : nullptr)
    return *text;
  return invalidInput("{}: expected a string '{}' in the metadata, found {}", path_, key,
                      value ? "a value of another type" : "none");
}

Result<std::optional<uint64_t>> GgufFile::count(std::string_view key) const {
  const GgufValue *value = find(key);
  if (!value)
    return std::optional<uint64_t>();
  if (const auto *number = std::get_if<uint64_t>(value))
    return std::optional(*number);
  if (const auto *number = std::get_if<int64_t>(value); number && *number >= 0)
    return std::optional(static_cast<uint64_t>(*number));
  return invalidInput("{}: '{}': expected an integer that is not negative, found something else", path_, key);
}

Result<const GgufArray *> GgufFile::array(std::string_view key, GgufValueType type) const {
  const GgufValue *value = find(key);
  const auto *array = value ? std::get_if<GgufArray>(value) : nullptr;
  if (!value || (array && array->type == type))
    return array;
  return invalidInput("{}: '{}': expected an array of {}, found {}", path_, key, typeName(type),
                      array ? fmt::format("one of {}", typeName(array->type)) : "no array");
}

} // namespace trainc
