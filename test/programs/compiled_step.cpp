#include "test/programs/compiled_step.h"

#include "runtime/comm/local/local_group.h"
#include "runtime/device/cpu/cpu_device.h"
#include "runtime/exec/executor.h"
#include "runtime/plan/file.h"

#include <cstring>
#include <mutex>
#include <thread>

namespace trainc::programs {

namespace {

/// One rank's share of a step.
class RankStep {
public:
  RankStep(const fb::Plan &plan, const StepInputs &step, Communicator *communicator)
      : step_(step), device_(1), plan_(plan), communicator_(communicator) {}

  Status run() {
    TRAINC_ASSIGN_OR_RETURN(executor_, Executor::create(plan_, device_, {.communicator = communicator_}));
    writeParameters();
    TRAINC_RETURN_IF_ERROR(runEntry("eval"));
    evalLoss = scalar("eval_loss");
    evalTargets = scalar("eval_targets");
    executor_->setScalar("lr", kLearningRate);
    executor_->setScalar("step", int64_t{0});
    executor_->setScalar("micro", int64_t{executor_->rank()});
    for (const char *entry : {"begin_step", "micro_step", "update"})
      if (executor_->hasEntry(entry))
        TRAINC_RETURN_IF_ERROR(runEntry(entry));
    loss = scalar("loss");
    if (scalar("finite") == 0)
      return failed("the plan finds that loss or gradients are not finite");
    return {};
  }

  /// Copies this rank's parts.
  void readParameters(Parameters &parameters) {
    for (const StateView &state : executor_->states()) {
      const auto found = step_.parameters.find(state.info->name()->string_view());
      if (found == step_.parameters.end())
        continue;
      std::vector<float> &whole = parameters[found->first];
      whole.resize(found->second.size());
      const std::span<float> part = view(state);
      std::ranges::copy(part, whole.begin() + int64_t(state.first));
    }
  }

  float loss = 0, evalLoss = 0, evalTargets = 0;

private:
  std::span<float> view(const StateView &state) {
    const std::span<std::byte> bytes = device_.hostView(state.memory);
    return {reinterpret_cast<float *>(bytes.data()), bytes.size() / sizeof(float)};
  }

  void writeParameters() {
    for (const StateView &state : executor_->states()) {
      const auto found = step_.parameters.find(state.info->name()->string_view());
      if (found == step_.parameters.end())
        continue;
      const std::span<float> part = view(state);
      for (size_t i = 0; i < part.size(); ++i)
        part[i] = found->second[state.first + i];
    }
  }

  Status runEntry(const char *entry) {
    const auto &samples = step_.samples[executor_->rank()];
    for (const InputView &input : executor_->inputs(entry)) {
      const auto column = samples.find(input.info->column()->string_view());
      if (column == samples.end())
        return failed("entry {} reads column {}, which the interpreter does not know", entry,
                      input.info->column()->string_view());
      const std::vector<std::byte> &bytes = column->second;
      if (bytes.size() != input.memory.bytes)
        return failed("entry {}: column {} has {} bytes, expected {}", entry, column->first,
                      input.memory.bytes, bytes.size());
      std::memcpy(device_.hostView(input.memory).data(), bytes.data(), bytes.size());
    }
    return executor_->run(entry);
  }

  float scalar(const char *name) { return executor_->scalar<float>(name).value_or(0); }

  const StepInputs &step_;
  CpuDevice device_;
  const fb::Plan &plan_;
  Communicator *communicator_;
  std::unique_ptr<Executor> executor_;
};

Status runAlone(const fb::Plan &plan, const StepInputs &step, ComputedStep &computed) {
  RankStep rank(plan, step, nullptr);
  TRAINC_RETURN_IF_ERROR(rank.run());
  rank.readParameters(computed.parameters);
  computed.loss = rank.loss;
  computed.evalLoss = rank.evalLoss;
  computed.evalTargets = rank.evalTargets;
  return {};
}

Status runOnRanks(const fb::Plan &plan, const StepInputs &step, ComputedStep &computed) {
  const CommunicatorNeeds needs = communicatorNeeds(plan);
  TRAINC_ASSIGN_OR_RETURN(const LocalGroup group, LocalGroup::create(plan.ranks(), needs.bytes,
                                                                     {.timeoutSeconds = 300,
                                                                      .inFlight = needs.inFlight,
                                                                      .shardRanks = plan.shard_ranks()}));
  std::mutex mutex;
  Status first;
  std::vector<std::thread> threads;
  for (uint32_t index = 0; index < plan.ranks(); ++index)
    threads.emplace_back([&, index] {
      const Status status = [&]() -> Status {
        TRAINC_ASSIGN_OR_RETURN(const std::unique_ptr<Communicator> communicator, group.communicator(index));
        RankStep rank(plan, step, communicator.get());
        TRAINC_RETURN_IF_ERROR(rank.run());
        const std::lock_guard lock(mutex);
        rank.readParameters(computed.parameters);
        if (index == 0) {
          computed.loss = rank.loss;
          computed.evalLoss = rank.evalLoss;
          computed.evalTargets = rank.evalTargets;
        }
        return {};
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

Result<ComputedStep> runPlan(const std::vector<uint8_t> &payload, const StepInputs &step) {
  std::vector<uint64_t> aligned((payload.size() + 7) / 8);
  std::memcpy(aligned.data(), payload.data(), payload.size());
  TRAINC_ASSIGN_OR_RETURN(const fb::Plan *plan,
                          readPayload(std::as_bytes(std::span(aligned)).first(payload.size())));
  ComputedStep computed;
  TRAINC_RETURN_IF_ERROR(plan->ranks() == 1 ? runAlone(*plan, step, computed)
                                            : runOnRanks(*plan, step, computed));
  return computed;
}

} // namespace trainc::programs
