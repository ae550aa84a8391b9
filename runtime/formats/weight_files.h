// The safetensors files that hold a model's weights: one, or several with Hugging Face's index beside them.
#pragma once

#include "runtime/formats/safetensors_view.h"

namespace trainc {

/// Name of the file that holds each tensor, by the tensor's name.
using WeightIndex = std::map<std::string, std::string, std::less<>>;

/// Reads a `model.safetensors.index.json`: {"weight_map": {tensor: file}, ...}. Errors (kInvalidInput) name
/// `path` and what is wrong. A file's name must be one beside the index, without a folder.
Result<WeightIndex> parseWeightIndex(const std::string &path, std::string_view text);

/// Whether a folder has a model.safetensors or an index; an error (kInvalidInput) if nobody may look.
Result<bool> holdsWeights(const std::filesystem::path &folder);

/// Weights by name. Moving keeps tensors where they are.
class WeightFiles {
public:
  /// `path`: a safetensors file, an index (*.json), or a folder with a model.safetensors or a
  /// model.safetensors.index.json. Errors (kInvalidInput) name the file: one that is missing or damaged, a
  /// tensor that is not in the file that the index says, or is in two files.
  static Result<WeightFiles> open(const std::filesystem::path &path);
  /// The weights of one open file.
  explicit WeightFiles(SafetensorsView file);

  /// What was opened, for messages.
  const std::string &path() const { return path_; }
  std::span<const SafetensorsView> files() const { return files_; }
  /// The tensor of that name, or null.
  const SafetensorsTensor *find(std::string_view name) const;
  /// SafetensorsView::check() of all files.
  Status check() const;
  /// Tells different weights apart at little cost: a hash of each tensor's name, dtype, shape and first 4
  /// KiB.
  uint64_t fingerprint() const;

private:
  WeightFiles(std::string path, std::vector<SafetensorsView> files)
      : path_(std::move(path)), files_(std::move(files)) {}
  static Result<WeightFiles> openIndex(const std::filesystem::path &path);
  Status verifyIndex(const WeightIndex &index) const;

  std::string path_;
  std::vector<SafetensorsView> files_;
};

} // namespace trainc
