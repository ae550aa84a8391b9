#include "runtime/exec/profile.h"

#include "runtime/plan/library_calls.h"
#include "runtime/plan/view.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <utility>

namespace trainc {

namespace {

ProfileKind kindOf(const fb::Kernel &kernel) {
  switch (kernel.kind()) {
  case fb::KernelKind::Gemm:
    return ProfileKind::Gemm;
  case fb::KernelKind::Attention:
    return ProfileKind::Attention;
  case fb::KernelKind::Copy:
    return ProfileKind::Move;
  case fb::KernelKind::Rows:
  case fb::KernelKind::Scatter:
  case fb::KernelKind::RankSum: // part of a collective
    break;
  }
  return ProfileKind::Kernel;
}

double launchBytes(const fb::Kernel &kernel) {
  double bytes = 0;
  for (const fb::Param *param : *kernel.params())
    bytes += static_cast<double>(param->bytes()) * (param->access() == fb::Access::ReadWrite ? 2 : 1);
  return bytes;
}

/// The workspace is the library's matter.
double libraryBytes(const fb::Instruction &call) {
  double bytes = 0;
  for (const LibraryOperand &each : libraryOperands(call))
    if (each.operand && !each.anyType)
      bytes += static_cast<double>(each.bytes.rowBytes * each.bytes.rows * each.bytes.matrices) *
               (each.reads && each.writes ? 2 : 1);
  return bytes;
}

} // namespace

void Profiler::reserve(const Program &program) {
  for (const Step &step : program.steps)
    samples_.emplace(step.instruction, Sample{&program, &step, {}, {}});
}

ProfileRow Profiler::rowOf(const Sample &sample, const Clock &clock) const {
  ProfileRow row;
  row.entry = sample.program->name;
  row.source = sourceText(*plan_.sources()->Get(sample.step->instruction->source()));
  row.calls = clock.calls;
  row.seconds = clock.seconds;
  return row;
}

ProfileRow Profiler::describeWait(const Sample &sample) const {
  ProfileRow row = rowOf(sample, sample.waited);
  row.kind = ProfileKind::Communication;
  row.what =
      fmt::format("wait for {}", collectiveName(std::get<CollectiveStep>(sample.step->operation).kind));
  return row;
}

ProfileRow Profiler::describe(const Sample &sample) const {
  ProfileRow row = rowOf(sample, sample.ran);
  const auto calls = static_cast<double>(row.calls);
  if (const auto *launch = std::get_if<LaunchStep>(&sample.step->operation)) {
    const fb::Kernel &kernel = *plan_.kernels()->Get(launch->kernel);
    row.kind = kindOf(kernel);
    row.what = kernel.symbol()->str();
    row.flops = calls * static_cast<double>(kernel.flops());
    row.bytes = calls * launchBytes(kernel);
  } else if (std::holds_alternative<LibraryStep>(sample.step->operation)) {
    const fb::Instruction &call = *sample.step->instruction;
    const bool isProduct = call.operation_type() == fb::Operation::MatrixProduct;
    row.kind = isProduct ? ProfileKind::Gemm : ProfileKind::Attention;
    row.what = libraryCallName(call);
    row.flops = calls * libraryFlops(call);
    row.bytes = calls * libraryBytes(call);
  } else if (const auto *copy = std::get_if<CopyStep>(&sample.step->operation)) {
    row.kind = ProfileKind::Move;
    row.what = "copy";
    row.bytes = calls * 2.0 * static_cast<double>(copy->bytes);
  } else if (const auto *zero = std::get_if<ZeroStep>(&sample.step->operation)) {
    row.kind = ProfileKind::Move;
    row.what = "zero";
    row.bytes = calls * static_cast<double>(zero->bytes);
  } else {
    row.kind = ProfileKind::Communication;
    row.what = fmt::format("start {}", collectiveName(std::get<CollectiveStep>(sample.step->operation).kind));
  }
  return row;
}

std::vector<ProfileRow> Profiler::rows() const {
  std::map<std::pair<std::string_view, std::string>, ProfileRow> merged;
  const auto merge = [&](ProfileRow row) {
    auto [known, isNew] = merged.try_emplace({row.entry, row.what}, row);
    ProfileRow &sum = known->second;
    ++sum.sources;
    if (isNew)
      return;
    sum.source = std::min(sum.source, row.source); // the same whatever the order of samples
    sum.calls += row.calls;
    sum.seconds += row.seconds;
    sum.flops += row.flops;
    sum.bytes += row.bytes;
  };
  for (const auto &[instruction, sample] : samples_) {
    if (sample.ran.calls > 0)
      merge(describe(sample));
    if (sample.waited.calls > 0)
      merge(describeWait(sample));
  }
  std::vector<ProfileRow> rows;
  rows.reserve(merged.size());
  for (auto &[key, row] : merged)
    rows.push_back(std::move(row));
  std::ranges::sort(rows, std::greater{}, &ProfileRow::seconds);
  return rows;
}

} // namespace trainc
