// Safetensors files: one row of each tensor per sample. If only "labels" is missing, the labels are the
// tokens shifted by one, and the last one is the ignored value.
#include "base/nearest_word.h"
#include "plan/facts/dtype.h"
#include "runtime/data/formats/data_format.h"
#include "runtime/data/formats/foreign_file.h"

#include <algorithm>
#include <fmt/ranges.h>
#include <functional>
#include <numeric>

namespace trainc {

namespace {

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
  if (name == "tokens" && tensors.find("input_ids"))
    return "; what Hugging Face calls input_ids is called tokens here: rename it in the file";
  std::vector<std::string> names;
  for (const SafetensorsTensor &tensor : tensors.tensors())
    names.push_back(tensor.name);
  const std::string nearest = findNearest(name, names);
  return nearest.empty()
             ? ""
             : fmt::format("; if '{}' is meant, rename it in one of the two, file or model", nearest);
}

class SafetensorsReader : public DataReader {
public:
  explicit SafetensorsReader(DataSource source) : DataReader(std::move(source)) {}

  Status bind(const std::vector<ColumnSpec> &columns, const SafetensorsView &tensors) {
    if (columns.empty())
      return invalidInput("{}: the plan takes no data", path());
    for (const ColumnSpec &spec : columns)
      TRAINC_RETURN_IF_ERROR(bindTensor(spec, tensors));
    if (samples_ == 0)
      return invalidInput("{}: expected at least one sample, found columns with none ({})", path(),
                          tensors.names());
    warning_ = warningOfUnread(columns, tensors);
    return {};
  }

  std::string explain(const FileColumn &column, std::string_view value) const override {
    const ColumnSpec &spec = column.spec;
    const bool isClass = spec.shape.empty();
    const IntegerBounds bounds = integerBounds(spec);
    if (isClass && value.starts_with('-'))
      return bounds.ignores
                 ? fmt::format("; if it marks what does not count, write {} instead", bounds.ignore)
                 : "";
    if (isClass && value == fmt::to_string(spec.limit))
      return fmt::format("; classes count from 0 to {}: if those of the file begin at 1, subtract 1",
                         spec.limit - 1);
    if (isClass)
      return "; has the model all classes of the data?";
    if (spec.name == "tokens" || spec.name == "labels")
      return "; was the file made with another tokenizer?";
    return fmt::format("; the model takes values from 0 to {} in this column", spec.limit - 1);
  }

private:
  /// Names the tensors of the file that are no column of the model, which a user may take for some; empty if
  /// there is none.
  std::string warningOfUnread(const std::vector<ColumnSpec> &specs, const SafetensorsView &tensors) const {
    std::vector<std::string> unread;
    bool hasMask = false;
    for (const SafetensorsTensor &tensor : tensors.tensors())
      if (std::ranges::find(specs, tensor.name, &ColumnSpec::name) == specs.end()) {
        unread.push_back(tensor.name);
        hasMask |= tensor.name == "attention_mask" || tensor.name == "loss_mask";
      }
    if (unread.empty())
      return "";
    const auto labels = std::ranges::find(specs, "labels", &ColumnSpec::name);
    const bool hasLabels = labels != specs.end();
    return fmt::format(
        "{}: the model does not read {}{}{}", path(), fmt::join(unread, ", "),
        hasLabels && !tensors.find("labels") ? "; the labels are the tokens shifted by one" : "",
        hasLabels && hasMask
            ? fmt::format("; all positions count: write {} as the label of those that are not to",
                          labels->ignore)
            : "");
  }

  Status bindTensor(const ColumnSpec &spec, const SafetensorsView &tensors) {
    const SafetensorsTensor *tensor = tensors.find(spec.name);
    const bool shifted = !tensor && spec.name == "labels" && isInteger(spec.dtype) &&
                         spec.shape.size() == 1 && spec.elements() > 1;
    const std::string_view name = shifted ? "tokens" : std::string_view(spec.name);
    if (shifted)
      tensor = tensors.find("tokens");
    if (!tensor)
      return invalidInput("{}: the plan needs the column '{}' {}; the file has: {}{}", path(), name,
                          describe(spec), tensors.names(), adviceOnName(std::string(name), tensors));
    if (tensor->shape.empty() || !std::ranges::equal(std::span(tensor->shape).subspan(1), spec.shape))
      return invalidInput("{}: column '{}' is {}, the plan needs {}; {}", path(), tensor->name,
                          describe(*tensor), describe(spec), adviceOnShape(tensor->shape, spec));
    const uint64_t samples = tensor->shape[0];
    if (!columns().empty() && samples != samples_)
      return invalidInput(
          "{}: column '{}' has {} samples, column '{}' has {}; all columns need the same number", path(),
          tensor->name, samples, columns().front().spec.name, samples_);
    samples_ = samples;
    const uint64_t length = spec.elements();
    const uint64_t shift = shifted ? elementBytes(tensor->dtype) : 0;
    return addColumn(
        {spec, tensor->dtype, tensor->fileOffset + shift, length, shifted ? length - 1 : length});
  }
};

Result<std::unique_ptr<DataReader>> openSafetensors(DataSource source, const std::vector<ColumnSpec> &columns,
                                                    const TokenFileOptions &) {
  const Result<SafetensorsView> tensors = SafetensorsView::open(source.path);
  if (!tensors.ok()) {
    const std::optional<ForeignKind> kind = findForeignKind(source.path);
    return kind ? invalidInput("{}: expected a safetensors file, found {}; {}", source.path.string(),
                               kind->name, kind->forColumns)
                : tensors.status();
  }
  auto reader = std::make_unique<SafetensorsReader>(std::move(source));
  TRAINC_RETURN_IF_ERROR(reader->bind(columns, *tensors));
  return std::unique_ptr<DataReader>(std::move(reader));
}

} // namespace

extern const DataFormat kSafetensorsFormat = {
    .recognises = [](const DataSource &source) { return source.path.extension() == ".safetensors"; },
    .open = openSafetensors,
};

} // namespace trainc
