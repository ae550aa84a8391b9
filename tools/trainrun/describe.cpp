#include "tools/trainrun/describe.h"

#include "base/units.h"
#include "plan/facts/counts.h"
#include "plan/facts/dtype.h"
#include "plan/facts/gpu_needs.h"
#include "plan/facts/memory_by_kind.h"
#include "plan/facts/target.h"
#include "plan/schema/enum_words.h"
#include "runtime/training/learning_rate.h"

#include <algorithm>
#include <fmt/ranges.h>

namespace trainc {

namespace {

std::string bytesByKind(const fb::Plan &plan) {
  std::vector<std::string> parts;
  const BytesByKind memory = memoryByKind(plan);
  for (const MemoryKind &kind : kMemoryKinds)
    if (const int64_t bytes = memory.*kind.bytes; bytes > 0)
      parts.push_back(fmt::format("{} {}", kind.name, formatBytes(static_cast<uint64_t>(bytes))));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// Memory beside arenas.
std::string blockMemory(BlockMemory blocks) {
  if (blocks.together() == 0)
    return {};
  return fmt::format(", and {} of working memory for kernels on {} thread{}", formatBytes(blocks.together()),
                     blocks.blocks, blocks.blocks == 1 ? "" : "s");
}

std::string describeInput(const fb::Input &input) {
  const char *extent = input.extent() == fb::BatchExtent::Step ? " of the whole step" : "";
  std::string text = fmt::format("{} {} [{}]{}", input.column()->str(), dtypeName(input.dtype()),
                                 fmt::join(*input.shape(), ", "), extent);
  if (input.limit() > 0)
    text += fmt::format(", below {}", input.limit());
  return text;
}

std::string describeEntry(const fb::Entry &entry) {
  std::string text =
      fmt::format("entry {}: {} instructions", entry.name()->str(), entry.instructions()->size());
  if (entry.flops() > 0)
    text += fmt::format(", {}FLOP in matrix products", formatCount(static_cast<double>(entry.flops())));
  text += "\n";
  if (entry.inputs())
    for (const fb::Input *input : *entry.inputs())
      text += fmt::format("  input {}\n", describeInput(*input));
  return text;
}

std::string describeTraining(const fb::Plan &plan) {
  const fb::Training &training = *plan.training();
  const uint32_t ranks = plan.ranks();
  const fb::Schedule &schedule = *training.schedule();
  std::string text =
      fmt::format("training: {}{} micro-batch{} of {} samples a step",
                  ranks > 1 ? fmt::format("{} ranks with each ", ranks) : "", training.accumulate(),
                  training.accumulate() == 1 ? "" : "es", training.micro_batch());
  if (training.seq_len() > 0)
    text += fmt::format(" of {} tokens", training.seq_len());
  if (ranks > 1)
    text += fmt::format(", {} samples in all", samplesPerStep(plan));
  return text + fmt::format("; schedule {}\n", describeCourse(courseOf(schedule, training.steps())));
}

std::string describeGeneration(const fb::Generation &generation) {
  return fmt::format("generation: context {}, vocabulary {}{}\n", generation.context(),
                     generation.vocabulary(),
                     generation.batch() > 1 ? fmt::format(", {} texts at once", generation.batch()) : "");
}

} // namespace

std::string summary(const Executor &executor) {
  return fmt::format("{}: {} parameters, {} planned ({}){}", executor.plan().name()->str(),
                     formatCount(static_cast<double>(parameterCount(executor.plan()))),
                     formatBytes(executor.peakBytes()), bytesByKind(executor.plan()),
                     blockMemory(executor.device().blockMemory()));
}

/// Plans for other devices than the host may also hold code for the host's cores.
static size_t kernelsIn(const fb::Plan &plan, const fb::Object &object) {
  const std::span<const CodeLevel> ofDevice = targetOf(plan).code;
  const bool isOfHost =
      std::ranges::find(ofDevice, object.level()->string_view(), &CodeLevel::name) == ofDevice.end();
  return static_cast<size_t>(std::ranges::count(*plan.kernels(), isOfHost, &fb::Kernel::on_host));
}

std::string details(const Executor &executor) {
  const fb::Plan &plan = executor.plan();
  std::string text = fmt::format("plan {} for {}, {} rank{}, made by {}\n", plan.name()->str(),
                                 plan.target()->str(), plan.ranks(), plan.ranks() == 1 ? "" : "s",
                                 plan.producer() ? plan.producer()->str() : "an unknown compiler");
  if (targetOf(plan).hasComputeCapability)
    text += fmt::format("needs a GPU of {}\n", neededGpu(plan));
  text += fmt::format("parameters: {}\n", parameterCount(plan));
  for (const fb::Arena *arena : *plan.arenas())
    text += fmt::format("arena {}: {} bytes ({}){}\n", arena->name()->str(), arena->bytes(),
                        formatBytes(arena->bytes()), arena->space() == fb::Space::Disk ? " on disk" : "");
  text += fmt::format("planned: {} bytes; by kind: {}\n", executor.peakBytes(), bytesByKind(plan));
  uint64_t block = 0;
  for (const fb::Kernel *kernel : *plan.kernels())
    block = std::max<uint64_t>(block, kernel->shared_bytes());
  if (targetOf(plan).isHost) // on other devices blocks use memory on the chip
    text += fmt::format("besides, working memory for kernels: {} bytes a thread\n", block);
  for (const fb::Object *object : *plan.objects())
    text += fmt::format("machine code: {} ({}), {} kernels\n", object->level()->str(),
                        formatBytes(object->image()->size()), kernelsIn(plan, *object));
  if (plan.training())
    text += describeTraining(plan);
  if (plan.generation())
    text += describeGeneration(*plan.generation());
  if (plan.no_training())
    text += fmt::format("no training: {}\n", plan.no_training()->str());
  if (plan.no_generation())
    text += fmt::format("no generation: {}\n", plan.no_generation()->str());
  for (const fb::Entry *entry : *plan.entries())
    text += describeEntry(*entry);
  return text;
}

} // namespace trainc
