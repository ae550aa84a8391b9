// Safetensors files of a model's weights: one, or several with Hugging Face's index.
#pragma once

#include "runtime/formats/safetensors_view.h"

namespace trainc {

/// Advice for weights that torch.save wrote to FILE.
inline constexpr std::string_view kWeightsFromTorch =
    "convert it in Python: safetensors.torch.save_file({name: tensor.contiguous().clone() for name, tensor "
    "in "
    "torch.load('FILE', weights_only=True).items()}, 'model.safetensors')";

/// Maps the name of a tensor to the name of its file.
using WeightIndex = std::map<std::string, std::string, std::less<>>;

/// Reads a `model.safetensors.index.json`: {"weight_map": {tensor: file}, ...}. Errors (kInvalidInput) name
/// `path` and the cause. File names must be plain names in the folder of the index.
Result<WeightIndex> parseWeightIndex(const std::string &path, std::string_view text);

/// Whether a folder has a model.safetensors or an index; fails with kInvalidInput if the folder cannot be
/// read.
Result<bool> holdsWeights(const std::filesystem::path &folder);

/// Weights by name. Moving the object keeps pointers to tensors valid.
class WeightFiles {
public:
  /// `path` is a safetensors file, an index (*.json), or a folder with a model.safetensors or a
  /// model.safetensors.index.json. Errors (kInvalidInput) name the file that is missing or damaged, or the
  /// tensor that is not in its indexed file or occurs in two files.
  static Result<WeightFiles> open(const std::filesystem::path &path);
  /// Wraps one open file.
  explicit WeightFiles(SafetensorsView file);

  /// Path that was opened, for messages.
  const std::string &path() const { return path_; }
  std::span<const SafetensorsView> files() const { return files_; }
  /// The tensor of that name, or null.
  const SafetensorsTensor *find(std::string_view name) const;
  /// SafetensorsView::check() of all files.
  Status check() const;
  /// A cheap hash that distinguishes different weights: each tensor's name, dtype, shape and first 4 KiB.
  uint64_t fingerprint() const;

private:
  WeightFiles(std::string path, std::vector<SafetensorsView> files)
      : path_(std::move(path)), files_(std::move(files)) {}
  static Result<WeightFiles> openIndex(const std::filesystem::path &path);
  /// Fills `tensors_`, which the index must agree with.
  Status addTensors(const WeightIndex &index);

  std::string path_;
  std::vector<SafetensorsView> files_;
  std::map<std::string_view, const SafetensorsTensor *> tensors_; ///< by name, of all files
};

} // namespace trainc
