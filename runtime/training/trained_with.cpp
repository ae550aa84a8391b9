#include "runtime/training/trained_with.h"

#include "base/plain_text.h"
#include "plan/facts/counts.h"
#include "plan/facts/settings.h"

#include <algorithm>
#include <fmt/ranges.h>
#include <vector>

namespace trainc {

namespace {

using Environment = std::map<std::string, std::string>;

constexpr const char *kModel = "model_checksum", *kSamples = "samples_per_step";

/// Names of settings in the plan's report. A step has the same numbers with any value of the others, but for
/// the order of sums.
constexpr std::string_view kSettings[] = {
    "optimizer", "clip",       "precision",   "product_type",    "param_type",   "optimizer_states",
    "keep_f32",  "loss_scale", "reduce_type", "loss_scale_init", "skipped_steps"};

Environment modelOf(const fb::Plan &plan) {
  const uint64_t checksum = plan.training() ? plan.training()->model_checksum() : 0;
  return checksum ? Environment{{kModel, fmt::format("{:016x}", checksum)}} : Environment{};
}

Environment settingsOfTraining(const fb::Plan &plan) {
  Environment found;
  for (const Setting &each : settingsOf(plan))
    if (std::ranges::find(kSettings, each.setting) != std::end(kSettings))
      found[each.setting] = each.value;
  if (plan.training())
    found[kSamples] = fmt::format("{}", samplesPerStep(plan));
  return found;
}

} // namespace

void recordTraining(const fb::Plan &plan, Environment &environment) {
  for (const Environment &part : {modelOf(plan), settingsOfTraining(plan)})
    for (const auto &[name, value] : part)
      environment.insert_or_assign(name, value);
}

std::string describeOtherModel(const fb::Plan &plan, const Environment &recorded) {
  const auto before = recorded.find(kModel);
  const Environment now = modelOf(plan);
  if (before == recorded.end() || now.empty() || now.at(kModel) == before->second)
    return "";
  return "its weights are of a model with another text than this plan's: parameters have the same names and "
         "shapes, but heads, theta, eps, masks or activations may differ, and so may the loss; compile the "
         "text that it was trained with, unless the change is meant";
}

std::string describeOtherTraining(const fb::Plan &plan, const Environment &recorded) {
  std::vector<std::string> changes;
  for (const auto &[name, value] : settingsOfTraining(plan))
    if (const auto before = recorded.find(name); before != recorded.end() && before->second != value)
      changes.push_back(printable(fmt::format("{} was {} and is {}", name, before->second, value)));
  return changes.empty() ? "" : fmt::format("{} in this plan", fmt::join(changes, ", "));
}

} // namespace trainc
