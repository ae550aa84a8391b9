#include "runtime/exec/agreement.h"

#include "base/hash.h"

#include <algorithm>
#include <cassert>

namespace trainc {

namespace {

uint64_t hashOf(std::string_view text) { return xxh3(std::as_bytes(std::span(text))); }

/// Zero-terminated; long values are truncated.
using Text = std::array<char, ControlChannel::kValueBytes>;

Text shown(std::string_view value) {
  Text text{};
  std::ranges::copy(value.substr(0, text.size() - 1), text.begin());
  return text;
}

Status refuse(ControlChannel &control, const NamedValue &value, size_t other) {
  TRAINC_ASSIGN_OR_RETURN(const std::span<const Text> texts, control.gather(shown(value.value)));
  Status status = invalidInput("{}: expected the same on all ranks, found {} on rank 0 and {} on rank {}; "
                               "start all ranks alike",
                               value.name, texts[0].data(), texts[other].data(), other);
  // Barrier: a rank that left early would fail the others before all have the result.
  (void)control.gather(uint8_t{0});
  return status;
}

} // namespace

Status checkSame(ControlChannel &control, std::span<const NamedValue> values) {
  assert(values.size() <= kMaxValues);
  std::array<uint64_t, kMaxValues> hashes{};
  std::ranges::transform(values, hashes.begin(), hashOf, &NamedValue::value);
  TRAINC_ASSIGN_OR_RETURN(const auto ranks, control.gather(hashes));
  for (size_t i = 0; i < values.size(); ++i) {
    const auto other = std::ranges::find_if(ranks, [&](const auto &rank) { return rank[i] != ranks[0][i]; });
    if (other != ranks.end())
      return refuse(control, values[i], static_cast<size_t>(other - ranks.begin()));
  }
  return {};
}

} // namespace trainc
