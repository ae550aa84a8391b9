// Test cases in safetensors files: "NAME.bound" is the bound of case NAME, "NAME.argument.0" the bytes of its
// first argument, "NAME.expected.0" and "NAME.slack.0" the numbers of its first result.
#include "base/file.h"
#include "plan/file/file.h"
#include "runtime/formats/safetensors_layout.h"
#include "runtime/formats/safetensors_view.h"
#include "tools/cases/cases.h"

#include <cstring>

namespace trainc::cases {

namespace {

constexpr std::string_view kBound = ".bound";

std::string expectedName(std::string_view function, size_t index) {
  return fmt::format("{}.expected.{}", function, index);
}

std::string slackName(std::string_view function, size_t index) {
  return fmt::format("{}.slack.{}", function, index);
}

/// Tensors to be written to a file.
class Tensors {
public:
  void add(std::string name, std::span<const std::byte> bytes) { add(std::move(name), "U8", 1, bytes); }
  void add(std::string name, std::span<const double> numbers) {
    add(std::move(name), "F64", sizeof(double), std::as_bytes(numbers));
  }

  Status write(const std::filesystem::path &path) const {
    const SafetensorsLayout layout = layOutSafetensors(entries_);
    std::vector<std::span<const std::byte>> parts = {std::as_bytes(std::span(layout.header))};
    parts.insert(parts.end(), bytes_.begin(), bytes_.end());
    return writeFileAtomically(path, parts);
  }

private:
  void add(std::string name, std::string_view dtype, size_t element, std::span<const std::byte> bytes) {
    entries_.push_back({std::move(name), dtype, {bytes.size() / element}, bytes.size()});
    bytes_.push_back(bytes);
  }

  std::vector<TensorEntry> entries_;
  std::vector<std::span<const std::byte>> bytes_;
};

Result<std::vector<double>> numbers(const SafetensorsView &file, const std::string &name) {
  const SafetensorsTensor *tensor = file.find(name);
  if (!tensor || tensor->dtype != SafetensorsDType::kF64)
    return invalidInput("{}: expected a tensor '{}' of F64, found {}", file.path(), name,
                        tensor ? describe(*tensor) : "none");
  std::vector<double> numbers(tensor->elements());
  std::memcpy(numbers.data(), tensor->bytes.data(), tensor->bytes.size());
  return numbers;
}

Result<Case> readCase(const SafetensorsView &file, std::string name) {
  Case read;
  read.name = std::move(name);
  TRAINC_ASSIGN_OR_RETURN(const std::vector<double> bound, numbers(file, read.name + std::string(kBound)));
  if (bound.size() != 1)
    return invalidInput("{}: expected one number in '{}{}', found {}", file.path(), read.name, kBound,
                        bound.size());
  read.bound = bound[0];
  while (const SafetensorsTensor *tensor =
             file.find(stateName(read.name, Part::kArgument, read.arguments.size())))
    read.arguments.emplace_back(tensor->bytes.begin(), tensor->bytes.end());
  while (file.find(expectedName(read.name, read.results.size()))) {
    ExpectedResult result;
    TRAINC_ASSIGN_OR_RETURN(result.numbers, numbers(file, expectedName(read.name, read.results.size())));
    TRAINC_ASSIGN_OR_RETURN(result.slack, numbers(file, slackName(read.name, read.results.size())));
    if (result.numbers.size() != result.slack.size())
      return invalidInput("{}: expected {} numbers in '{}', found {}", file.path(), result.numbers.size(),
                          slackName(read.name, read.results.size()), result.slack.size());
    read.results.push_back(std::move(result));
  }
  if (read.results.empty())
    return invalidInput("{}: expected a tensor '{}', found none", file.path(), expectedName(read.name, 0));
  return read;
}

} // namespace

Status write(const std::filesystem::path &folder, const std::string &name, std::span<const uint8_t> payload,
             std::span<const Case> cases) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return failed("cannot make the folder {}: {}", folder.string(), error.message());
  Tensors tensors;
  for (const Case &each : cases) {
    tensors.add(each.name + std::string(kBound), std::span(&each.bound, 1));
    for (size_t i = 0; i < each.arguments.size(); ++i)
      tensors.add(stateName(each.name, Part::kArgument, i), std::span(each.arguments[i]));
    for (size_t i = 0; i < each.results.size(); ++i) {
      tensors.add(expectedName(each.name, i), std::span(each.results[i].numbers));
      tensors.add(slackName(each.name, i), std::span(each.results[i].slack));
    }
  }
  TRAINC_RETURN_IF_ERROR(writePlanFile(folder / (name + ".plan"), payload));
  return tensors.write(folder / (name + ".safetensors"));
}

Result<std::vector<Case>> read(const std::filesystem::path &plan) {
  std::filesystem::path path = plan;
  path.replace_extension(".safetensors");
  TRAINC_ASSIGN_OR_RETURN(const SafetensorsView file, SafetensorsView::open(path));
  std::vector<Case> cases;
  for (const SafetensorsTensor &tensor : file.tensors())
    if (tensor.name.ends_with(kBound)) {
      TRAINC_ASSIGN_OR_RETURN(Case next,
                              readCase(file, tensor.name.substr(0, tensor.name.size() - kBound.size())));
      cases.push_back(std::move(next));
    }
  if (cases.empty())
    return invalidInput("{}: expected cases, found no tensor whose name ends in '{}'", path.string(), kBound);
  TRAINC_RETURN_IF_ERROR(file.check());
  return cases;
}

} // namespace trainc::cases
