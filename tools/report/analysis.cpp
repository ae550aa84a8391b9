#include "tools/report/analysis.h"

#include "runtime/base/json_text.h"
#include "runtime/plan/dtype.h"
#include "runtime/plan/streams.h"
#include "runtime/plan/uses.h"
#include "runtime/plan/view.h"
#include "runtime/simulate/plan_schedule.h"

#include <algorithm>

namespace trainc::report {

const ArenaPeak *EntryAnalysis::peak(const fb::Plan &plan) const {
  const ArenaPeak *found = nullptr;
  for (const ArenaPeak &each : occupancy.peaks)
    if (plan.arenas()->Get(each.arena)->space() == fb::Space::Device && (!found || each.held > found->held))
      found = &each;
  return found;
}

Analysis::Analysis(const fb::Plan &plan) : plan(plan), labels(plan) {
  // As the compiler predicts them: each instruction at its own rate, whatever runs beside it.
  const std::vector<double> shares = sharesBesideCompute(1);
  for (const fb::Entry *entry : *plan.entries()) {
    EntryAnalysis each{.entry = entry,
                       .runs = runsPerStep(plan, *entry),
                       .schedule = scheduleOf(*entry, predictedSeconds, shares),
                       .moments = {},
                       .occupancy = {}};
    each.moments = momentsOf(*entry, each.schedule);
    each.occupancy = occupancyOf(plan, each.moments);
    entries.push_back(std::move(each));
  }
  uint64_t most = 0;
  for (const EntryAnalysis &each : entries)
    if (const ArenaPeak *peak = each.peak(plan); peak && peak->held > most) {
      most = peak->held;
      peakEntry = &each;
      peakMoment = peak->moment;
    }
  compileReport = tryParseJson(view(plan.report()));
  if (!compileReport.is_object())
    compileReport = nlohmann::json::object();
}

bool Analysis::counts(const fb::Arena &arena) const {
  return arena.space() == fb::Space::Device ||
         (arena.space() == fb::Space::Host && view(plan.target()) == "cpu");
}

MomentWork workOf(const fb::Plan &plan, const Moment &moment) {
  MomentWork work;
  if (const fb::Launch *launch = moment.instruction->operation_as_Launch())
    work.flops = static_cast<double>(plan.kernels()->Get(launch->kernel())->flops());
  else if (isLibraryCall(*moment.instruction))
    work.flops = libraryFlops(*moment.instruction);
  verify::forEachUse(plan, *moment.instruction, 1, [&](const verify::Use &use) {
    const int passes = (use.reads ? 1 : 0) + (use.writes ? 1 : 0);
    work.bytes += passes * static_cast<double>(use.range.bytes);
  });
  work.flops *= static_cast<double>(moment.iterations);
  work.bytes *= static_cast<double>(moment.iterations);
  return work;
}

std::string classOf(const fb::Plan &plan, const fb::Instruction &instruction) {
  if (const fb::Launch *launch = instruction.operation_as_Launch()) {
    const fb::KernelKind kind = plan.kernels()->Get(launch->kernel())->kind();
    return kind == fb::KernelKind::Gemm ? "product" : kernelKindName(kind);
  }
  if (instruction.operation_type() == fb::Operation::Collective)
    return "collective";
  if (instruction.operation_type() == fb::Operation::MatrixProduct)
    return "product";
  return isLibraryCall(instruction) ? "attention" : "copy";
}

std::string whatOf(const fb::Plan &plan, const fb::Instruction &instruction) {
  const auto spaceOf = [&](const fb::Operand *operand) {
    return spaceName(plan.arenas()->Get(plan.buffers()->Get(operand->buffer())->arena())->space());
  };
  if (const fb::Launch *launch = instruction.operation_as_Launch())
    return std::string(view(plan.kernels()->Get(launch->kernel())->symbol()));
  if (const fb::Collective *collective = instruction.operation_as_Collective())
    return collectiveName(collective->kind());
  if (const fb::Copy *copy = instruction.operation_as_Copy())
    return fmt::format("copy {} to {}", spaceOf(copy->source()), spaceOf(copy->destination()));
  if (instruction.operation_type() == fb::Operation::Zero)
    return "zero";
  return libraryCallName(instruction);
}

} // namespace trainc::report
