#include "runtime/formats/safetensors_view.h"

#include "base/json_text.h"
#include "base/lfs_pointer.h"
#include "base/plain_text.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/ranges.h>

// --- Header: parsing and verification ---

namespace trainc {

namespace {

/// Verified content of a header: tensors sorted by file offset.
struct SafetensorsHeader {
  std::vector<SafetensorsTensor> tensors;
  std::map<std::string, std::string> metadata;
};

using Json = nlohmann::json;

struct DTypeInfo {
  SafetensorsDType dtype;
  std::string_view name;
  size_t bytes;
};

constexpr std::array<DTypeInfo, 15> kDTypes = {{{SafetensorsDType::kF64, "F64", 8},
                                                {SafetensorsDType::kF32, "F32", 4},
                                                {SafetensorsDType::kF16, "F16", 2},
                                                {SafetensorsDType::kBF16, "BF16", 2},
                                                {SafetensorsDType::kI64, "I64", 8},
                                                {SafetensorsDType::kI32, "I32", 4},
                                                {SafetensorsDType::kI16, "I16", 2},
                                                {SafetensorsDType::kI8, "I8", 1},
                                                {SafetensorsDType::kU64, "U64", 8},
                                                {SafetensorsDType::kU32, "U32", 4},
                                                {SafetensorsDType::kU16, "U16", 2},
                                                {SafetensorsDType::kU8, "U8", 1},
                                                {SafetensorsDType::kBool, "BOOL", 1},
                                                {SafetensorsDType::kF8E4M3, "F8_E4M3", 1},
                                                {SafetensorsDType::kF8E5M2, "F8_E5M2", 1}}};

constexpr size_t kLengthBytes = 8;
/// The format's own limit, which also keeps a damaged length from causing a huge parse.
constexpr uint64_t kMaxHeaderBytes = 100'000'000;

const DTypeInfo &infoOf(SafetensorsDType dtype) {
  return *std::ranges::find(kDTypes, dtype, &DTypeInfo::dtype);
}

/// The JSON text, and the offset of the tensors' bytes.
struct Layout {
  std::string_view json;
  uint64_t dataOffset;
  std::span<const std::byte> data;
};

Result<Layout> locate(const std::string &file, std::span<const std::byte> bytes) {
  if (bytes.size() < kLengthBytes)
    return invalidInput(
        "{}: byte 0: expected a safetensors header length of 8 bytes, found a file of {} bytes", file,
        bytes.size());
  if (const std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
      text.starts_with(kLfsPointer))
    return invalidInput("{}: expected a safetensors file, found {}; {}", file, kLfsName, kLfsAdvice);
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), kLengthBytes);
  if (length > kMaxHeaderBytes)
    return invalidInput("{}: byte 0: expected a safetensors header length of at most {}, found {}; is this a "
                        "safetensors file?",
                        file, kMaxHeaderBytes, length);
  if (length > bytes.size() - kLengthBytes)
    return invalidInput(
        "{}: byte 0: the header length {} reaches beyond the end of the file ({} bytes); the file "
        "is truncated",
        file, length, bytes.size());
  const uint64_t dataOffset = kLengthBytes + length;
  return Layout{{reinterpret_cast<const char *>(bytes.data()) + kLengthBytes, static_cast<size_t>(length)},
                dataOffset,
                bytes.subspan(static_cast<size_t>(dataOffset))};
}

/// Parses the header's JSON object; duplicate names are errors.
Result<Json> parseHeader(const std::string &file, std::string_view text) {
  std::string repeated;
  Json json = tryParseJson(text, &repeated);
  if (!json.is_object())
    return invalidInput(
        "{}: byte {}: the {} bytes of header are not a JSON object; the file is damaged or not safetensors",
        file, kLengthBytes, text.size());
  if (!repeated.empty())
    return invalidInput("{}: the header has '{}' twice; the file is damaged", file, printable(repeated));
  return json;
}

Result<std::map<std::string, std::string>> readMetadata(const std::string &file, const Json &json) {
  std::map<std::string, std::string> metadata;
  if (!json.is_object())
    return invalidInput("{}: header: __metadata__ must be an object of strings, found {}", file,
                        json.type_name());
  for (const auto &[key, value] : json.items()) {
    if (!value.is_string())
      return invalidInput("{}: header: __metadata__ '{}' must be a string, found {}", file, printable(key),
                          value.type_name());
    metadata.emplace(key, value.get<std::string>());
  }
  return metadata;
}

/// The array of non-negative integers under `key`.
Result<std::vector<uint64_t>> readIntegers(const std::string &where, const Json &entry, const char *key) {
  const auto array = entry.find(key);
  if (array == entry.end() || !array->is_array())
    return invalidInput("{}: expected an array '{}' of non-negative integers", where, key);
  std::vector<uint64_t> values;
  for (const Json &value : *array) {
    if (!value.is_number_unsigned())
      return invalidInput("{}: expected an array '{}' of non-negative integers, found {} in it", where, key,
                          value.dump(-1, ' ', true, Json::error_handler_t::replace));
    values.push_back(value.get<uint64_t>());
  }
  return values;
}

Result<SafetensorsDType> readDType(const std::string &where, const Json &entry) {
  const auto dtype = entry.find("dtype");
  if (dtype == entry.end() || !dtype->is_string())
    return invalidInput("{}: expected a string 'dtype'", where);
  const auto &name = dtype->get_ref<const std::string &>();
  const std::optional<SafetensorsDType> found = dtypeNamed(name);
  if (!found)
    return invalidInput(
        "{}: unknown dtype '{}'; known are F64, F32, F16, BF16, I64 to I8, U64 to U8, BOOL, F8_E4M3, F8_E5M2",
        where, printable(name));
  return *found;
}

/// Size of a tensor in bytes; nothing if it exceeds 64 bits.
std::optional<uint64_t> byteSize(const std::vector<uint64_t> &shape, size_t elementBytes) {
  uint64_t size = elementBytes;
  for (const uint64_t extent : shape)
    if (__builtin_mul_overflow(size, extent, &size))
      return std::nullopt;
  return size;
}

Result<SafetensorsTensor> readTensor(const std::string &file, const std::string &name, const Json &entry,
                                     const Layout &layout) {
  if (!isPlainText(name))
    return invalidInput("{}: expected names of tensors without control or invisible characters, found '{}'",
                        file, printable(name));
  const std::string where = fmt::format("{}: tensor '{}'", file, name);
  if (!entry.is_object())
    return invalidInput("{}: expected an object with dtype, shape and data_offsets, found {}", where,
                        entry.type_name());
  TRAINC_ASSIGN_OR_RETURN(const SafetensorsDType dtype, readDType(where, entry));
  TRAINC_ASSIGN_OR_RETURN(std::vector<uint64_t> shape, readIntegers(where, entry, "shape"));
  TRAINC_ASSIGN_OR_RETURN(std::vector<uint64_t> offsets, readIntegers(where, entry, "data_offsets"));
  if (offsets.size() != 2 || offsets[0] > offsets[1])
    return invalidInput("{}: data_offsets must be [begin, end] with begin <= end", where);
  const uint64_t fileOffset = layout.dataOffset + std::min<uint64_t>(offsets[0], layout.data.size());
  if (offsets[1] > layout.data.size())
    return invalidInput(
        "{}: byte {}: data_offsets [{}, {}] reach beyond the {} bytes after the header; the file is "
        "truncated or damaged",
        where, fileOffset, offsets[0], offsets[1], layout.data.size());
  SafetensorsTensor tensor{
      name, dtype, std::move(shape), fileOffset,
      layout.data.subspan(static_cast<size_t>(offsets[0]), static_cast<size_t>(offsets[1] - offsets[0]))};
  if (const auto expected = byteSize(tensor.shape, elementBytes(dtype)); expected != tensor.bytes.size())
    return invalidInput("{}: byte {}: {} needs {} bytes, data_offsets give {}", where, fileOffset,
                        describe(tensor), expected ? std::to_string(*expected) : "more than 2^64",
                        tensor.bytes.size());
  return tensor;
}

/// Tensors sorted by offset must follow each other without holes or overlaps up to the end of the file.
Status verifyCoverage(const std::string &file, const std::vector<SafetensorsTensor> &tensors,
                      const Layout &layout) {
  uint64_t end = layout.dataOffset;
  for (const SafetensorsTensor &tensor : tensors) {
    if (tensor.fileOffset != end)
      return invalidInput(
          "{}: byte {}: tensor '{}' {}; expected it at byte {}, after the previous tensor", file,
          tensor.fileOffset, tensor.name,
          tensor.fileOffset < end ? "overlaps the tensor before it" : "leaves a hole before it", end);
    end += tensor.bytes.size();
  }
  if (const uint64_t size = layout.dataOffset + layout.data.size(); end != size)
    return invalidInput("{}: byte {}: {} bytes after the last tensor belong to no tensor", file, end,
                        size - end);
  return {};
}

} // namespace

size_t elementBytes(SafetensorsDType dtype) { return infoOf(dtype).bytes; }

std::optional<SafetensorsDType> dtypeNamed(std::string_view name) {
  const auto *info = std::ranges::find(kDTypes, name, &DTypeInfo::name);
  return info == kDTypes.end() ? std::nullopt : std::optional(info->dtype);
}

std::string_view dtypeName(SafetensorsDType dtype) { return infoOf(dtype).name; }

Result<SafetensorsHeader> readSafetensorsHeader(const std::string &name, std::span<const std::byte> bytes) {
  TRAINC_ASSIGN_OR_RETURN(const Layout layout, locate(name, bytes));
  TRAINC_ASSIGN_OR_RETURN(const Json json, parseHeader(name, layout.json));
  SafetensorsHeader header;
  for (const auto &[key, entry] : json.items()) {
    if (key == "__metadata__") {
      TRAINC_ASSIGN_OR_RETURN(header.metadata, readMetadata(name, entry));
      continue;
    }
    TRAINC_ASSIGN_OR_RETURN(SafetensorsTensor tensor, readTensor(name, key, entry, layout));
    header.tensors.push_back(std::move(tensor));
  }
  std::ranges::sort(header.tensors, {}, [](const SafetensorsTensor &tensor) {
    return std::pair(tensor.fileOffset, tensor.bytes.size());
  });
  TRAINC_RETURN_IF_ERROR(verifyCoverage(name, header.tensors, layout));
  return header;
}

// --- The file ---

std::string describe(const SafetensorsTensor &tensor) {
  return fmt::format("{} [{}]", dtypeName(tensor.dtype), fmt::join(tensor.shape, ", "));
}

Result<SafetensorsView> SafetensorsView::open(const std::filesystem::path &path) {
  TRAINC_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open(path));
  return own(path.string(), std::move(file));
}

Result<SafetensorsView> SafetensorsView::own(std::string name, MappedFile file) {
  Result<SafetensorsView> view = parse(name, file.bytes());
  if (file.isLost())
    return lostPages(name);
  if (view.ok())
    view->file_ = std::move(file);
  return view;
}

Result<SafetensorsView> SafetensorsView::parse(std::string name, std::span<const std::byte> bytes) {
  TRAINC_ASSIGN_OR_RETURN(SafetensorsHeader header, readSafetensorsHeader(name, bytes));
  SafetensorsView view;
  view.path_ = std::move(name);
  view.tensors_ = std::move(header.tensors);
  view.metadata_ = std::move(header.metadata);
  for (size_t i = 0; i < view.tensors_.size(); ++i)
    view.index_.emplace(view.tensors_[i].name, i);
  return view;
}

const SafetensorsTensor *SafetensorsView::find(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &tensors_[found->second];
}

std::string SafetensorsView::names() const {
  if (index_.empty())
    return "none";
  std::string list;
  for (const auto &[name, position] : index_)
    list += (list.empty() ? "" : ", ") + name;
  return list;
}

} // namespace trainc
