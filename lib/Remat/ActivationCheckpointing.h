// Which activations are kept for the backward.
#pragma once

namespace trainc {

enum class ActivationCheckpointing {
  /// All that it reads.
  None,
  /// Not what is cheap to compute again from others that are kept; see the pass recompute.
  Selective
};

} // namespace trainc
