// Weights into which adapters are merged.
#pragma once

#include "runtime/state/adapter_config.h"
#include "runtime/state/weight_source.h"

namespace trainc {

/// Whether the source has matrices of adapters.
bool hasAdapters(const WeightSource &source);

/// The folder in which a source's adapter_config.json is expected.
std::filesystem::path adapterFolder(const WeightSource &source);

/// Reads the adapter_config.json beside a source that has adapters. Fails with kInvalidInput if there is
/// none.
Result<AdapterConfig> adapterConfigOf(const WeightSource &source);

/// Returns the source without its adapters: each adapted weight is the sum of the weight and the scaled
/// product of both matrices, computed in double and rounded once to f32 as it is read. Fails with
/// kInvalidInput if a matrix has no partner, no weight or another shape, or is damaged.
Result<WeightSource> mergeAdapters(WeightSource source, const AdapterConfig &config);

} // namespace trainc
