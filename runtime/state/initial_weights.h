// Initial weights from a safetensors file (--init), found by name.
#pragma once

#include "runtime/state/safetensors_view.h"
#include "runtime/state/state_tensor.h"

#include <filesystem>

namespace trainc {

/// Fills `parameters` from `path` on `threads` threads; F16, BF16 and F64 become F32. Names may carry or lack
/// the prefixes that Hugging Face's classes add ("transformer.", "model."). Buffers that Hugging Face stores
/// without need are ignored: attention masks ("h.0.attn.bias", "h.0.attn.masked_bias"), rotary frequencies,
/// and an "lm_head.weight" whose bytes are those of a tensor that is used (a tied embedding). Errors
/// (kInvalidInput) list all names that are missing, left over, or of another shape.
Status loadInitialWeights(const std::filesystem::path &path, std::span<const StateTensor> parameters,
                          unsigned threads);
/// The same from an open file.
Status loadInitialWeights(const SafetensorsView &file, std::span<const StateTensor> parameters,
                          unsigned threads);

} // namespace trainc
