#include "runtime/log/metrics_keys.h"

#include <limits>

namespace trainc {

namespace {

constexpr std::string_view kSeveralRanks = "on several ranks";
constexpr std::string_view kUnknownTimes = "on GPUs without --profile";
constexpr std::string_view kSentBytes = "bytes that this rank sent to other ranks in collectives";

/// Value of a key that every line has.
std::optional<MetricsValue> orNull(std::optional<double> value) {
  return value.value_or(std::numeric_limits<double>::quiet_NaN());
}

/// Value of a key that a line lacks if there is no value.
template <typename T> std::optional<MetricsValue> ifPresent(const std::optional<T> &value) {
  return value ? std::optional<MetricsValue>(*value) : std::nullopt;
}

/// A time of communication, which a line has on several ranks.
template <double CommunicationSeconds::*kMember>
std::optional<MetricsValue> timeOf(const StepMetrics &metrics) {
  if (!metrics.sentBytes)
    return std::nullopt;
  return orNull(metrics.communication ? std::optional((*metrics.communication).*kMember) : std::nullopt);
}

using StepKey = MetricsKey<StepMetrics>;
using EvalKey = MetricsKey<EvalMetrics>;
using Value = std::optional<MetricsValue>;

constexpr StepKey kStepKeys[] = {
    {.name = "step",
     .unit = "steps",
     .meaning = "steps done, including this one",
     .value = [](const StepMetrics &m) -> Value { return m.step; }},
    {.name = "loss",
     .meaning = "mean over the step's targets that are not ignored",
     .value = [](const StepMetrics &m) -> Value { return m.loss; }},
    {.name = "lr", .meaning = "learning rate", .value = [](const StepMetrics &m) -> Value { return m.lr; }},
    {.name = "grad_norm",
     .meaning = "global norm of the gradients before clipping",
     .value = [](const StepMetrics &m) -> Value { return m.gradNorm; }},
    {.name = "tokens",
     .unit = "tokens",
     .meaning = "tokens of the step; samples if the model has no length",
     .value = [](const StepMetrics &m) -> Value { return m.tokens; }},
    {.name = "step_seconds",
     .unit = "s",
     .meaning = "time of the step",
     .value = [](const StepMetrics &m) -> Value { return m.stepSeconds; }},
    {.name = "tokens_per_second",
     .unit = "tokens/s",
     .meaning = "tokens, or samples, divided by the time of the step",
     .value = [](const StepMetrics &m) -> Value { return m.tokensPerSecond; }},
    {.name = "peak_bytes",
     .unit = "bytes",
     .meaning = "bytes allocated for arenas, as counted by the device, or by the shared memory of the ranks",
     .value = [](const StepMetrics &m) -> Value { return m.peakBytes; }},
    {.name = "mfu",
     .unit = "fraction",
     .meaning =
         "model FLOPs utilisation: the share of --peak-flops; without it, on GPUs and in bf16 or fp16, "
         "the share of the 16-bit rate on the data sheet (may exceed 1 with fp8 products)",
     .null = "without --peak-flops, unless the GPU is an A100, H100 or H200",
     .value = [](const StepMetrics &m) { return orNull(m.mfu); }},
    {.name = "wait_seconds",
     .unit = "s",
     .meaning = "time in which this rank waited for collectives or for ranks that came later",
     .null = kUnknownTimes,
     .only = kSeveralRanks,
     .value = timeOf<&CommunicationSeconds::waited>},
    {.name = "communication_seconds",
     .unit = "s",
     .meaning = "time in which a collective was in flight: from when all ranks had started it until its end. "
                "Over MPI and on GPUs from when this rank had started it",
     .null = kUnknownTimes,
     .only = kSeveralRanks,
     .value = timeOf<&CommunicationSeconds::inFlight>},
    {.name = "exposed_seconds",
     .unit = "s",
     .meaning = "the part of communication_seconds in which this rank waited: communication that no "
                "computation hid",
     .null = kUnknownTimes,
     .only = kSeveralRanks,
     .value = timeOf<&CommunicationSeconds::exposed>},
    {.name = "sent_bytes",
     .unit = "bytes",
     .meaning = kSentBytes,
     .only = kSeveralRanks,
     .value = [](const StepMetrics &m) { return ifPresent(m.sentBytes); }},
    {.name = "loss_scale",
     .meaning = "loss scale of the step",
     .only = "in fp16 with a dynamic loss scale",
     .value = [](const StepMetrics &m) { return ifPresent(m.lossScale); }},
    {.name = "skipped_steps",
     .unit = "steps",
     .meaning = "steps skipped so far, including this one",
     .only = "in fp16 with a dynamic loss scale",
     .value = [](const StepMetrics &m) { return ifPresent(m.skippedSteps); }},
    {.name = "start_seconds",
     .unit = "s",
     .meaning = "from the start of the process to the beginning of the step",
     .only = "in the first step of a process",
     .value = [](const StepMetrics &m) { return ifPresent(m.startSeconds); }},
};

constexpr EvalKey kEvalKeys[] = {
    {.name = "step",
     .unit = "steps",
     .meaning = "steps done",
     .value = [](const EvalMetrics &m) -> Value { return m.step; }},
    {.name = "eval_loss",
     .meaning = "mean over the targets of all samples that are not ignored",
     .value = [](const EvalMetrics &m) -> Value { return m.loss; }},
    {.name = "perplexity",
     .meaning = "exponential of the loss",
     .null = "unless the model has one loss, a cross-entropy without a scale, smoothing and class weights",
     .value = [](const EvalMetrics &m) { return orNull(m.perplexity); }},
    {.name = "eval_samples",
     .unit = "samples",
     .meaning = "samples of the evaluation data",
     .value = [](const EvalMetrics &m) -> Value { return m.samples; }},
    {.name = "eval_seconds",
     .unit = "s",
     .meaning = "time of the evaluation",
     .value = [](const EvalMetrics &m) -> Value { return m.seconds; }},
    {.name = "sent_bytes",
     .unit = "bytes",
     .meaning = kSentBytes,
     .only = kSeveralRanks,
     .value = [](const EvalMetrics &m) { return ifPresent(m.sentBytes); }},
};

} // namespace

std::span<const MetricsKey<StepMetrics>> stepMetricsKeys() { return kStepKeys; }
std::span<const MetricsKey<EvalMetrics>> evalMetricsKeys() { return kEvalKeys; }

} // namespace trainc
