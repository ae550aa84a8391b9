// Files of a model's weights: safetensors, one or several with Hugging Face's index, or a GGUF file.
#pragma once

#include "runtime/formats/gguf_file.h"
#include "runtime/formats/weight_tensor.h"

#include <functional>

namespace trainc {

/// Advice for weights that torch.save wrote to FILE.
inline constexpr std::string_view kWeightsFromTorch =
    "convert it in Python: safetensors.torch.save_file({name: tensor.contiguous().clone() for name, tensor "
    "in torch.load('FILE', weights_only=True).items()}, 'model.safetensors')";

/// Maps the name of a tensor to the name of its file.
using WeightIndex = std::map<std::string, std::string, std::less<>>;

/// Reads a `model.safetensors.index.json`: {"weight_map": {tensor: file}, ...}. Errors (kInvalidInput) name
/// `path` and the cause. File names must be plain names in the folder of the index.
Result<WeightIndex> parseWeightIndex(const std::string &path, std::string_view text);

/// Whether a folder has a model.safetensors, an index or an adapter; fails with kInvalidInput if the folder
/// cannot be read.
Result<bool> holdsWeights(const std::filesystem::path &folder);

/// Weights by name. Moving the object keeps pointers to tensors valid.
class WeightFiles {
public:
  /// `path` is a safetensors file, a GGUF file, an index (*.json), or a folder with a model.safetensors, a
  /// model.safetensors.index.json or an adapter_model.safetensors. Tensors of a GGUF file have Hugging Face's
  /// names. Errors (kInvalidInput) name the file that is missing or damaged, or the tensor that is not in its
  /// indexed file, occurs in two files, or has a type that is not known.
  static Result<WeightFiles> open(const std::filesystem::path &path);
  /// Wraps one open file.
  explicit WeightFiles(SafetensorsView file);

  /// Puts the tensors of several files together. Fails with kInvalidInput if a tensor is in two of them.
  static Result<WeightFiles> join(std::vector<WeightFiles> parts);
  /// Gives each tensor the name that `renamed` returns for its name. Fails with kInvalidInput if two tensors
  /// would have the same name.
  Status rename(const std::function<std::string(const std::string &)> &renamed);

  /// Replaces all tensors. The new ones may read the files of the old ones. Fails with kInvalidInput if two
  /// of them have the same name.
  Status replaceTensors(std::vector<WeightTensor> tensors);

  /// Path that was opened, for messages; paths of joined files are separated by commas.
  const std::string &path() const { return path_; }
  /// The GGUF file, if the weights are one; else null.
  const GgufFile *gguf() const { return gguf_ ? &*gguf_ : nullptr; }
  /// Paths of all files with tensors.
  std::vector<std::string> filePaths() const;
  /// All tensors, in the order of the files.
  std::span<const WeightTensor> tensors() const { return tensors_; }
  /// The tensor of that name, or null.
  const WeightTensor *find(std::string_view name) const;
  /// Fails with kFailed, naming the file, if a page of a file that was read was lost (MappedFile::isLost()).
  Status check() const;
  /// A cheap hash that distinguishes different weights: each tensor's name, dtype, shape and first 4 KiB.
  uint64_t fingerprint() const;

private:
  WeightFiles(std::string path, std::vector<SafetensorsView> files)
      : path_(std::move(path)), files_(std::move(files)) {}
  static Result<WeightFiles> openIndex(const std::filesystem::path &path);
  static Result<WeightFiles> openGguf(const std::filesystem::path &path);
  /// Fails if the index and the files have not the same tensors.
  Status checkIndex(const WeightIndex &index) const;
  /// Fills `tensors_` from `files_`.
  void takeTensors();
  /// Fills `index_`. Fails if two tensors have the same name.
  Status indexTensors();

  std::string path_;
  std::vector<SafetensorsView> files_; ///< empty for a GGUF file
  std::optional<GgufFile> gguf_;
  std::vector<WeightFiles> parts_; ///< if they were joined
  std::vector<WeightTensor> tensors_;
  std::map<std::string_view, const WeightTensor *> index_; ///< by name
};

} // namespace trainc
