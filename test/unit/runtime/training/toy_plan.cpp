#include "test/unit/runtime/training/toy_plan.h"

#include "base/mapped_file.h"
#include "test/unit/plan/plans/cuda_plan.h"
#include "test/unit/plan/plans/test_file.h"

#include <cstdlib>
#include <cstring>

namespace trainc::test {

namespace {

using fb::Access;
using fb::DType;

constexpr ParamSpec kReadWeights{Access::Read, DType::F32, kToyWeights * 4};
constexpr ParamSpec kWriteWeights{Access::ReadWrite, DType::F32, kToyWeights * 4};
constexpr ParamSpec kReadMicro{Access::Read, DType::I32, kToyMicroTokens * 4};
constexpr ParamSpec kReadScalar{Access::Read, DType::F32, 4};
constexpr ParamSpec kWriteScalar{Access::ReadWrite, DType::F32, 4};
constexpr ParamSpec kWriteLogits{Access::Write, DType::F32, kToyVocabulary * 4};

/// Indices of the plan's buffers.
struct Buffers {
  uint32_t weights, momentum, updates, gradient, logits;
  uint32_t tokens, labels, stepLabels, context, token;
  uint32_t lr, seed, position, loss, norm, finite, targets, evalLoss, evalTargets;
};

Buffers addBuffers(PlanBuilder &b) {
  using enum fb::Role;
  constexpr uint32_t persistent = PlanBuilder::kPersistent;
  const auto to = fb::Direction::ToDevice, from = fb::Direction::FromDevice;
  return {.weights = b.buffer("wte", persistent, DType::F32, kToyWeights, Parameter),
          .momentum = b.buffer("exp_avg.wte", persistent, DType::F32, kToyWeights, Optimizer),
          .updates = b.buffer("updates", persistent, DType::I64, 1, Optimizer),
          .gradient = b.buffer("wte.gradient", persistent, DType::F32, kToyWeights, Gradient),
          .logits = b.buffer("logits", persistent, DType::F32, kToyVocabulary, Cache),
          .tokens = b.buffer("tokens", persistent, DType::I32, kToyMicroTokens, Input),
          .labels = b.buffer("labels", persistent, DType::I32, kToyMicroTokens, Input),
          .stepLabels =
              b.buffer("step labels", persistent, DType::I32, kToyAccumulate * kToyMicroTokens, Input),
          .context = b.buffer("context", persistent, DType::I32, kToyLength, Input),
          .token = b.buffer("token", persistent, DType::I32, 1, Input),
          .lr = b.scalar("lr", DType::F32, to),
          .seed = b.scalar("seed", DType::I64, to),
          .position = b.scalar("position", DType::I32, to),
          .loss = b.scalar("loss", DType::F32, from),
          .norm = b.scalar("grad_norm", DType::F32, from),
          .finite = b.scalar("finite", DType::F32, from),
          .targets = b.scalar("targets", DType::F32, from),
          .evalLoss = b.scalar("eval_loss", DType::F32, from),
          .evalTargets = b.scalar("eval_targets", DType::F32, from)};
}

void addColumn(PlanBuilder &b, fb::EntryT &entry, const std::string &column, uint32_t buffer,
               std::vector<uint64_t> shape, fb::BatchExtent extent = fb::BatchExtent::Micro) {
  b.input(entry, column, buffer, DType::I32, std::move(shape));
  entry.inputs.back()->limit = kToyVocabulary;
  entry.inputs.back()->ignore = column == "labels" ? -100 : -1;
  entry.inputs.back()->extent = extent;
}

void addTraining(PlanBuilder &b, const Buffers &x) {
  const ParamSpec readLabels{Access::Read, DType::I32, kToyAccumulate * kToyMicroTokens * 4};
  const ParamSpec readSeed{Access::Read, DType::I64, 8}, writeCounter{Access::ReadWrite, DType::I64, 8};
  const uint32_t init = b.kernel("toy_init", 1, {kWriteWeights, readSeed});
  const uint32_t begin = b.kernel("toy_begin", 1, {readLabels, kWriteScalar, kWriteScalar, kWriteWeights});
  const uint32_t micro = b.kernel(
      "toy_micro", 1, {kReadWeights, kReadMicro, kReadMicro, kReadScalar, kWriteWeights, kWriteScalar});
  const uint32_t update = b.kernel("toy_update", 1,
                                   {kWriteWeights, kWriteWeights, writeCounter, kReadWeights, kReadScalar,
                                    kReadScalar, kWriteScalar, kWriteScalar});
  const uint32_t source = b.source("loss: nn.cross_entropy", 7);

  fb::EntryT &initEntry = b.entry("init");
  b.launch(initEntry.instructions, init, {at(x.weights), at(x.seed)});
  b.zero(initEntry.instructions, at(x.momentum), kToyWeights * 4);
  b.zero(initEntry.instructions, at(x.updates), 8);

  fb::EntryT &beginEntry = b.entry("begin_step");
  addColumn(b, beginEntry, "labels", x.stepLabels, {kToyAccumulate * kToyMicroBatch, kToyLength},
            fb::BatchExtent::Step);
  b.launch(beginEntry.instructions, begin, {at(x.stepLabels), at(x.targets), at(x.loss), at(x.gradient)});

  fb::EntryT &microEntry = b.entry("micro_step");
  addColumn(b, microEntry, "tokens", x.tokens, {kToyMicroBatch, kToyLength});
  addColumn(b, microEntry, "labels", x.labels, {kToyMicroBatch, kToyLength});
  microEntry.flops = 1000;
  b.launch(microEntry.instructions, micro,
           {at(x.weights), at(x.tokens), at(x.labels), at(x.targets), at(x.gradient), at(x.loss)}, source);

  b.launch(b.entry("update").instructions, update,
           {at(x.weights), at(x.momentum), at(x.updates), at(x.gradient), at(x.lr), at(x.loss), at(x.norm),
            at(x.finite)});
}

void addEvaluation(PlanBuilder &b, const Buffers &x) {
  const uint32_t eval =
      b.kernel("toy_eval", 1, {kReadWeights, kReadMicro, kReadMicro, kWriteScalar, kWriteScalar});
  fb::EntryT &entry = b.entry("eval");
  addColumn(b, entry, "tokens", x.tokens, {kToyMicroBatch, kToyLength});
  addColumn(b, entry, "labels", x.labels, {kToyMicroBatch, kToyLength});
  entry.inputs.back()->pads = true;
  b.launch(entry.instructions, eval,
           {at(x.weights), at(x.tokens), at(x.labels), at(x.evalLoss), at(x.evalTargets)});
}

void addGeneration(PlanBuilder &b, const Buffers &x) {
  const ParamSpec readContext{Access::Read, DType::I32, kToyLength * 4}, readOne{Access::Read, DType::I32, 4};
  const uint32_t prefill = b.kernel("toy_prefill", 1, {kReadWeights, readContext, readOne, kWriteLogits});
  const uint32_t decode = b.kernel("toy_decode", 1, {kReadWeights, readOne, kWriteLogits});
  fb::EntryT &prefillEntry = b.entry("prefill");
  addColumn(b, prefillEntry, "tokens", x.context, {1, kToyLength});
  b.launch(prefillEntry.instructions, prefill, {at(x.weights), at(x.context), at(x.position), at(x.logits)});
  fb::EntryT &decodeEntry = b.entry("decode");
  addColumn(b, decodeEntry, "tokens", x.token, {1, 1});
  b.launch(decodeEntry.instructions, decode, {at(x.weights), at(x.token), at(x.logits)});

  b.plan.generation = std::make_unique<fb::GenerationT>();
  b.plan.generation->context = kToyLength;
  b.plan.generation->vocabulary = kToyVocabulary;
  b.plan.generation->logits = x.logits;
}

void addSettings(PlanBuilder &b) {
  b.plan.training = std::make_unique<fb::TrainingT>();
  b.plan.training->micro_batch = kToyMicroBatch;
  b.plan.training->accumulate = kToyAccumulate;
  b.plan.training->seq_len = kToyLength;
  b.plan.training->eval_batch = kToyMicroBatch;
  b.plan.training->likelihood = true;
  b.plan.training->schedule = std::make_unique<fb::ScheduleT>();
  b.plan.training->schedule->peak = 0.5;
  b.plan.training->schedule->numbers = {0, 0}; // no warmup
  auto &exported = b.plan.exports.emplace_back(std::make_unique<fb::ExportT>());
  exported->file = "config.json";
  exported->text = "{\"model_type\": \"toy\"}\n";
}

} // namespace

PlanBuilder toyPlan() {
  PlanBuilder b;
  b.plan.name = "toy";
  const auto code = MappedFile::open(testFile(TRAINC_TOY_KERNELS));
  if (!code.ok())
    std::abort();
  b.plan.objects[0]->image.resize(code->bytes().size());
  std::memcpy(b.plan.objects[0]->image.data(), code->bytes().data(), code->bytes().size());
  const Buffers buffers = addBuffers(b);
  b.state("wte.weight", buffers.weights, {kToyVocabulary, kToyVocabulary}, fb::Role::Parameter);
  b.state("exp_avg.wte.weight", buffers.momentum, {kToyVocabulary, kToyVocabulary}, fb::Role::Optimizer);
  b.state("updates", buffers.updates, {}, fb::Role::Optimizer);
  b.plan.states.back()->dtype = DType::I64;
  addTraining(b, buffers);
  addEvaluation(b, buffers);
  addGeneration(b, buffers);
  addSettings(b);
  return b;
}

PlanBuilder toyPlanOfTexts() {
  PlanBuilder b = toyPlan();
  const auto persistent = [&](const char *name, DType dtype, uint64_t elements, fb::Role role) {
    return b.buffer(name, PlanBuilder::kPersistent, dtype, elements, role);
  };
  const uint32_t positions = persistent("positions", DType::I32, kToyTexts, fb::Role::Cache);
  const uint32_t tokens = persistent("tokens of texts", DType::I32, kToyTexts, fb::Role::Input);
  const uint32_t logits =
      persistent("logits of texts", DType::F32, kToyTexts * kToyVocabulary, fb::Role::Cache);
  const uint32_t slot = b.scalar("slot", DType::I32, fb::Direction::ToDevice);
  for (const auto &scalar : b.plan.scalars)
    if (scalar->name == "position") {
      scalar->buffer = positions;
      scalar->count = kToyTexts;
    }
  const ParamSpec readContext{Access::Read, DType::I32, kToyLength * 4},
      readTexts{Access::Read, DType::I32, kToyTexts * 4}, readOne{Access::Read, DType::I32, 4},
      writeLogits{Access::ReadWrite, DType::F32, kToyTexts * kToyVocabulary * 4};
  const uint32_t prefill =
      b.kernel("toy_prefill_text", 1, {kReadWeights, readContext, readTexts, readOne, writeLogits});
  const uint32_t decode = b.kernel("toy_decode_texts", 1, {kReadWeights, readTexts, writeLogits});
  const uint32_t weights = b.plan.states.front()->buffer;
  for (const auto &entry : b.plan.entries) {
    if (entry->name == "prefill") {
      entry->instructions.clear();
      b.launch(entry->instructions, prefill,
               {at(weights), at(entry->inputs.front()->buffer), at(positions), at(slot), at(logits)});
    }
    if (entry->name == "decode") {
      entry->instructions.clear();
      entry->inputs.clear();
      addColumn(b, *entry, "tokens", tokens, {1, kToyTexts});
      b.launch(entry->instructions, decode, {at(weights), at(tokens), at(logits)});
    }
  }
  b.plan.generation->logits = logits;
  b.plan.generation->batch = kToyTexts;
  return b;
}

PlanBuilder toyOnCuda(PlanBuilder toyPlan) {
  return forCuda(std::move(toyPlan), TRAINC_TOY_PTX, /*threads=*/1);
}

} // namespace trainc::test
