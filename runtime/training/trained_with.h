// The model and the settings of a run, as checkpoints record them: a resumed run with others says so.
#pragma once

#include "plan/schema/plan_generated.h"

#include <map>
#include <string>

namespace trainc {

/// Records the plan's model and the settings that the numbers of a step depend on, besides the schedule,
/// which TrainerState::learningRate has: optimizer, clip, types of numbers, loss scale, and samples a step.
/// Settings of which the plan has no record are left as they are.
void recordTraining(const fb::Plan &plan, std::map<std::string, std::string> &environment);

/// Says that the plan's model is not the one whose weights were recorded, as far as both are known; else
/// empty.
std::string describeOtherModel(const fb::Plan &plan, const std::map<std::string, std::string> &recorded);

/// Describes the settings that differ from those recorded: "clip was 1 and is 0.1, ..."; empty if none does.
std::string describeOtherTraining(const fb::Plan &plan, const std::map<std::string, std::string> &recorded);

} // namespace trainc
