#include "tools/report/largest_batches.h"

#include <algorithm>
#include <charconv>

namespace trainc::report {

namespace {

using nlohmann::json;

json foundOf(const Analysis &analysis) {
  const json found = analysis.compileReport.value("largest_batches", json());
  return found.is_object() ? found : json::object();
}

std::string settingText(const json &strategy, const char *word) {
  const json settings = strategy.value("settings", json());
  const json value = settings.is_object() ? settings.value(word, json()) : json();
  return value.is_string() ? value.get<std::string>() : std::string();
}

/// A number of at least 1; 0 if the text is none.
uint64_t countOf(const json &strategy, const char *word) {
  const std::string text = settingText(strategy, word);
  const char *end = text.data() + text.size();
  uint64_t count = 0;
  const auto [rest, error] = std::from_chars(text.data(), end, count);
  return error == std::errc() && rest == end ? count : 0;
}

/// Nothing if the JSON is not in a known form.
std::optional<LargestBatch> batchOf(const json &strategy) {
  if (!strategy.is_object())
    return std::nullopt;
  LargestBatch batch;
  batch.checkpointing = settingText(strategy, "activation_checkpointing");
  batch.samples = countOf(strategy, "micro_batch");
  const uint64_t parts = countOf(strategy, "accumulate");
  const json seconds = strategy.value("predicted_step_seconds", json());
  if (batch.samples == 0 || parts == 0 || !seconds.is_number())
    return std::nullopt;
  batch.sampleSeconds =
      seconds.get<double>() / static_cast<double>(batch.samples) / static_cast<double>(parts);
  return batch;
}

} // namespace

std::vector<LargestBatch> largestBatchesOf(const Analysis &analysis) {
  std::vector<LargestBatch> batches = {
      {.checkpointing = "none"}, {.checkpointing = "selective"}, {.checkpointing = "full"}};
  bool findsOne = false;
  const json strategies = foundOf(analysis).value("strategies", json::array());
  for (const json &strategy : strategies) {
    std::optional<LargestBatch> batch = batchOf(strategy);
    const auto row =
        std::ranges::find(batches, batch ? batch->checkpointing : "", &LargestBatch::checkpointing);
    if (row == batches.end())
      return {};
    *row = *batch;
    findsOne = true;
  }
  if (!findsOne)
    return {};
  const LargestBatch base = batches.front();
  for (LargestBatch &batch : batches) {
    if (base.sampleSeconds <= 0 || batch.samples == 0)
      continue;
    batch.times = static_cast<double>(batch.samples) / static_cast<double>(base.samples);
    batch.extraTime = batch.sampleSeconds / base.sampleSeconds - 1;
  }
  return batches;
}

uint64_t largestBatchesLimit(const Analysis &analysis) {
  const json limit = foundOf(analysis).value("memory_limit", json());
  return limit.is_number_unsigned() ? limit.get<uint64_t>() : 0;
}

} // namespace trainc::report
