// Choosing the next token from a model's logits.
#pragma once

#include "runtime/base/status.h"

#include <cstdint>
#include <span>
#include <vector>

namespace trainc {

struct SamplerOptions {
  double temperature = 1; ///< 0: always the most likely token
  uint64_t topK = 0;      ///< sample among the k most likely tokens; 0: among all
  uint64_t seed = 0;
};

/// Draws tokens from softmax(logits / temperature). The n-th draw depends on the logits, the seed and n alone
/// (Philox); of equal logits the lower token is the more likely one.
class Sampler {
public:
  explicit Sampler(SamplerOptions options) : options_(options) {}

  /// Fails (kFailed) when the logits hold NaN or +infinity.
  Result<uint32_t> sample(std::span<const float> logits);

private:
  /// The candidates, the most likely first where there is a top k.
  void selectCandidates(std::span<const float> logits);
  /// Uniform in [0, 1), 53 bits.
  double uniform();

  SamplerOptions options_;
  uint64_t draws_ = 0;
  std::vector<uint32_t> candidates_;
  std::vector<double> weights_;
};

} // namespace trainc
