#include "runtime/training/trained_with.h"

#include "base/plain_text.h"
#include "plan/facts/counts.h"
#include "plan/facts/settings.h"

#include <fmt/ranges.h>
#include <vector>

namespace trainc {

namespace {

using Environment = std::map<std::string, std::string>;

constexpr const char *kModel = "model_checksum", *kSamples = "samples_per_step", *kLength = "seq_len";
constexpr const char *kGroup = "group"; ///< a line that a program may have several of

} // namespace

Environment trainingOf(const fb::Plan &plan) {
  Environment found = {{kGroup, "none"}};
  for (const Setting &each : settingsOf(plan))
    if (each.changesNumbers) {
      std::string &value = found[each.setting];
      value = each.setting == kGroup && value != "none" ? value + ", " + each.value : each.value;
    }
  if (!plan.training())
    return found;
  found[kSamples] = fmt::format("{}", samplesPerStep(plan));
  if (const uint64_t length = plan.training()->seq_len())
    found[kLength] = fmt::format("{}", length);
  if (const uint64_t checksum = plan.training()->model_checksum())
    found[kModel] = fmt::format("{:016x}", checksum);
  return found;
}

std::string describeOtherModel(const Environment &own, const Environment &recorded) {
  const auto before = recorded.find(kModel), now = own.find(kModel);
  if (before == recorded.end() || now == own.end() || now->second == before->second)
    return "";
  return "its weights are of a model with another text than this plan's: parameters have the same names and "
         "shapes, but heads, theta, eps, masks or activations may differ, and so may the loss; compile the "
         "text that it was trained with, unless the change is meant";
}

Status checkLength(const Environment &own, const Environment &recorded) {
  const auto before = recorded.find(kLength), now = own.find(kLength);
  if (before == recorded.end() || now == own.end() || now->second == before->second)
    return {};
  return invalidInput(
      "the plan has samples of another length than the run that is resumed: expected --seq-len={}, "
      "found {}; compile with --seq-len={}",
      printable(before->second), now->second, printable(before->second));
}

std::string describeOtherTraining(const Environment &own, const Environment &recorded) {
  std::vector<std::string> changes;
  for (const auto &[name, value] : own)
    if (const auto before = recorded.find(name);
        name != kModel && before != recorded.end() && before->second != value)
      changes.push_back(printable(fmt::format("{} was {} and is {}", name, before->second, value)));
  return changes.empty() ? "" : fmt::format("{} in this plan", fmt::join(changes, ", "));
}

} // namespace trainc
