#include "runtime/formats/safetensors_view.h"

#include "runtime/formats/safetensors_header.h"

#include <fmt/ranges.h>

namespace trainc {

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
