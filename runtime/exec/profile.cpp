#include "runtime/exec/profile.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <tuple>

namespace trainc {

namespace {

std::string describeGemm(const GemmCall &call) {
  const std::string batch = call.batch > 1 ? fmt::format("{} x ", call.batch) : "";
  return fmt::format("gemm {}{}x{}x{} {}{}", batch, call.m, call.n, call.k, call.transposeA ? 't' : 'n',
                     call.transposeB ? 't' : 'n');
}

} // namespace

void Profiler::reserve(const Program &program) {
  for (const Step &step : program.steps)
    samples_.emplace(&step, Sample{&program, &step});
}

void Profiler::add(const Step &step, double seconds) {
  Sample &sample = samples_.find(&step)->second;
  ++sample.calls;
  sample.seconds += seconds;
}

ProfileRow Profiler::describe(const Sample &sample) const {
  ProfileRow row;
  row.entry = sample.program->name;
  row.source = plan_.sources()->Get(sample.step->instruction->source())->op()->c_str();
  row.calls = sample.calls;
  row.seconds = sample.seconds;
  const auto calls = static_cast<double>(sample.calls);
  if (const auto *launch = std::get_if<LaunchStep>(&sample.step->operation)) {
    const fb::Kernel &kernel = *plan_.kernels()->Get(launch->kernel);
    row.what = kernel.symbol()->str();
    row.flops = calls * static_cast<double>(kernel.flops());
  } else if (const auto *gemm = std::get_if<GemmStep>(&sample.step->operation)) {
    const GemmCall &call = gemm->call;
    row.what = describeGemm(call);
    row.flops = calls * 2.0 * static_cast<double>(call.m) * static_cast<double>(call.n) *
                static_cast<double>(call.k) * static_cast<double>(call.batch);
  } else {
    row.what = std::holds_alternative<CopyStep>(sample.step->operation) ? "copy" : "zero";
  }
  return row;
}

std::vector<ProfileRow> Profiler::rows() const {
  std::map<std::tuple<std::string_view, std::string_view, std::string>, ProfileRow> merged;
  for (const auto &[step, sample] : samples_) {
    if (sample.calls == 0)
      continue;
    const ProfileRow row = describe(sample);
    ProfileRow &sum =
        merged.try_emplace({row.entry, row.source, row.what}, ProfileRow{row.entry, row.source, row.what})
            .first->second;
    sum.calls += row.calls;
    sum.seconds += row.seconds;
    sum.flops += row.flops;
  }
  std::vector<ProfileRow> rows;
  for (auto &[key, row] : merged)
    rows.push_back(std::move(row));
  std::ranges::sort(rows, std::greater{}, &ProfileRow::seconds);
  return rows;
}

} // namespace trainc
