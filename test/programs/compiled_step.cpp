#include "test/programs/compiled_step.h"

#include "plan/file/file.h"
#include "plan/schema/entry_names.h"
#include "runtime/comm/local/local_group.h"
#include "runtime/device/cpu/cpu_device.h"
#include "runtime/device/emulated/emulated_device.h"
#include "runtime/exec/executor.h"

#include <cstring>
#include <deque>
#include <mutex>
#include <thread>

namespace trainc::programs {

namespace {

/// One rank's share of a step.
class RankStep {
public:
  RankStep(const fb::Plan &plan, const StepInputs &step, Communicator *communicator, const RankDevice &device)
      : step_(step), plan_(plan), communicator_(communicator), accumulate_(plan.training()->accumulate()) {
    if (device.emulationSeed)
      device_ = std::make_unique<EmulatedDevice>(1, *device.emulationSeed);
    else
      device_ = std::make_unique<CpuDevice>(device.threads);
  }

  Status run() {
    TRAINC_ASSIGN_OR_RETURN(executor_, Executor::create(plan_, *device_, {.communicator = communicator_}));
    if (executor_->hasEntry(kInitEntry)) { // initialises states other than parameters
      executor_->scalars().set("seed", int64_t{0});
      TRAINC_RETURN_IF_ERROR(executor_->run(kInitEntry));
    }
    writeParameters();
    if (executor_->hasEntry(kRefreshEntry))
      TRAINC_RETURN_IF_ERROR(executor_->run(kRefreshEntry));
    TRAINC_RETURN_IF_ERROR(generate());
    TRAINC_RETURN_IF_ERROR(runEntry(kEvalEntry, 0));
    TRAINC_ASSIGN_OR_RETURN(evalLoss, scalar("eval_loss"));
    TRAINC_ASSIGN_OR_RETURN(evalTargets, scalar("eval_targets"));
    TRAINC_RETURN_IF_ERROR(train());
    TRAINC_ASSIGN_OR_RETURN(loss, scalar("loss"));
    TRAINC_ASSIGN_OR_RETURN(const float finite, scalar("finite"));
    isFinite = finite != 0;
    return {};
  }

  /// Copies this rank's parts.
  Status readParameters(Parameters &parameters) {
    for (const StateView &state : executor_->states()) {
      const auto found = step_.parameters.find(state.info->name()->string_view());
      if (found == step_.parameters.end())
        continue;
      std::vector<float> &whole = parameters[found->first];
      whole.resize(found->second.size());
      const auto part = std::span(whole).subspan(state.first, state.memory.bytes / sizeof(float));
      TRAINC_RETURN_IF_ERROR(executor_->read(std::as_writable_bytes(part), state.memory));
    }
    return {};
  }

  float loss = 0, evalLoss = 0, evalTargets = 0;
  bool isFinite = false;
  std::vector<std::vector<float>> logits;

private:
  /// Generates before the step, so that memory left by generation would affect the step.
  Status generate() {
    if (step_.tokens.empty() || !executor_->hasEntry(kPrefillEntry))
      return {};
    std::vector<int32_t> prompt = step_.tokens;
    std::fill(prompt.begin() + ptrdiff_t(step_.prompt), prompt.end(), 0);
    TRAINC_RETURN_IF_ERROR(readTokens(kPrefillEntry, prompt, step_.prompt - 1));
    for (size_t position = step_.prompt; position < step_.tokens.size(); ++position)
      TRAINC_RETURN_IF_ERROR(
          readTokens(kDecodeEntry, std::span(step_.tokens).subspan(position, 1), position));
    return {};
  }

  Status readTokens(std::string_view entry, std::span<const int32_t> tokens, size_t position) {
    executor_->write(executor_->inputs(entry)[0].memory, std::as_bytes(tokens));
    executor_->scalars().set("position", int32_t(position));
    TRAINC_RETURN_IF_ERROR(executor_->run(entry));
    std::vector<float> &numbers = logits.emplace_back(plan_.generation()->vocabulary());
    return executor_->read(std::as_writable_bytes(std::span(numbers)),
                           executor_->buffer(plan_.generation()->logits()));
  }

  Status train() {
    executor_->scalars().set("lr", kLearningRate);
    executor_->scalars().set("step", int64_t{0});
    if (executor_->hasEntry(kBeginStepEntry))
      TRAINC_RETURN_IF_ERROR(runEntry(kBeginStepEntry, 0));
    for (uint64_t micro = 0; micro < accumulate_; ++micro) {
      executor_->scalars().set("micro", int64_t(executor_->rank() * accumulate_ + micro));
      const bool isLast = micro + 1 == accumulate_ && executor_->hasEntry(kLastMicroStepEntry);
      TRAINC_RETURN_IF_ERROR(runEntry(isLast ? kLastMicroStepEntry : kMicroStepEntry, micro));
    }
    return executor_->hasEntry(kUpdateEntry) ? runEntry(kUpdateEntry, 0) : Status();
  }

  void writeParameters() {
    for (const StateView &state : executor_->states()) {
      const auto found = step_.parameters.find(state.info->name()->string_view());
      if (found == step_.parameters.end())
        continue;
      const auto part = std::span(found->second).subspan(state.first, state.memory.bytes / sizeof(float));
      executor_->write(state.memory, std::as_bytes(part));
    }
  }

  Status runEntry(std::string_view entry, uint64_t micro) {
    for (const InputView &input : executor_->inputs(entry)) {
      const bool isWhole = input.info->extent() == fb::BatchExtent::Step;
      std::vector<std::byte> &bytes = staged_.emplace_back();
      for (uint64_t m = isWhole ? 0 : micro; m < (isWhole ? accumulate_ : micro + 1); ++m) {
        const auto &samples = step_.samples[executor_->rank() * accumulate_ + m];
        const auto column = samples.find(input.info->column()->string_view());
        if (column == samples.end())
          return failed("entry {} reads column {}, which the interpreter does not know", entry,
                        input.info->column()->string_view());
        bytes.insert(bytes.end(), column->second.begin(), column->second.end());
      }
      if (bytes.size() != input.memory.bytes)
        return failed("entry {}: column {} has {} bytes, expected {}", entry,
                      input.info->column()->string_view(), input.memory.bytes, bytes.size());
      executor_->write(input.memory, bytes);
    }
    return executor_->run(entry);
  }

  Result<float> scalar(const char *name) { return executor_->scalar<float>(name, 0); }

  const StepInputs &step_;
  std::unique_ptr<Device> device_;
  const fb::Plan &plan_;
  Communicator *communicator_;
  uint64_t accumulate_;
  std::deque<std::vector<std::byte>> staged_; ///< on their way to the device
  std::unique_ptr<Executor> executor_;
};

Status runRank(RankStep &rank, bool isFirst, std::mutex &mutex, ComputedStep &computed) {
  TRAINC_RETURN_IF_ERROR(rank.run());
  const std::lock_guard lock(mutex);
  if (isFirst) {
    computed.loss = rank.loss;
    computed.evalLoss = rank.evalLoss;
    computed.evalTargets = rank.evalTargets;
    computed.isFinite = rank.isFinite;
    computed.logits = std::move(rank.logits);
  }
  return rank.readParameters(computed.parameters);
}

Status runOnRanks(const fb::Plan &plan, const StepInputs &step, const RankDevice &device,
                  ComputedStep &computed) {
  std::mutex mutex;
  if (plan.ranks() == 1) {
    RankStep rank(plan, step, nullptr, device);
    return runRank(rank, true, mutex, computed);
  }
  const CommunicatorNeeds needs = communicatorNeeds(plan);
  TRAINC_ASSIGN_OR_RETURN(
      const LocalGroup group,
      LocalGroup::create(Mesh(plan), needs.bytes, {.timeoutSeconds = 300, .inFlight = needs.inFlight}));
  Status first;
  std::vector<std::thread> threads;
  for (uint32_t index = 0; index < plan.ranks(); ++index)
    threads.emplace_back([&, index] {
      const Status status = [&]() -> Status {
        TRAINC_ASSIGN_OR_RETURN(const std::unique_ptr<Communicator> communicator, group.communicator(index));
        RankStep rank(plan, step, communicator.get(), device);
        return runRank(rank, index == 0, mutex, computed);
      }();
      if (status.ok())
        return;
      group.fail(index, status.message());
      const std::lock_guard lock(mutex);
      if (first.ok())
        first = status;
    });
  for (std::thread &thread : threads)
    thread.join();
  return first;
}

} // namespace

/// A copy of a plan, aligned to words.
static std::vector<uint64_t> alignedCopy(const std::vector<uint8_t> &payload) {
  std::vector<uint64_t> aligned((payload.size() + 7) / 8);
  std::memcpy(aligned.data(), payload.data(), payload.size());
  return aligned;
}

Status verifyPlan(const std::vector<uint8_t> &payload) {
  const std::vector<uint64_t> aligned = alignedCopy(payload);
  return readPayload(std::as_bytes(std::span(aligned)).first(payload.size())).status();
}

Result<ComputedStep> runPlan(const std::vector<uint8_t> &payload, const StepInputs &step,
                             const RankDevice &device) {
  const std::vector<uint64_t> aligned = alignedCopy(payload);
  TRAINC_ASSIGN_OR_RETURN(const fb::Plan *plan,
                          readPayload(std::as_bytes(std::span(aligned)).first(payload.size())));
  ComputedStep computed;
  TRAINC_RETURN_IF_ERROR(runOnRanks(*plan, step, device, computed));
  return computed;
}

} // namespace trainc::programs
