#include "runtime/formats/gguf_weights.h"

#include "base/plain_text.h"
#include "runtime/formats/gguf_blocks.h"

#include <algorithm>

namespace trainc {

namespace {

/// Elements of a Hugging Face tensor with `rows` rows, computed from those of a GGUF.
class GgufElements : public ElementDecoder {
public:
  GgufElements(const GgufTensor &tensor, GgufChange change, GgufHeads heads,
               const std::vector<uint64_t> &shape)
      : type_(*tensor.type), stored_(tensor.bytes), change_(change), heads_(heads), rows_(shape.front()),
        columns_(tensor.elements() / shape.front()) {}

  void decode(uint64_t first, std::span<float> elements) const override {
    if (change_ == GgufChange::kTransposed)
      return decodeTransposed(first, elements);
    if (change_ == GgufChange::kNone || change_ == GgufChange::kPlusOne)
      decodeGgufElements(type_, stored_, first, elements);
    else
      decodeRows(first, elements);
    if (change_ == GgufChange::kPlusOne)
      for (float &element : elements)
        element -= 1;
  }

private:
  void decodeRows(uint64_t first, std::span<float> elements) const {
    while (!elements.empty()) {
      const uint64_t row = first / columns_, column = first % columns_;
      const uint64_t count = std::min<uint64_t>(columns_ - column, elements.size());
      decodeGgufElements(type_, stored_, storedRow(change_, heads_, rows_, row) * columns_ + column,
                         elements.first(count));
      elements = elements.subspan(count);
      first += count;
    }
  }

  /// A column of the tensor is a row of the file. Decodes the part of each that lies in the wanted rows.
  void decodeTransposed(uint64_t first, std::span<float> elements) const {
    if (elements.empty())
      return;
    const uint64_t firstRow = first / columns_, endRow = (first + elements.size() - 1) / columns_ + 1;
    std::vector<float> part(endRow - firstRow);
    for (uint64_t column = 0; column < columns_; ++column) {
      decodeGgufElements(type_, stored_, column * rows_ + firstRow, part);
      for (uint64_t row = firstRow; row < endRow; ++row)
        if (const uint64_t element = row * columns_ + column; element - first < elements.size())
          elements[element - first] = part[row - firstRow];
    }
  }

  const GgufTensorType &type_;
  std::span<const std::byte> stored_;
  GgufChange change_;
  GgufHeads heads_;
  uint64_t rows_, columns_;
};

/// The element type in safetensors, if the bytes are the same.
std::optional<SafetensorsDType> sameDType(const GgufTensorType &type) {
  for (const SafetensorsDType dtype :
       {SafetensorsDType::kF32, SafetensorsDType::kF16, SafetensorsDType::kBF16})
    if (type.name == dtypeName(dtype))
      return dtype;
  return std::nullopt;
}

/// A file's family, and its heads, which are read when a tensor needs them.
class Converter {
public:
  Converter(const GgufFile &file, std::string_view architecture, const GgufFamily &family)
      : file_(file), architecture_(architecture), family_(family) {}

  Result<WeightTensor> convert(const GgufTensor &tensor) {
    if (!isDecodable(*tensor.type))
      return invalidInput(
          "{}: tensor '{}': expected elements of {}, found {}; use a file of the model in another type, "
          "such as Q8_0",
          file_.path(), tensor.name, decodableTypes(), tensor.type->name);
    const GgufRename renamed =
        huggingFaceName(family_, tensor.name).value_or(GgufRename{tensor.name, GgufChange::kNone});
    const std::optional<SafetensorsDType> dtype =
        renamed.change == GgufChange::kNone ? sameDType(*tensor.type) : std::nullopt;
    WeightTensor weight(renamed.name, dtype.value_or(SafetensorsDType::kF32), tensor.shape, file_.path(),
                        tensor.fileOffset, tensor.bytes);
    if (renamed.change == GgufChange::kTransposed)
      std::ranges::reverse(weight.shape);
    if (!dtype) {
      TRAINC_RETURN_IF_ERROR(checkHeads(tensor, renamed.change));
      weight.decoder = std::make_shared<GgufElements>(tensor, renamed.change, heads_, weight.shape);
    }
    return weight;
  }

private:
  Status checkHeads(const GgufTensor &tensor, GgufChange change) {
    if (rowParts(change, {}) == 1)
      return {};
    if (!hasHeads_) {
      TRAINC_ASSIGN_OR_RETURN(heads_, ggufHeads(file_, architecture_));
      hasHeads_ = true;
    }
    const uint64_t parts = rowParts(change, heads_);
    if (tensor.shape.front() % parts == 0)
      return {};
    return invalidInput(
        "{}: tensor '{}': expected rows in {} equal parts, for {} heads of queries and {} of keys, "
        "found {}",
        file_.path(), tensor.name, parts, heads_.queries, heads_.keys, describe(tensor));
  }

  const GgufFile &file_;
  std::string_view architecture_;
  const GgufFamily &family_;
  GgufHeads heads_; ///< if they are known
  bool hasHeads_ = false;
};

} // namespace

Result<GgufHeads> ggufHeads(const GgufFile &file, std::string_view architecture) {
  const std::string key = fmt::format("{}.attention.head_count", architecture);
  TRAINC_ASSIGN_OR_RETURN(const auto queries, file.count(key));
  TRAINC_ASSIGN_OR_RETURN(const auto keys, file.count(key + "_kv"));
  const GgufHeads heads{queries.value_or(0), keys.value_or(queries.value_or(0))};
  // The bound keeps sums of both numbers from overflowing.
  if (heads.queries > 0 && heads.queries <= UINT32_MAX && heads.keys > 0 && heads.queries % heads.keys == 0)
    return heads;
  return invalidInput("{}: expected '{}' heads that '{}_kv' divides, found {} and {}", file.path(), key, key,
                      heads.queries, heads.keys);
}

uint64_t rowParts(GgufChange change, GgufHeads heads) {
  switch (change) {
  case GgufChange::kRotaryQueries:
    return 2 * heads.queries;
  case GgufChange::kRotaryKeys:
    return 2 * heads.keys;
  case GgufChange::kFusedHeads:
    return heads.queries + 2 * heads.keys;
  default:
    return 1;
  }
}

/// Hugging Face has a group for each key head: its queries, the key and the value.
static uint64_t storedRowOfFused(GgufHeads heads, uint64_t rows, uint64_t row) {
  const uint64_t headRows = rows / (heads.queries + 2 * heads.keys);
  const uint64_t groupQueries = heads.queries / heads.keys;
  const uint64_t group = row / headRows / (groupQueries + 2), member = row / headRows % (groupQueries + 2);
  const uint64_t head = member < groupQueries    ? group * groupQueries + member
                        : member == groupQueries ? heads.queries + group
                                                 : heads.queries + heads.keys + group;
  return head * headRows + row % headRows;
}

uint64_t storedRow(GgufChange change, GgufHeads heads, uint64_t rows, uint64_t row) {
  if (change == GgufChange::kFusedHeads)
    return storedRowOfFused(heads, rows, row);
  const uint64_t headRows = rows / (change == GgufChange::kRotaryKeys ? heads.keys : heads.queries);
  const uint64_t head = row / headRows, half = row % headRows / (headRows / 2), index = row % (headRows / 2);
  return head * headRows + index * 2 + half;
}

Result<std::vector<WeightTensor>> huggingFaceTensors(const GgufFile &file) {
  TRAINC_ASSIGN_OR_RETURN(const std::string_view architecture, file.text("general.architecture"));
  const GgufFamily *family = findGgufFamily(file);
  if (!family)
    return invalidInput(
        "{}: expected a model of {}, found one of '{}', whose names of tensors are not known; convert it "
        "to safetensors",
        file.path(), ggufFamilies(), printable(architecture));
  Converter converter(file, architecture, *family);
  std::vector<WeightTensor> weights;
  for (const GgufTensor &tensor : file.tensors()) {
    if (isComputedInGguf(tensor.name))
      continue;
    TRAINC_ASSIGN_OR_RETURN(WeightTensor weight, converter.convert(tensor));
    weights.push_back(std::move(weight));
  }
  return weights;
}

} // namespace trainc
