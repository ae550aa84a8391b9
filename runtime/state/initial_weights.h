// Initial weights from safetensors files (--init), found by name.
#pragma once

#include "runtime/state/state_tensor.h"
#include "runtime/state/weight_files.h"

namespace trainc {

/// Fills `parameters` from `weights` on `threads` threads; F16, BF16 and F64 become F32. Names may carry or
/// lack the prefixes that Hugging Face's classes add ("transformer.", "model."). Buffers that Hugging Face
/// stores without need are ignored: attention masks ("h.0.attn.bias", "h.0.attn.masked_bias"), rotary
/// frequencies, and an "lm_head.weight" whose bytes are those of a tensor that is used (a tied embedding).
/// Errors (kInvalidInput) list all names that are missing, left over, or of another shape, or name a tensor
/// whose bytes do not have its checksum in `checksums` (by the file's names; XXH3-64, as checkpoints record
/// them).
Status loadInitialWeights(const WeightFiles &weights, std::span<const StateTensor> parameters,
                          unsigned threads, const std::map<std::string, uint64_t> &checksums = {});

} // namespace trainc
