// Any bytes as a safetensors file: they are rejected, or every tensor lies inside them and can be loaded as
// weights. And as the index of several such files.
#include "runtime/state/initial_weights.h"
#include "runtime/state/tensor_transfer.h"

using namespace trainc;

namespace {

/// A parameter of the plan for each tensor of the file that could be one, as if the plan had been made for
/// the file.
std::vector<StateTensor> parametersLike(const SafetensorsView &file,
                                        std::vector<std::vector<std::byte>> &storage) {
  std::vector<StateTensor> parameters;
  for (const SafetensorsTensor &tensor : file.tensors()) {
    if (!convertible(tensor.dtype, fb::DType::F32))
      continue;
    auto &bytes = storage.emplace_back(tensor.elements() * sizeof(float));
    parameters.push_back({tensor.name, fb::DType::F32, tensor.shape, std::span(bytes)});
  }
  return parameters;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  (void)parseWeightIndex("fuzz", {reinterpret_cast<const char *>(data), size});
  auto file = SafetensorsView::parse("fuzz", std::as_bytes(std::span(data, size)));
  if (!file.ok())
    return 0;
  std::vector<std::vector<std::byte>> storage;
  const std::vector<StateTensor> parameters = parametersLike(*file, storage);
  const WeightFiles weights(std::move(*file));
  (void)loadInitialWeights(weights, parameters, 1);
  const StateTensor other{"wte.weight", fb::DType::F32, {2, 2}, {}};
  if (!weights.find("wte.weight"))
    (void)loadInitialWeights(weights, std::span(&other, 1), 1);
  return 0;
}
