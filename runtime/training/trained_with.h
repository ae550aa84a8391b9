// The model and the settings of a run, as checkpoints record them: a resumed run with others says so.
#pragma once

#include "base/status.h"
#include "plan/schema/plan_generated.h"

#include <map>
#include <string>

namespace trainc {

/// Returns the plan's model and the settings that the numbers of a step depend on, besides the schedule,
/// which TrainerState::learningRate has: optimizer, clip, types of numbers, loss scale, samples a step, and
/// their length.
/// Lacks what the plan does not say. Parses the plan's report.
std::map<std::string, std::string> trainingOf(const fb::Plan &plan);

/// Says that the model of `own`, from trainingOf(), is not the one whose weights were recorded, as far as
/// both are known; else empty.
std::string describeOtherModel(const std::map<std::string, std::string> &own,
                               const std::map<std::string, std::string> &recorded);

/// Fails with kInvalidInput if samples of `own`, from trainingOf(), have another length than those recorded,
/// as far as both are known: the data would be other samples, and be blamed for it.
Status checkLength(const std::map<std::string, std::string> &own,
                   const std::map<std::string, std::string> &recorded);

/// Describes the settings of `own`, from trainingOf(), that differ from those recorded: "clip was 1 and is
/// 0.1, ..."; empty if none does.
std::string describeOtherTraining(const std::map<std::string, std::string> &own,
                                  const std::map<std::string, std::string> &recorded);

} // namespace trainc
