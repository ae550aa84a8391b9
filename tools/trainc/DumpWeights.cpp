#include "tools/trainc/DumpWeights.h"

#include "base/plain_text.h"
#include "base/units.h"
#include "runtime/formats/gguf_names.h"
#include "runtime/formats/weight_files.h"

#include <algorithm>
#include <fmt/ranges.h>
#include <iterator>

namespace trainc {

namespace {

/// Bytes of a string, and elements of an array, that are printed.
constexpr size_t kShownBytes = 100, kShownElements = 4;

/// Lines of cells, aligned in columns.
class Columns {
public:
  void add(std::vector<std::string> cells) {
    widths_.resize(std::max(widths_.size(), cells.size()));
    for (size_t i = 0; i < cells.size(); ++i)
      widths_[i] = std::max(widths_[i], cells[i].size());
    lines_.push_back(std::move(cells));
  }

  std::string text() const {
    std::string text;
    for (const std::vector<std::string> &cells : lines_) {
      std::string line;
      for (size_t i = 0; i < cells.size(); ++i)
        line += fmt::format("{:<{}}", cells[i], i + 1 < cells.size() ? widths_[i] + 2 : 0);
      text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
    }
    return text;
  }

private:
  std::vector<size_t> widths_;
  std::vector<std::vector<std::string>> lines_;
};

std::string inQuotes(std::string_view text) {
  const bool isLong = text.size() > kShownBytes;
  if (isLong) {
    size_t end = kShownBytes; // the begin of a character
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
      --end;
    text = text.substr(0, end);
  }
  return fmt::format("\"{}\"{}", printable(text), isLong ? "..." : "");
}

std::string textOf(const GgufArray &array) {
  std::vector<std::string> shown;
  for (uint64_t i = 0; i < std::min<uint64_t>(array.count, kShownElements); ++i)
    shown.push_back(array.type == GgufValueType::kString ? inQuotes(array.strings[i])
                                                         : fmt::format("{}", array.number(i)));
  return fmt::format("{} of {}: {}{}", array.count, typeName(array.type), fmt::join(shown, ", "),
                     array.count > kShownElements ? ", ..." : "");
}
std::string textOf(std::string_view text) { return inQuotes(text); }
template <typename Number> std::string textOf(const Number &number) { return fmt::format("{}", number); }

std::string shapeOf(const std::vector<uint64_t> &shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

/// Hugging Face's name of a tensor, as far as it is known.
std::string takenAs(const GgufFamily *family, const std::string &name) {
  if (isComputedInGguf(name))
    return "left out";
  const auto renamed = family ? huggingFaceName(*family, name) : std::nullopt;
  return renamed ? renamed->name : "";
}

Result<std::string> ggufText(const std::filesystem::path &path) {
  TRAINC_ASSIGN_OR_RETURN(const GgufFile file, GgufFile::open(path));
  const GgufFamily *family = findGgufFamily(file);
  Columns metadata, tensors;
  for (const GgufEntry &entry : file.metadata())
    metadata.add({entry.key, std::visit([](const auto &value) { return textOf(value); }, entry.value)});
  uint64_t elements = 0, bytes = 0;
  for (const GgufTensor &tensor : file.tensors()) {
    tensors.add(
        {tensor.name, std::string(tensor.type->name), shapeOf(tensor.shape), takenAs(family, tensor.name)});
    elements += tensor.elements();
    bytes += tensor.bytes.size();
  }
  TRAINC_RETURN_IF_ERROR(file.check());
  return fmt::format("GGUF {}: {} metadata entries, {} tensors of {} elements in {}\n\n{}\n{}",
                     file.version(), file.metadata().size(), file.tensors().size(), elements,
                     formatBytes(bytes), metadata.text(), tensors.text());
}

Result<std::string> safetensorsText(const std::filesystem::path &path) {
  TRAINC_ASSIGN_OR_RETURN(const SafetensorsView file, SafetensorsView::open(path));
  Columns metadata, tensors;
  for (const auto &[key, value] : file.metadata())
    metadata.add({printable(key), inQuotes(value)});
  uint64_t elements = 0, bytes = 0;
  for (const SafetensorsTensor &tensor : file.tensors()) {
    tensors.add({tensor.name, std::string(dtypeName(tensor.dtype)), shapeOf(tensor.shape)});
    elements += tensor.elements();
    bytes += tensor.bytes.size();
  }
  TRAINC_RETURN_IF_ERROR(file.check());
  return fmt::format("safetensors: {} metadata entries, {} tensors of {} elements in {}\n\n{}\n{}",
                     file.metadata().size(), file.tensors().size(), elements, formatBytes(bytes),
                     metadata.text(), tensors.text());
}

} // namespace

bool isWeightFile(const std::filesystem::path &path) {
  return path.extension() == ".safetensors" || isGguf(path);
}

Result<std::string> weightsText(const std::filesystem::path &path) {
  return isGguf(path) ? ggufText(path) : safetensorsText(path);
}

} // namespace trainc
