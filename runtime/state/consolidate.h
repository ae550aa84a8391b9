// Writes a model's weights to one file: `trainc consolidate`.
#pragma once

#include "runtime/state/weight_writer.h"

namespace trainc {

/// Writes all weights to the file `path`, which must not be an input of the source, sorted by name, in a form
/// that Hugging Face loads. `dtype` is the type of floats in the output: F32, BF16 or F16. If the weights
/// have adapters, their adapter_config.json is written beside `path`. Errors are those of writtenDType() and
/// WeightWriter::writeFile(), or kInvalidInput if another adapter_config.json is there.
Status consolidate(const WeightSource &source, const std::filesystem::path &path, SafetensorsDType dtype,
                   WeightWriterOptions options);

} // namespace trainc
