#include "runtime/state/consolidate.h"

#include "base/input_file.h"
#include "runtime/state/durable_file.h"
#include "runtime/state/merge_adapters.h"

#include <algorithm>

namespace trainc {

namespace fs = std::filesystem;

/// The path of the adapter_config.json beside the weights `path`.
static fs::path configBeside(const fs::path &path) { return path.parent_path() / kAdapterConfigFile; }

/// The text of the adapter_config.json to write beside the weights `path`; empty if there is nothing to
/// write.
static Result<std::string> adapterConfigFor(const WeightSource &source, const fs::path &path) {
  const fs::path from = adapterFolder(source) / kAdapterConfigFile, to = configBeside(path);
  std::error_code error;
  if (!hasAdapters(source) || !fs::exists(from, error))
    return std::string();
  TRAINC_ASSIGN_OR_RETURN(std::string text, readWholeFile(from));
  if (!fs::exists(to, error))
    return text;
  TRAINC_ASSIGN_OR_RETURN(const std::string other, readWholeFile(to));
  if (other != text)
    return invalidInput("{}: expected no file, or that of {}, found one of another adapter, which would be "
                        "lost; write the weights into another folder",
                        to.string(), from.string());
  return std::string();
}

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
  TRAINC_ASSIGN_OR_RETURN(const std::string config, adapterConfigFor(source, path));
  WeightWriter writer(source, std::move(options), total);
  TRAINC_RETURN_IF_ERROR(writer.writeFile(path, outputs));
  writer.warnOfNonFinite();
  if (config.empty())
    return {};
  return writeDurableFile(configBeside(path), std::as_bytes(std::span(config)));
}

} // namespace trainc
