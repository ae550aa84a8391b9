// Initial weights from safetensors files (--init), matched by name.
#pragma once

#include "runtime/formats/weight_files.h"
#include "runtime/state/file_checksums.h"
#include "runtime/state/state_tensor.h"

#include <string>
#include <vector>

namespace trainc {

/// Patterns of names (see matchesPattern) that need no partner.
struct InitialWeightsOptions {
  /// --init-missing: parameters that the files may lack or have in another shape.
  std::vector<std::string> missing = {};
  /// --init-ignore: tensors of the files that are left out.
  std::vector<std::string> ignored = {};
};

/// Names of parameters and tensors that have no partner, which is no error.
struct UnpairedWeights {
  std::vector<std::string> drawn;   ///< parameters that keep their values because of --init-missing
  std::vector<std::string> ignored; ///< tensors that --init-ignore leaves out, or an adapter replaces
  std::vector<std::string> buffers; ///< tensors that Hugging Face stores without need
  uint64_t newAdapters = 0;         ///< matrices of adapters that keep their values, as no file has any
};

/// Loads the parts of `parameters` that this rank holds from `weights`, with `threads` threads. F16, BF16 and
/// F64 become F32. If the plan holds parameters in BF16, numbers are rounded to the nearest one.
///
/// Each tensor is loaded into one parameter at most: that of the same name or, if there is none, one whose
/// name differs by a prefix that Hugging Face's classes add ("transformer.", "model."). Buffers that Hugging
/// Face stores without need have no parameter: attention masks ("h.0.attn.bias", "h.0.attn.masked_bias"),
/// rotary frequencies, and an "lm_head.weight" whose bytes are those of a tensor that is used (a tied
/// embedding).
///
/// Tensors of an adapter that PEFT wrote ("base_model.model.") replace those of the base model. If no file
/// has an adapter, the plan's adapters keep their values.
///
/// Errors (kInvalidInput) list all names that are missing, left over, or of another shape; or they name two
/// tensors or parameters that match equally well, a pattern that matches nothing, a number that is NaN,
/// infinite or too large for the parameter, or a tensor whose bytes differ from the checksums that a
/// checkpoint has `recorded`.
Result<UnpairedWeights> loadInitialWeights(const WeightFiles &weights,
                                           std::span<const StateTensor> parameters, unsigned threads,
                                           const FileChecksums &recorded = {},
                                           const InitialWeightsOptions &options = {});

} // namespace trainc
