#include "tools/trainrun/describe.h"

#include "runtime/log/units.h"
#include "runtime/plan/dtype.h"
#include "runtime/schema/entry_names.h"
#include "runtime/training/train_loop.h"

#include <algorithm>
#include <fmt/ranges.h>

namespace trainc {

namespace {

constexpr size_t kProfileRows = 40;

std::string bytesByRole(const Executor &executor) {
  std::vector<std::string> parts;
  const std::array<uint64_t, 7> bytes = executor.bytesByRole();
  for (size_t role = 0; role < bytes.size(); ++role)
    if (bytes[role] > 0)
      parts.push_back(fmt::format("{} {}", roleName(static_cast<fb::Role>(role)), formatBytes(bytes[role])));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// What no arena holds.
std::string blockMemory(BlockMemory blocks) {
  if (blocks.together() == 0)
    return {};
  return fmt::format(", and {} for the blocks of kernels on {} thread{}", formatBytes(blocks.together()),
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
  text += fmt::format("; lr {} from {:g} to {:g}, {} steps of warmup\n", scheduleName(schedule.kind()),
                      schedule.peak(), schedule.minimum(), schedule.warmup());
  return text;
}

} // namespace

uint64_t parameterCount(const fb::Plan &plan) {
  uint64_t count = 0;
  for (const fb::State *state : *plan.states()) {
    if (state->role() != fb::Role::Parameter)
      continue;
    uint64_t elements = 1;
    for (const uint64_t extent : *state->shape())
      elements *= extent;
    count += elements;
  }
  return count;
}

std::string summary(const Executor &executor) {
  return fmt::format("{}: {} parameters, {} planned ({}){}", executor.plan().name()->str(),
                     formatCount(static_cast<double>(parameterCount(executor.plan()))),
                     formatBytes(executor.peakBytes()), bytesByRole(executor),
                     blockMemory(executor.device().blockMemory()));
}

std::string details(const Executor &executor) {
  const fb::Plan &plan = executor.plan();
  std::string text = fmt::format("plan {} for {}, {} rank{}, made by {}\n", plan.name()->str(),
                                 plan.target()->str(), plan.ranks(), plan.ranks() == 1 ? "" : "s",
                                 plan.producer() ? plan.producer()->str() : "an unknown compiler");
  text += fmt::format("parameters: {}\n", parameterCount(plan));
  for (const fb::Arena *arena : *plan.arenas())
    text += fmt::format("arena {}: {} bytes ({})\n", arena->name()->str(), arena->bytes(),
                        formatBytes(arena->bytes()));
  text += fmt::format("planned: {} bytes; by role: {}\n", executor.peakBytes(), bytesByRole(executor));
  uint64_t block = 0;
  for (const fb::Kernel *kernel : *plan.kernels())
    block = std::max<uint64_t>(block, kernel->shared_bytes());
  if (plan.target()->string_view() == "cpu") // a GPU has them on the chip
    text += fmt::format("besides, for the blocks of kernels: {} bytes a thread\n", block);
  for (const fb::Object *object : *plan.objects())
    text += fmt::format("machine code: {} ({}), {} kernels\n", object->level()->str(),
                        formatBytes(object->image()->size()), plan.kernels()->size());
  if (plan.training())
    text += describeTraining(plan);
  if (plan.generation())
    text += fmt::format("generation: context {}, vocabulary {}\n", plan.generation()->context(),
                        plan.generation()->vocabulary());
  if (plan.no_generation())
    text += fmt::format("no generation: {}\n", plan.no_generation()->str());
  for (const fb::Entry *entry : *plan.entries())
    text += describeEntry(*entry);
  return text;
}

/// Billions a second: with more digits where a tiny model or a busy machine leaves little before the point.
static std::string rateText(double rate) {
  return fmt::format("{:.{}f}", rate, rate > 0 && rate < 1 ? 3 : 1);
}

/// A line per kind of instruction: the step's roofline at a glance.
static std::string profileKinds(const std::vector<ProfileRow> &rows, double total) {
  constexpr std::pair<ProfileKind, const char *> kKinds[] = {
      {ProfileKind::Gemm, "matrix products"},
      {ProfileKind::Attention, "attention"},
      {ProfileKind::Kernel, "other kernels"},
      {ProfileKind::Move, "copies and zeroings"},
      {ProfileKind::Communication, "starts of and waits for collectives"}};
  std::string text;
  for (const auto &[kind, name] : kKinds) {
    if (kind == ProfileKind::Communication && std::ranges::find(rows, kind, &ProfileRow::kind) == rows.end())
      continue; // one rank
    ProfileRow sum{.entry = {}, .kind = kind, .what = {}, .source = {}};
    for (const ProfileRow &row : rows) {
      if (row.kind != kind || row.entry == kInitEntry)
        continue;
      sum.seconds += row.seconds;
      sum.flops += row.flops;
      sum.bytes += row.bytes;
    }
    text += fmt::format("{:>9.4f} {:>5.1f}% {:>8} {:>8} {:>8}  all {} but init's\n", sum.seconds,
                        total > 0 ? sum.seconds / total * 100 : 0, "", rateText(sum.gigaflopsPerSecond()),
                        rateText(sum.gigabytesPerSecond()), name);
  }
  return text;
}

std::string profileTable(const Executor &executor) {
  const std::vector<ProfileRow> rows = executor.profile();
  double total = 0;
  for (const ProfileRow &row : rows)
    total += row.seconds;
  std::string text = fmt::format("{:>9} {:>6} {:>8} {:>8} {:>8}  {}\n", "seconds", "share", "calls",
                                 "GFLOP/s", "GB/s", "what");
  for (size_t i = 0; i < std::min(rows.size(), kProfileRows); ++i) {
    const ProfileRow &row = rows[i];
    text += fmt::format("{:>9.4f} {:>5.1f}% {:>8} {:>8} {:>8}  {}: {} ({}{})\n", row.seconds,
                        total > 0 ? row.seconds / total * 100 : 0, row.calls,
                        row.flops > 0 ? rateText(row.gigaflopsPerSecond()) : "",
                        rateText(row.gigabytesPerSecond()), row.entry, row.what, row.source,
                        row.sources > 1 ? fmt::format(" and {} more", row.sources - 1) : "");
  }
  if (rows.size() > kProfileRows)
    text += fmt::format("... and {} more rows\n", rows.size() - kProfileRows);
  text += profileKinds(rows, total);
  return text + fmt::format("{:>9.4f} in all\n", total);
}

} // namespace trainc
