#include "runtime/state/merge_adapters.h"

#include "runtime/formats/adapter_names.h"
#include "runtime/state/float_rounding.h"

#include <algorithm>

namespace trainc {

namespace {

namespace fs = std::filesystem;

/// All elements of a tensor as f32.
std::vector<float> floatsOf(const WeightTensor &tensor, uint64_t first, uint64_t count) {
  const size_t size = elementBytes(tensor.dtype);
  std::vector<std::byte> staging;
  const auto bytes = tensor.read(first * size, count * size, staging);
  std::vector<float> floats(count);
  roundElements(tensor.dtype, bytes, SafetensorsDType::kF32, reinterpret_cast<std::byte *>(floats.data()));
  return floats;
}

/// Returns the transpose of a matrix of `rows` rows.
std::vector<float> transposed(const std::vector<float> &matrix, uint64_t rows) {
  const uint64_t columns = matrix.size() / rows;
  std::vector<float> result(matrix.size());
  for (uint64_t row = 0; row < rows; ++row)
    for (uint64_t column = 0; column < columns; ++column)
      result[column * rows + row] = matrix[row * columns + column];
  return result;
}

/// The sum of a weight and a product of two narrow matrices.
class MergedWeight : public ElementDecoder {
public:
  /// `left` is [rows, rank], `right` is [rank, columns].
  MergedWeight(WeightTensor weight, std::vector<float> left, std::vector<float> right, uint64_t rank,
               double scale)
      : weight_(std::move(weight)), left_(std::move(left)), right_(std::move(right)), rank_(rank),
        scale_(scale) {}

  void decode(uint64_t first, std::span<float> elements) const override {
    const uint64_t columns = weight_.shape[1];
    const std::vector<float> base = floatsOf(weight_, first, elements.size());
    std::vector<double> sums;
    for (size_t done = 0; done < elements.size();) { // a part of a row at a time
      const uint64_t row = (first + done) / columns, column = (first + done) % columns;
      const size_t count = std::min<size_t>(elements.size() - done, columns - column);
      sums.assign(count, 0);
      for (uint64_t k = 0; k < rank_; ++k) {
        const double factor = left_[row * rank_ + k];
        const float *other = &right_[k * columns + column];
        for (size_t i = 0; i < count; ++i)
          sums[i] += factor * static_cast<double>(other[i]);
      }
      for (size_t i = 0; i < count; ++i)
        elements[done + i] = static_cast<float>(static_cast<double>(base[done + i]) + scale_ * sums[i]);
      done += count;
    }
  }

private:
  WeightTensor weight_;
  std::vector<float> left_, right_;
  uint64_t rank_;
  double scale_;
};

/// Verifies the checksums of a tensor, if there are some.
Status verify(const WeightSource &source, const WeightTensor &tensor) {
  BlockVerifier verifier(source.recorded, tensor.name);
  std::vector<std::byte> staging;
  for (uint64_t begin = 0; begin < tensor.bytes(); begin += kHashChunkBytes)
    verifier.update(tensor.read(begin, std::min<uint64_t>(kHashChunkBytes, tensor.bytes() - begin), staging));
  return verifier.finish() ? Status()
                           : invalidInput("{}: tensor '{}' does not have its recorded checksum; the "
                                          "checkpoint is damaged, use another one",
                                          tensor.file, tensor.name);
}

/// Returns the tensor `name` of an adapter's layer.
Result<const WeightTensor *> partOf(const WeightSource &source, const std::string &name,
                                    std::string_view other) {
  const WeightTensor *found = source.weights.find(name);
  if (!found || found->shape.size() != 2 || !isRoundable(found->dtype))
    return invalidInput("{}: expected a matrix '{}' for the adapter '{}', found {}", source.weights.path(),
                        name, other, found ? describe(*found) : "nothing");
  TRAINC_RETURN_IF_ERROR(verify(source, *found));
  return found;
}

/// The merged weight of the adapter whose first matrix is `a`.
Result<WeightTensor> merge(const WeightSource &source, const WeightTensor &a, const AdapterConfig &config) {
  const std::string layer = a.name.substr(0, a.name.size() - kAdapterA.size());
  TRAINC_RETURN_IF_ERROR(partOf(source, a.name, layer).status());
  TRAINC_ASSIGN_OR_RETURN(const WeightTensor *b, partOf(source, layer + std::string(kAdapterB), a.name));
  TRAINC_ASSIGN_OR_RETURN(const WeightTensor *weight, partOf(source, layer + ".weight", a.name));
  const uint64_t rank = a.shape[0], in = a.shape[1], out = b->shape[0];
  const std::vector<uint64_t> expected =
      config.isInOut ? std::vector<uint64_t>{in, out} : std::vector<uint64_t>{out, in};
  if (rank != config.rank || b->shape[1] != rank || weight->shape != expected)
    return invalidInput("{}: '{}' {}, '{}' {} and '{}' {} are not of one layer with an adapter of rank {}",
                        source.weights.path(), a.name, describe(a), b->name, describe(*b), weight->name,
                        describe(*weight), config.rank);
  std::vector<float> ofA = floatsOf(a, 0, a.elements()), ofB = floatsOf(*b, 0, b->elements());
  WeightTensor merged = *weight;
  merged.dtype = SafetensorsDType::kF32;
  merged.decoder = config.isInOut ? std::make_shared<MergedWeight>(*weight, transposed(ofA, rank),
                                                                   transposed(ofB, out), rank, config.scale())
                                  : std::make_shared<MergedWeight>(*weight, std::move(ofB), std::move(ofA),
                                                                   rank, config.scale());
  return merged;
}

} // namespace

bool hasAdapters(const WeightSource &source) {
  return std::ranges::any_of(source.weights.tensors(),
                             [](const WeightTensor &tensor) { return isAdapterName(tensor.name); });
}

fs::path adapterFolder(const WeightSource &source) {
  std::error_code error;
  if (fs::is_directory(source.path, error))
    return source.path;
  return source.path.has_parent_path() ? source.path.parent_path() : ".";
}

Result<AdapterConfig> adapterConfigOf(const WeightSource &source) {
  const fs::path folder = adapterFolder(source);
  TRAINC_ASSIGN_OR_RETURN(std::optional<AdapterConfig> config, readAdapterConfig(folder));
  if (!config)
    return invalidInput("{}: the weights have adapters, whose scale is in an {}; expected that file in this "
                        "folder, as checkpoints have it",
                        folder.string(), kAdapterConfigFile);
  return std::move(*config);
}

Result<WeightSource> mergeAdapters(WeightSource source, const AdapterConfig &config) {
  std::map<std::string, WeightTensor> merged;
  for (const WeightTensor &tensor : source.weights.tensors())
    if (tensor.name.ends_with(kAdapterA)) {
      TRAINC_ASSIGN_OR_RETURN(WeightTensor weight, merge(source, tensor, config));
      merged.emplace(weight.name, std::move(weight));
    } else if (tensor.name.ends_with(kAdapterB)) {
      const std::string layer = tensor.name.substr(0, tensor.name.size() - kAdapterB.size());
      TRAINC_RETURN_IF_ERROR(partOf(source, layer + std::string(kAdapterA), tensor.name).status());
    }
  std::vector<WeightTensor> tensors;
  for (const WeightTensor &tensor : source.weights.tensors())
    if (const auto found = merged.find(tensor.name); found != merged.end()) {
      source.recorded.tensors.erase(tensor.name); // verified above
      tensors.push_back(std::move(found->second));
    } else if (!isAdapterName(tensor.name)) {
      tensors.push_back(tensor);
    }
  TRAINC_RETURN_IF_ERROR(source.weights.replaceTensors(std::move(tensors)));
  return source;
}

} // namespace trainc
