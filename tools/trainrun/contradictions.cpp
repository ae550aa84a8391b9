#include "tools/trainrun/contradictions.h"

#include "plan/facts/counts.h"
#include "runtime/device/device_kinds.h"

#include <filesystem>

namespace trainc {

namespace {

/// `option` was given, but has no effect without `needed`.
struct Needs {
  bool given;
  const char *option;
  bool satisfied;
  const char *needed;
};

/// "--device=emulated".
std::string seededDevices() {
  std::string options;
  for (const DeviceKind &kind : deviceKinds())
    if (kind.takesSeed)
      options += fmt::format("{}--device={}", options.empty() ? "" : " or ", kind.name);
  return options;
}

Status checkNeeds(const Options &o) {
  const bool hasData = !o.data.empty();
  // With --generate and without steps, data only names the tokenizer.
  const char *training = hasData ? "training: add --steps or --epochs" : "training (--data)";
  const bool measures = o.trains() || !o.evalData.empty();
  const DeviceKind *device = findDeviceKind(o.device);
  const std::string seeded = seededDevices();
  const Needs needs[] = {
      {o.steps.has_value(), "--steps", hasData, "--data"},
      {o.epochs.has_value(), "--epochs", hasData, "--data"},
      {o.onNonFinite != "stop", "--on-nonfinite", o.trains(), training},
      {!o.rename.empty(), "--rename", !o.init.empty(), "--init"},
      {!o.initMissing.empty(), "--init-missing", !o.init.empty(), "--init"},
      {!o.initIgnore.empty(), "--init-ignore", !o.init.empty(), "--init"},
      {o.noConfigCheck, "--no-config-check", !o.init.empty() || !o.resume.empty(), "--init or --resume"},
      {o.noShuffle, "--no-shuffle", o.trains(), training},
      {o.evalEvery.has_value(), "--eval-every", !o.evalData.empty(), "--eval-data"},
      {o.evalEvery.has_value(), "--eval-every", o.trains(), training},
      {!o.dataDType.empty(), "--data-dtype", hasData || !o.evalData.empty(), "--data or --eval-data"},
      {o.checkpointEvery.has_value(), "--checkpoint-every", !o.checkpointDir.empty(), "--checkpoint-dir"},
      {o.keepLast.has_value(), "--keep-last", !o.checkpointDir.empty(), "--checkpoint-dir"},
      {o.checkpointEvery.has_value(), "--checkpoint-every", o.trains(), training},
      {o.keepLast.has_value(), "--keep-last", o.trains(), training},
      {!o.checkpointDir.empty(), "--checkpoint-dir", o.trains() || !o.resume.empty(),
       hasData ? "training (add --steps or --epochs) or --resume" : "training (--data) or --resume"},
      {o.allowChanges, "--allow-changes", !o.resume.empty(), "--resume"},
      {o.resume == "auto", "--resume=auto", !o.checkpointDir.empty(), "--checkpoint-dir"},
      {o.maxTokens.has_value(), "--max-tokens", o.generates(), "--generate or --prompts"},
      {!o.endToken.empty(), "--end-token", o.generates(), "--generate or --prompts"},
      {o.temperature.has_value(), "--temperature", o.generates(), "--generate or --prompts"},
      {o.topK.has_value(), "--top-k", o.generates(), "--generate or --prompts"},
      {o.topP.has_value(), "--top-p", o.generates(), "--generate or --prompts"},
      {o.minP.has_value(), "--min-p", o.generates(), "--generate or --prompts"},
      {o.repetitionPenalty.has_value(), "--repetition-penalty", o.generates(), "--generate or --prompts"},
      {!o.generated.empty(), "--generated", o.generates(), "--generate or --prompts"},
      {!o.tokenizer.empty(), "--tokenizer", o.generates(), "--generate or --prompts"},
      {!o.metrics.empty(), "--metrics", measures, "--data or --eval-data"},
      {o.peakFlops.has_value(), "--peak-flops", o.trains(), training},
      {!o.trace.empty(), "--trace", o.trains(), training},
      {o.traceSteps.has_value(), "--trace-steps", !o.trace.empty(), "--trace"},
      {o.deviceSeed.has_value(), "--device-seed", device && device->takesSeed, seeded.c_str()},
  };
  for (const Needs &each : needs)
    if (each.given && !each.satisfied)
      return invalidInput("{} needs {}", each.option, each.needed);
  return {};
}

/// Two outputs in one file would destroy each other, and one would destroy prompts. A device accepts any
/// number.
Status checkOutputs(const Options &o) {
  const std::pair<std::string, const char *> outputs[] = {{o.prompts, "--prompts"},
                                                          {o.metrics, "--metrics"},
                                                          {o.profileFile(), "--profile"},
                                                          {o.trace, "--trace"},
                                                          {o.generated, "--generated"}};
  const auto place = [](const std::string &file) -> std::filesystem::path {
    std::error_code error;
    return file.empty() ? std::filesystem::path()
                        : std::filesystem::weakly_canonical(std::filesystem::absolute(file, error), error);
  };
  for (const auto *one = std::begin(outputs); one != std::end(outputs); ++one)
    for (const auto *other = std::begin(outputs); other != one; ++other) {
      std::error_code error;
      const bool isDevice =
          std::filesystem::exists(one->first, error) && !std::filesystem::is_regular_file(one->first, error);
      if (!one->first.empty() && !isDevice && place(one->first) == place(other->first))
        return invalidInput("{} and {} both name '{}', and would destroy each other's content; give each a "
                            "file of its own",
                            other->second, one->second, one->first);
    }
  return {};
}

/// A dry run computes nothing, so options about weights or results have no meaning.
Status checkDryRun(const Options &o) {
  const std::pair<bool, const char *> impossible[] = {{!o.generate.empty(), "--generate"},
                                                      {!o.prompts.empty(), "--prompts"},
                                                      {!o.init.empty(), "--init"},
                                                      {!o.resume.empty(), "--resume"},
                                                      {!o.checkpointDir.empty(), "--checkpoint-dir"},
                                                      {!o.metrics.empty(), "--metrics"},
                                                      {!o.profile.empty(), "--profile"},
                                                      {!o.trace.empty(), "--trace"},
                                                      {o.threads.has_value(), "--threads"}};
  for (const auto &[given, option] : impossible)
    if (given)
      return invalidInput(
          "--device={} and {} contradict each other: a dry run computes nothing; leave one out", o.device,
          option);
  return {};
}

/// Checks that there is something to do.
Status checkPurpose(const Options &o) {
  if (!o.data.empty() || !o.evalData.empty() || o.generates())
    return {};
  return invalidInput(
      "nothing to do: give --data to train, --eval-data to evaluate, --generate to generate, or "
      "--device=null to look at the plan");
}

} // namespace

Status checkHasWeights(const fb::Plan &plan, const Options &o) {
  const bool hasWeights = !o.init.empty() || !o.resume.empty() || parameterCount(plan) == 0;
  if (o.trains() || hasWeights || o.isDryRun())
    return {};
  return invalidInput("{} needs trained weights: give --init=FILE{}",
                      !o.generate.empty()  ? "--generate"
                      : !o.prompts.empty() ? "--prompts"
                                           : "--eval-data without --data",
                      plan.training() && !plan.no_training()
                          ? ", --resume=DIR, or --data with --steps to train first"
                          : " or --resume=DIR");
}

Status checkContradictions(const Options &o) {
  if (const std::string file = o.profileFile(); !file.empty() && !file.ends_with(".json"))
    return invalidInput("--profile: expected --profile or --profile=FILE.json, found '{}'", file);
  if (o.steps && o.epochs)
    return invalidInput(
        "--steps and --epochs contradict each other: both say how long to train; leave one out");
  if (!o.init.empty() && !o.resume.empty())
    return invalidInput(
        "--init and --resume contradict each other: a checkpoint holds the weights already; leave one out");
  TRAINC_RETURN_IF_ERROR(checkNeeds(o));
  TRAINC_RETURN_IF_ERROR(checkOutputs(o));
  return o.isDryRun() ? checkDryRun(o) : checkPurpose(o);
}

} // namespace trainc
