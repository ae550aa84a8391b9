// Any bytes as a GGUF file: they are rejected, or every tensor lies inside them and can be read, whole and in
// a slice, the tokenizer is rejected or can be opened, and the metadata are rejected or describe a model.
#include "lib/Import/Import.h"
#include "runtime/data/tokenizer/gguf_tokenizer.h"
#include "runtime/data/tokenizer/tokenizer_json.h"
#include "runtime/formats/gguf_config.h"
#include "runtime/formats/gguf_weights.h"

#include <algorithm>

using namespace trainc;

namespace {

/// Traps if a slice of the tensor differs from the same elements of the whole.
void readTensor(const WeightTensor &tensor) {
  std::vector<std::byte> all, part;
  const std::span<const std::byte> whole = tensor.read(0, tensor.bytes(), all);
  const uint64_t element = elementBytes(tensor.dtype);
  const uint64_t begin = tensor.elements() / 3 * element, count = (tensor.elements() + 1) / 2 * element;
  if (!std::ranges::equal(tensor.read(begin, count, part), whole.subspan(begin, count)))
    __builtin_trap();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const auto file = GgufFile::parse("fuzz", std::as_bytes(std::span(data, size)));
  if (!file.ok())
    return 0;
  if (const auto tensors = huggingFaceTensors(*file); tensors.ok())
    std::ranges::for_each(*tensors, readTensor);
  if (const auto text = tokenizerJsonOf(*file); text.ok())
    (void)readTokenizerJson("fuzz", *text);
  if (const auto config = configJsonOf(*file); config.ok() && *config)
    (void)importer::importModel("fuzz", **config, {});
  return 0;
}
