#include "runtime/training/same_run.h"

namespace trainc {

namespace {

std::string given(bool isGiven) { return isGiven ? "given" : "nothing"; }

template <typename T> NamedValue given(const char *option, const std::optional<T> &value) {
  return {option, value ? fmt::format("{}", *value) : given(false)};
}

} // namespace

Status checkSameRun(Peers &peers, const RunOptions &options, const StartingPoint &start) {
  const NamedValue values[] = {
      {"training", options.trains() ? "yes" : "no"},
      {"--eval-data", given(!options.evalData.empty())},
      given("--generate", options.generate),
      given("--max-tokens", options.maxTokens),
      given("--temperature", options.temperature),
      given("--top-k", options.topK),
      {"--seed", fmt::format("{}", options.seed.value_or(start.position.seed))},
      {"weights to begin with", start.weights},
      {"order of the samples", start.position.shuffle ? "shuffled" : "as in the data (--no-shuffle)"},
      {"--on-nonfinite", options.onNonFinite},
      given("--eval-every", options.evalEvery),
      {"--checkpoint-dir", given(!options.checkpointDir.empty())},
      given("--checkpoint-every", options.checkpointEvery),
      given("--keep-last", options.keepLast),
  };
  return checkSame(peers, values);
}

} // namespace trainc
