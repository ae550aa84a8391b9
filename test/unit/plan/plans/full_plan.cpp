#include "test/unit/plan/plans/plan_builder.h"

namespace trainc::test {

namespace {

using fb::Access;
using fb::DType;

constexpr uint64_t kWeight = 4096, kRow = 256, kProduct = 4 * 16;

struct Kernels {
  uint32_t add, reciprocal, twice, gather, report, matmul;
};

/// product[4, 16] = rows[4, 256] w[16, 256]^T
uint32_t addProduct(PlanBuilder &builder) {
  const uint32_t kernel = builder.kernel("test_matmul", 4,
                                         {{Access::Read, DType::F32, 4 * kRow * 4},
                                          {Access::Read, DType::F32, kWeight * 4},
                                          {Access::Write, DType::F32, kProduct * 4}});
  builder.plan.kernels[kernel]->kind = fb::KernelKind::Gemm;
  builder.plan.kernels[kernel]->flops = 2 * kProduct * kRow;
  return kernel;
}

Kernels addKernels(PlanBuilder &builder) {
  const ParamSpec read{Access::Read, DType::F32, kWeight * 4}, write{Access::Write, DType::F32, kWeight * 4};
  const ParamSpec one{Access::Read, DType::F32, 4}, result{Access::Write, DType::F32, 4};
  const ParamSpec overTheFirst{Access::Write, DType::F32, kWeight * 4, {0}};
  return {builder.kernel("test_add", 16, {read, read, write}),
          builder.kernel("test_reciprocal", 16, {read, overTheFirst}),
          builder.kernel("test_double", 1, {{Access::ReadWrite, DType::F32, kRow * 4}}),
          builder.kernel("test_gather", 4,
                         {read, {Access::Read, DType::I32, 16}, {Access::Write, DType::F32, 4096}}),
          builder.kernel("test_report", 1, {read, one, result, result}),
          addProduct(builder)};
}

void addSettings(PlanBuilder &builder, uint32_t logits) {
  builder.plan.training = std::make_unique<fb::TrainingT>();
  builder.plan.training->micro_batch = 4;
  builder.plan.training->accumulate = 2;
  builder.plan.training->eval_batch = 4;
  builder.plan.training->schedule = std::make_unique<fb::ScheduleT>();
  builder.plan.training->schedule->peak = 0.5;
  builder.plan.training->schedule->numbers = {0, 0}; // no warmup
  builder.plan.generation = std::make_unique<fb::GenerationT>();
  builder.plan.generation->context = 4;
  builder.plan.generation->vocabulary = kRow;
  builder.plan.generation->logits = logits;
  auto &exported = builder.plan.exports.emplace_back(std::make_unique<fb::ExportT>());
  exported->file = "config.json";
  exported->text = "{}";
  builder.plan.report = "{\"parameters\": 4096}";
}

} // namespace

PlanBuilder fullPlan() {
  using enum fb::Role;
  PlanBuilder b;
  const uint32_t weight = b.buffer("w", PlanBuilder::kPersistent, DType::F32, kWeight, Parameter);
  const uint32_t gradient = b.buffer("w.grad", PlanBuilder::kPersistent, DType::F32, kWeight, Gradient);
  const uint32_t logits = b.buffer("logits", PlanBuilder::kPersistent, DType::F32, kRow, Cache);
  const uint32_t tokens = b.buffer("tokens", PlanBuilder::kPersistent, DType::I32, 4, Input);
  const uint32_t rows = b.buffer("rows", PlanBuilder::kScratch, DType::F32, 4 * kRow, Activation);
  const uint32_t product = b.buffer("product", PlanBuilder::kScratch, DType::F32, kProduct, Activation);
  const uint32_t scratch = b.buffer("inverse", PlanBuilder::kScratch, DType::F32, kWeight, Activation);
  const uint32_t lr = b.scalar("lr", DType::F32, fb::Direction::ToDevice);
  b.scalar("position", DType::I32, fb::Direction::ToDevice);
  const uint32_t loss = b.scalar("loss", DType::F32, fb::Direction::FromDevice);
  const uint32_t finite = b.scalar("finite", DType::F32, fb::Direction::FromDevice);
  const uint32_t evalLoss = b.scalar("eval_loss", DType::F32, fb::Direction::FromDevice);
  const uint32_t evalTargets = b.scalar("eval_targets", DType::F32, fb::Direction::FromDevice);
  b.state("w", weight, {16, kRow}, Parameter);
  addSettings(b, logits);
  const Kernels k = addKernels(b);
  const uint32_t inverse = b.source("h.0: nn.reciprocal", 7), matmul = b.source("h.1: nn.matmul", 8);

  b.zero(b.entry("init").instructions, at(weight), kWeight * 4);
  b.zero(b.entry("begin_step").instructions, at(gradient), kWeight * 4);

  fb::EntryT &micro = b.entry("micro_step");
  b.input(micro, "tokens", tokens, DType::I32, {4});
  micro.inputs[0]->limit = 16;
  b.launch(micro.instructions, k.gather, {at(weight), at(tokens), at(rows)});
  b.launch(micro.instructions, k.matmul, {at(rows), at(weight), at(product)}, matmul);
  b.launch(micro.instructions, k.reciprocal, {at(weight), at(scratch)}, inverse);
  b.launch(micro.instructions, k.report, {at(weight), at(lr), at(loss), at(finite)});

  fb::EntryT &update = b.entry("update");
  b.launch(b.loop(update.instructions, 16), k.twice, {at(weight, 0, kRow * 4)});
  b.launch(update.instructions, k.add, {at(weight), at(gradient), at(scratch)});
  b.copy(update.instructions, at(scratch), at(weight), kWeight * 4);
  b.launch(update.instructions, k.reciprocal, {at(scratch), at(scratch)});

  fb::EntryT &eval = b.entry("eval");
  b.input(eval, "tokens", tokens, DType::I32, {4});
  b.launch(eval.instructions, k.report, {at(weight), at(lr), at(evalLoss), at(evalTargets)});

  for (const char *name : {"prefill", "decode"}) {
    fb::EntryT &entry = b.entry(name);
    b.input(entry, "tokens", tokens, DType::I32, {1, 4});
    b.launch(entry.instructions, k.gather, {at(weight), at(tokens), at(rows)});
    b.copy(entry.instructions, at(rows, 3 * kRow * 4), at(logits), kRow * 4);
  }
  return b;
}

} // namespace trainc::test
