// The toy plan for several ranks.
#include "test/unit/runtime/training/toy_plan.h"

#include <algorithm>

namespace trainc::test {

namespace {

using fb::CollectiveKind;
using fb::DType;
using Body = PlanBuilder::Body;

/// Elements per 64 bytes.
constexpr uint64_t kAlignedElements = 16;

/// Appends a collective that depends on all earlier instructions.
void collective(PlanBuilder &b, Body &body, const CollectiveSpec &spec, uint32_t source) {
  b.collective(body, spec, source);
  if (body.size() > 1)
    b.after(body, {static_cast<uint32_t>(body.size()) - 2});
}

RangeSpec inPlace(uint32_t buffer, uint64_t elements) { return {at(buffer), at(buffer), elements}; }

uint32_t find(const PlanBuilder &b, std::string_view name) {
  const auto found = std::ranges::find(b.plan.buffers, name, [](const auto &buffer) { return buffer->name; });
  return static_cast<uint32_t>(found - b.plan.buffers.begin());
}

fb::EntryT &entry(PlanBuilder &b, std::string_view name) {
  return **std::ranges::find(b.plan.entries, name, [](const auto &entry) { return entry->name; });
}

/// Puts `first`, which ends with a collective, before the instructions of an entry.
void prepend(fb::EntryT &entry, Body first) {
  const auto shift = static_cast<uint32_t>(first.size());
  for (const auto &instruction : entry.instructions)
    for (uint32_t &other : instruction->after)
      other += shift;
  if (!entry.instructions.empty() && entry.instructions.front()->stream == fb::Stream::Compute)
    entry.instructions.front()->after = {shift - 1};
  std::ranges::move(entry.instructions, std::back_inserter(first));
  entry.instructions = std::move(first);
}

/// Targets are counted micro-batch by micro-batch.
void countTargets(PlanBuilder &b, uint64_t accumulate) {
  const uint32_t targets = find(b, "targets");
  const uint32_t labels = b.buffer("labels of the step", PlanBuilder::kPersistent, DType::I32,
                                   accumulate * kToyMicroTokens, fb::Role::Input);
  const uint32_t count =
      b.kernel("toy_count", 1,
               {{fb::Access::Read, DType::I32, kToyMicroTokens * 4}, {fb::Access::ReadWrite, DType::F32, 4}});
  fb::EntryT &begin = entry(b, "begin_step");
  begin.inputs[0]->buffer = labels;
  begin.inputs[0]->shape[0] = accumulate * kToyMicroBatch;
  begin.instructions.clear();
  b.zero(begin.instructions, at(targets), 4);
  b.zero(begin.instructions, at(find(b, "loss")), 4);
  b.zero(begin.instructions, at(find(b, "wte.gradient")), kToyWeights * 4);
  b.launch(b.loop(begin.instructions, accumulate), count,
           {at(labels, 0, static_cast<int64_t>(kToyMicroTokens * 4)), at(targets)});
}

/// Sums targets, gradients and losses over all ranks.
void sumOverRanks(PlanBuilder &b, uint32_t source) {
  collective(b, entry(b, "begin_step").instructions,
             {CollectiveKind::AllReduce, {inPlace(find(b, "targets"), 1)}, kBothAxes}, source);
  Body sums;
  collective(b, sums,
             {CollectiveKind::AllReduce,
              {inPlace(find(b, "wte.gradient"), kToyWeights), inPlace(find(b, "loss"), 1)},
              kBothAxes},
             source);
  prepend(entry(b, "update"), std::move(sums));
}

/// A tensor of which each rank keeps a part, and the whole of it, which is not saved.
struct Divided {
  uint32_t whole, part;
  uint64_t elements; ///< of a part
};

/// Makes a buffer that holds a state one of parts.
Divided divide(PlanBuilder &b, const std::string &state, const std::string &buffer, uint32_t shardRanks) {
  const uint64_t elements =
      (kToyWeights / shardRanks + kAlignedElements - 1 + (kToyWeights % shardRanks != 0)) / kAlignedElements *
      kAlignedElements;
  const uint32_t old = find(b, buffer);
  const auto found = std::ranges::find(b.plan.states, state, [](const auto &each) { return each->name; });
  const Divided result{
      b.buffer("all of " + state, PlanBuilder::kPersistent, DType::F32, elements * shardRanks),
      b.buffer("part of " + state, PlanBuilder::kPersistent, DType::F32, elements, (*found)->role), elements};
  (*found)->buffer = result.part;
  (*found)->sharded = std::make_unique<fb::Axes>(kShard.first, kShard.end);
  b.plan.buffers[old]->role = fb::Role::Workspace;
  for (const auto &each : b.plan.entries)
    for (const auto &instruction : each->instructions) {
      if (fb::LaunchT *launch = instruction->operation.AsLaunch())
        for (fb::Operand &operand : launch->args)
          if (operand.buffer() == old)
            operand = at(result.whole);
      if (fb::ZeroT *zero = instruction->operation.AsZero(); zero && zero->destination->buffer() == old)
        *zero->destination = at(result.whole);
    }
  return result;
}

RangeSpec gathered(const Divided &tensor, uint32_t shardRanks) {
  return {at(tensor.part), at(tensor.whole), tensor.elements * shardRanks};
}

void keepPart(PlanBuilder &b, Body &body, const Divided &tensor) {
  b.copy(body, at(tensor.whole, 0, 0, tensor.elements * 4), at(tensor.part), tensor.elements * 4);
}

void divideStates(PlanBuilder &b, uint32_t shardRanks, uint32_t source) {
  const Divided weights = divide(b, "wte.weight", "wte", shardRanks);
  const Divided momentum = divide(b, "exp_avg.wte.weight", "exp_avg.wte", shardRanks);
  for (const char *name : {"begin_step", "eval", "prefill"}) {
    CollectiveSpec gather{CollectiveKind::AllGather, {gathered(weights, shardRanks)}};
    if (std::string_view(name) == "begin_step")
      gather.ranges.push_back(gathered(momentum, shardRanks));
    Body first;
    collective(b, first, gather, source);
    prepend(entry(b, name), std::move(first));
  }
  for (const char *name : {"init", "update"}) {
    keepPart(b, entry(b, name).instructions, weights);
    keepPart(b, entry(b, name).instructions, momentum);
  }
}

} // namespace

PlanBuilder toyPlan(uint32_t ranks, uint32_t shardRanks) {
  PlanBuilder b = toyPlan();
  b.setRanks({ranks, shardRanks});
  b.plan.training->accumulate = kToyMicroBatches / ranks;
  const uint32_t source = b.source("wte: dist.collective", 9);
  countTargets(b, b.plan.training->accumulate);
  if (ranks > 1)
    sumOverRanks(b, source);
  if (shardRanks > 1)
    divideStates(b, shardRanks, source);
  return b;
}

void linger(PlanBuilder &toyPlan) {
  const uint32_t kernel = toyPlan.kernel("toy_linger", 1, {{fb::Access::Read, DType::F32, 4}});
  toyPlan.launch(entry(toyPlan, "micro_step").instructions, kernel, {at(find(toyPlan, "targets"))});
}

} // namespace trainc::test
