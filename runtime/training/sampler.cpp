#include "runtime/training/sampler.h"

#include "runtime/data/philox.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace trainc {

Result<uint32_t> Sampler::sample(std::span<const float> logits) {
  for (size_t i = 0; i < logits.size(); ++i)
    if (std::isnan(logits[i]) || logits[i] == std::numeric_limits<float>::infinity())
      return failed("generation: the logit of token {} is {}; the weights have diverged or are damaged", i,
                    logits[i]);
  const auto best = static_cast<uint32_t>(std::ranges::max_element(logits) - logits.begin());
  if (options_.temperature == 0)
    return best;
  selectCandidates(logits);
  weights_.clear();
  double sum = 0;
  for (const uint32_t token : candidates_) {
    sum += std::exp((static_cast<double>(logits[token]) - logits[best]) / options_.temperature);
    weights_.push_back(sum);
  }
  const double target = uniform() * sum;
  const auto chosen = std::ranges::upper_bound(weights_, target);
  // Rounding may make the target equal to the sum.
  return chosen == weights_.end() ? candidates_.back() : candidates_[chosen - weights_.begin()];
}

void Sampler::selectCandidates(std::span<const float> logits) {
  candidates_.resize(logits.size());
  std::iota(candidates_.begin(), candidates_.end(), 0U);
  if (options_.topK == 0 || options_.topK >= logits.size())
    return;
  const auto likelier = [&](uint32_t a, uint32_t b) {
    return logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
  };
  const auto end = candidates_.begin() + static_cast<ptrdiff_t>(options_.topK);
  std::partial_sort(candidates_.begin(), end, candidates_.end(), likelier);
  candidates_.erase(end, candidates_.end());
}

double Sampler::uniform() {
  const uint64_t n = draws_++;
  const auto bits =
      philox4x32({static_cast<uint32_t>(n), static_cast<uint32_t>(n >> 32), 0, 0},
                 {static_cast<uint32_t>(options_.seed), static_cast<uint32_t>(options_.seed >> 32)});
  const uint64_t random = uint64_t{bits[0]} << 32 | bits[1];
  return static_cast<double>(random >> 11) * 0x1p-53;
}

} // namespace trainc
