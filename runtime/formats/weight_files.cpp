#include "runtime/formats/weight_files.h"

#include "base/hash.h"
#include "base/input_file.h"
#include "base/json_text.h"
#include "base/plain_text.h"
#include "runtime/formats/adapter_names.h"
#include "runtime/formats/gguf_weights.h"

#include <algorithm>
#include <set>

namespace trainc {

namespace {

namespace fs = std::filesystem;

constexpr const char *kFile = "model.safetensors", *kIndex = "model.safetensors.index.json",
                     *kTorchFile = "pytorch_model.bin", *kTorchAdapterFile = "adapter_model.bin";

/// Rejects paths: an index from an untrusted source must not refer to files outside its folder, or to other
/// files of the model, which an export would write twice.
bool isNameOfWeights(std::string_view name) {
  return name.ends_with(".safetensors") && name.find('/') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

/// Name of the weights in a folder, in Hugging Face's search order; empty if there are none.
Result<fs::path> nameInFolder(const fs::path &folder) {
  for (const char *name : {kFile, kIndex, kAdapterFile}) {
    std::error_code error;
    if (fs::exists(folder / name, error))
      return fs::path(name);
    if (error)
      return invalidInput("{}: cannot look for {} in it: {}", folder.string(), name, error.message());
  }
  return fs::path();
}

Result<fs::path> findInFolder(const fs::path &folder) {
  TRAINC_ASSIGN_OR_RETURN(const fs::path name, nameInFolder(folder));
  if (!name.empty())
    return folder / name;
  if (std::error_code error; fs::exists(folder / kTorchFile, error))
    return invalidInput("{}: expected a {} or a {} in this folder, found {}; {}", folder.string(), kFile,
                        kIndex, kTorchFile, kWeightsFromTorch);
  if (std::error_code error; fs::exists(folder / kTorchAdapterFile, error))
    return invalidInput("{}: expected an {} in this folder, found {}; save the adapter again in PEFT: "
                        "model.save_pretrained(FOLDER, safe_serialization=True)",
                        folder.string(), kAdapterFile, kTorchAdapterFile);
  std::error_code error;
  for (const fs::directory_entry &entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".gguf")
      return invalidInput("{}: expected a {} or a {} in this folder, found {}; name that file",
                          folder.string(), kFile, kIndex, printable(entry.path().filename().string()));
  return invalidInput("{}: expected a {} or a {} in this folder", folder.string(), kFile, kIndex);
}

} // namespace

Result<bool> holdsWeights(const fs::path &folder) {
  TRAINC_ASSIGN_OR_RETURN(const fs::path name, nameInFolder(folder));
  return !name.empty();
}

Result<WeightIndex> parseWeightIndex(const std::string &path, std::string_view text) {
  TRAINC_ASSIGN_OR_RETURN(const nlohmann::json json, parseJsonOnce(path, text));
  const auto map = json.is_object() ? json.find("weight_map") : json.end();
  if (map == json.end() || !map->is_object() || map->empty())
    return invalidInput("{}: expected an object with a \"weight_map\" from the names of tensors to files, as "
                        "a {} has; name that, a .safetensors file, or the folder of the weights",
                        path, kIndex);
  WeightIndex index;
  for (const auto &[tensor, file] : map->items()) {
    if (!file.is_string())
      return invalidInput("{}: weight_map: expected the name of a file for '{}', found {}", path,
                          printable(tensor), file.type_name());
    const auto &name = file.get_ref<const std::string &>();
    if (!isNameOfWeights(name))
      return invalidInput(
          "{}: weight_map: '{}' is said to be in '{}'; expected the name of a .safetensors file "
          "beside the index, without a folder",
          path, printable(tensor), printable(name));
    index.emplace(tensor, name);
  }
  return index;
}

WeightFiles::WeightFiles(SafetensorsView file) : path_(file.path()) {
  files_.push_back(std::move(file));
  takeTensors();
  for (const WeightTensor &tensor : tensors_)
    index_.emplace(tensor.name, &tensor);
}

Result<WeightFiles> WeightFiles::open(const fs::path &path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    TRAINC_ASSIGN_OR_RETURN(const fs::path found, findInFolder(path));
    return open(found);
  }
  if (path.extension() == ".json")
    return openIndex(path);
  if (isGguf(path))
    return openGguf(path);
  TRAINC_ASSIGN_OR_RETURN(SafetensorsView file, SafetensorsView::open(path));
  return WeightFiles(std::move(file));
}

Result<WeightFiles> WeightFiles::openGguf(const fs::path &path) {
  TRAINC_ASSIGN_OR_RETURN(GgufFile file, GgufFile::open(path));
  WeightFiles weights(path.string(), {});
  TRAINC_ASSIGN_OR_RETURN(weights.tensors_, huggingFaceTensors(file));
  weights.gguf_ = std::move(file);
  TRAINC_RETURN_IF_ERROR(weights.indexTensors());
  return weights;
}

Result<WeightFiles> WeightFiles::openIndex(const fs::path &path) {
  TRAINC_ASSIGN_OR_RETURN(const std::string text, readWholeFile(path));
  TRAINC_ASSIGN_OR_RETURN(const WeightIndex index, parseWeightIndex(path.string(), text));
  std::set<std::string> names;
  for (const auto &[tensor, name] : index)
    names.insert(name);
  std::vector<SafetensorsView> views;
  for (const std::string &name : names) {
    TRAINC_ASSIGN_OR_RETURN(SafetensorsView view, SafetensorsView::open(path.parent_path() / name));
    views.push_back(std::move(view));
  }
  WeightFiles files(path.string(), std::move(views));
  files.takeTensors();
  TRAINC_RETURN_IF_ERROR(files.indexTensors());
  TRAINC_RETURN_IF_ERROR(files.checkIndex(index));
  return files;
}

void WeightFiles::takeTensors() {
  for (const SafetensorsView &file : files_)
    for (const SafetensorsTensor &tensor : file.tensors())
      tensors_.emplace_back(tensor, file.path());
}

Status WeightFiles::indexTensors() {
  for (const WeightTensor &tensor : tensors_)
    if (const auto [known, isNew] = index_.emplace(tensor.name, &tensor); !isNew)
      return invalidInput("{}: tensor '{}' is in two files, {} and {}", path_, tensor.name,
                          known->second->file, tensor.file);
  return {};
}

Result<WeightFiles> WeightFiles::join(std::vector<WeightFiles> parts) {
  if (parts.size() == 1)
    return std::move(parts.front());
  std::string path;
  for (const WeightFiles &part : parts)
    path += (path.empty() ? "" : ", ") + part.path();
  WeightFiles joined(path, {});
  joined.parts_ = std::move(parts);
  for (const WeightFiles &part : joined.parts_)
    joined.tensors_.insert(joined.tensors_.end(), part.tensors().begin(), part.tensors().end());
  TRAINC_RETURN_IF_ERROR(joined.indexTensors());
  return joined;
}

Status WeightFiles::rename(const std::function<std::string(const std::string &)> &renamed) {
  index_.clear();
  std::map<std::string, std::string> before; // by the new name
  for (WeightTensor &tensor : tensors_) {
    std::string name = renamed(tensor.name);
    if (const auto [known, isNew] = before.emplace(name, tensor.name); !isNew)
      return invalidInput("{}: tensors '{}' and '{}' would both be '{}'", path_, known->second, tensor.name,
                          name);
    tensor.name = std::move(name);
    index_.emplace(tensor.name, &tensor);
  }
  return {};
}

Status WeightFiles::replaceTensors(std::vector<WeightTensor> tensors) {
  index_.clear();
  tensors_ = std::move(tensors);
  return indexTensors();
}

Status WeightFiles::checkIndex(const WeightIndex &index) const {
  for (const WeightTensor &tensor : tensors_)
    if (!index.contains(tensor.name))
      return invalidInput(
          "{}: expected all tensors of the files in the index, found '{}' in {} alone; the index "
          "and the files do not belong together: copy them again, or name the file itself",
          path_, tensor.name, tensor.file);
  for (const auto &[tensor, name] : index) {
    const WeightTensor *found = find(tensor);
    if (!found || fs::path(found->file).filename() != name)
      return invalidInput("{}: the index says that tensor '{}' is in '{}'; it is {}", path_, tensor, name,
                          found ? "in " + found->file : "in none of the files");
  }
  return {};
}

std::vector<std::string> WeightFiles::filePaths() const {
  std::vector<std::string> paths;
  for (const SafetensorsView &file : files_)
    paths.push_back(file.path());
  if (gguf_)
    paths.push_back(gguf_->path());
  for (const WeightFiles &part : parts_)
    std::ranges::copy(part.filePaths(), std::back_inserter(paths));
  return paths;
}

Status WeightFiles::check() const {
  for (const SafetensorsView &file : files_)
    TRAINC_RETURN_IF_ERROR(file.check());
  for (const WeightFiles &part : parts_)
    TRAINC_RETURN_IF_ERROR(part.check());
  return gguf_ ? gguf_->check() : Status();
}

uint64_t WeightFiles::fingerprint() const {
  constexpr size_t kBytes = size_t{1} << 12;
  StreamHash hash;
  for (const WeightTensor &tensor : tensors_) {
    const std::string header = fmt::format("{} {}", tensor.name, describe(tensor));
    hash.update(std::as_bytes(std::span(header)));
    hash.update(tensor.stored.first(std::min(kBytes, tensor.stored.size())));
  }
  return hash.digest();
}

const WeightTensor *WeightFiles::find(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : found->second;
}

} // namespace trainc
