#include "runtime/state/consolidate.h"

#include <algorithm>

namespace trainc {

Status consolidate(const WeightSource &source, const std::filesystem::path &path, SafetensorsDType dtype,
                   WeightWriterOptions options) {
  std::vector<WeightOutput> outputs;
  uint64_t total = 0;
  for (const WeightTensor &tensor : source.weights.tensors()) {
    TRAINC_ASSIGN_OR_RETURN(const SafetensorsDType written, writtenDType(tensor, dtype));
    outputs.push_back({&tensor, tensor.name, written});
    total += tensor.bytes();
  }
  std::ranges::sort(outputs, {}, &WeightOutput::name);
  WeightWriter writer(source, std::move(options), total);
  TRAINC_RETURN_IF_ERROR(writer.writeFile(path, outputs));
  writer.warnOfNonFinite();
  return {};
}

} // namespace trainc
