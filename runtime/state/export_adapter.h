// Writes the adapter of a checkpoint as PEFT does: `trainc export`.
#pragma once

#include "runtime/state/adapter_config.h"
#include "runtime/state/weight_writer.h"

namespace trainc {

/// Writes the folder `output`: adapter_model.safetensors with the adapters of `source` and the layers that
/// were trained without one, under PEFT's names, and an adapter_config.json that names `like` as the base
/// model. `output` appears only when it is complete. Fails with kInvalidInput if an adapted weight is not
/// in the folder `like` or has another shape there, if another parameter differs from that of `like`, if
/// PEFT's class for `like` has other names or would not use a trained embedding for its head, or if `output`
/// exists; with kFailed if `output` cannot be written.
Status exportAdapter(const WeightSource &source, const AdapterConfig &config,
                     const std::filesystem::path &like, const std::filesystem::path &output,
                     WeightWriterOptions options);

} // namespace trainc
