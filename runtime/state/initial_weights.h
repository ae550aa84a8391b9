// Initial weights from safetensors files (--init), matched by name.
#pragma once

#include "runtime/formats/weight_files.h"
#include "runtime/state/file_checksums.h"
#include "runtime/state/state_tensor.h"

#include <string>
#include <vector>

namespace trainc {

/// Fills what is held of `parameters` from `weights` on `threads` threads; F16, BF16 and F64 become F32,
/// and what a plan holds in BF16 is rounded to the nearest (a finite number that would become infinite is an
/// error). Names may carry or lack the prefixes that Hugging Face's classes add ("transformer.", "model.").
/// Buffers that Hugging Face stores without need are ignored: attention masks ("h.0.attn.bias",
/// "h.0.attn.masked_bias"), rotary frequencies, and an "lm_head.weight" whose bytes are those of a tensor
/// that is used (a tied embedding). Parameters with a name of `mayMiss`, patterns in which `*` stands
/// for any text, keep their values if the files lack them or have them in another shape; returned are their
/// names. Errors (kInvalidInput) list all names that are missing, left over, or of another shape, or name a
/// tensor whose bytes do not have the checksums that a checkpoint has `recorded` of its file.
Result<std::vector<std::string>> loadInitialWeights(const WeightFiles &weights,
                                                    std::span<const StateTensor> parameters, unsigned threads,
                                                    const FileChecksums &recorded = {},
                                                    const std::vector<std::string> &mayMiss = {});

} // namespace trainc
