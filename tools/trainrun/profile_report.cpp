#include "tools/trainrun/profile_report.h"

#include "base/file.h"
#include "base/json_text.h"
#include "base/output_file.h"
#include "base/plain_text.h"
#include "plan/schema/entry_names.h"

#include <algorithm>
#include <fmt/ranges.h>

namespace trainc {

namespace {

constexpr size_t kProfileRows = 40;
/// Maximum length of the list of a kernel's ops in the table.
constexpr size_t kOpsShown = 50;
/// Prefix of a profile's JSON file; members are sorted by name.
constexpr std::string_view kBeginning = "{\n \"idle_seconds\": ";

/// Billions per second; more digits for small rates, as of a tiny model or a busy machine.
std::string rateText(double rate) { return fmt::format("{:.{}f}", rate, rate > 0 && rate < 1 ? 3 : 1); }

double shareOf(double part, double whole) { return whole > 0 ? part / whole * 100 : 0; }

/// A source op with the list of a kernel's ops, between the first and the last parenthesis, truncated.
std::string shortSource(std::string_view source) {
  const size_t open = source.find('('), close = source.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close - open <= kOpsShown)
    return std::string(source);
  const std::string_view shown = source.substr(0, open + kOpsShown);
  return fmt::format("{} ...{}", shown.substr(0, shown.rfind(' ')), source.substr(close));
}

/// Leading columns of every table row.
std::string columns(const ProfileRow &row, double total, bool hasCalls) {
  const std::optional<double> roof = row.rooflineShare();
  return fmt::format("{:>9.4f} {:>5.1f}% {:>9} {:>8} {:>8} {:>8} {:>6}  ", row.seconds,
                     shareOf(row.seconds, total),
                     row.predictedSeconds > 0 ? fmt::format("{:.2e}", row.predictedSeconds) : "",
                     hasCalls ? fmt::format("{}", row.calls) : "",
                     row.flops > 0 || !hasCalls ? rateText(row.gigaflopsPerSecond()) : "",
                     rateText(row.gigabytesPerSecond()), roof ? fmt::format("{:.0f}%", *roof * 100) : "");
}

/// One line per category: the step's roofline at a glance.
std::string profileKinds(const std::vector<ProfileRow> &rows, double total) {
  constexpr std::pair<ProfileKind, const char *> kKinds[] = {
      {ProfileKind::Gemm, "matrix products"},
      {ProfileKind::Attention, "attention"},
      {ProfileKind::Kernel, "other kernels"},
      {ProfileKind::Move, "copies and zeroings"},
      {ProfileKind::Communication, "collectives and waits for them"}};
  std::string text;
  for (const auto &[kind, name] : kKinds) {
    if (kind == ProfileKind::Communication && std::ranges::find(rows, kind, &ProfileRow::kind) == rows.end())
      continue; // single rank
    ProfileRow sum{.entry = {}, .kind = kind, .what = {}, .source = {}, .minSeconds = 0};
    for (const ProfileRow &row : rows)
      if (row.kind == kind && row.entry != kInitEntry)
        sum.add(row);
    text += fmt::format("{}all {} but init's\n", columns(sum, total, /*hasCalls=*/false), name);
  }
  return text;
}

/// Rates that the column "roof" compares with.
std::string describeRates(const DeviceRates &rates) {
  std::vector<std::string> memory;
  if (rates.copiedBytes > 0)
    memory.push_back(fmt::format("{:.1f} GB/s of a measured copy", rates.copiedBytes * 1e-9));
  if (rates.memoryBytes > 0)
    memory.push_back(fmt::format("{:.1f} GB/s by the memory's clock", rates.memoryBytes * 1e-9));
  std::string text =
      fmt::format("roof: the share (more than 100 % if data was in a cache) of what is possible at {}",
                  memory.empty() ? "an unknown bandwidth" : fmt::format("{}", fmt::join(memory, " (")));
  if (memory.size() > 1)
    text += ")";
  if (rates.f32Flops <= 0)
    return text + "; for products give --peak-flops\n";
  if (rates.f32Flops == rates.halfFlops)
    return text + fmt::format(" and {:.1f} GFLOP/s ({})\n", rates.f32Flops * 1e-9, rates.flopsSource);
  const std::string f8 = rates.f8Flops > 0 ? fmt::format(", {:.1f} in fp8", rates.f8Flops * 1e-12) : "";
  return text + fmt::format(", and {:.1f} TFLOP/s in f32, {:.1f} in TF32, {:.1f} in bf16 and f16{} ({})\n",
                            rates.f32Flops * 1e-12, rates.tf32Flops * 1e-12, rates.halfFlops * 1e-12, f8,
                            rates.flopsSource);
}

std::string describeIdle(const Profile &profile) {
  if (profile.steps == 0)
    return {};
  return fmt::format("idle: {:.4f} of {:.4f} seconds in {} step{} ({:.1f}%), in which no stream worked\n",
                     profile.idleSeconds, profile.stepSeconds, profile.steps, profile.steps == 1 ? "" : "s",
                     shareOf(profile.idleSeconds, profile.stepSeconds));
}

nlohmann::json toJson(const ProfileRow &row) {
  nlohmann::json json = {
      {"entry", row.entry},     {"what", row.what},       {"kind", profileKindName(row.kind)},
      {"source", row.source},   {"sources", row.sources}, {"calls", row.calls},
      {"seconds", row.seconds}, {"flops", row.flops},     {"bytes", row.bytes}};
  json["least_seconds"] = row.minSeconds ? nlohmann::json(*row.minSeconds) : nlohmann::json();
  json["predicted_seconds"] =
      row.predictedSeconds > 0 ? nlohmann::json(row.predictedSeconds) : nlohmann::json();
  return json;
}

} // namespace

std::string profileTable(const Profile &profile) {
  const std::vector<ProfileRow> &rows = profile.rows;
  double total = 0;
  for (const ProfileRow &row : rows)
    total += row.seconds;
  std::string text = fmt::format("{:>9} {:>6} {:>9} {:>8} {:>8} {:>8} {:>6}  {}\n", "seconds", "share",
                                 "predicted", "calls", "GFLOP/s", "GB/s", "roof", "what");
  for (const ProfileRow &row : std::span(rows).first(std::min(rows.size(), kProfileRows)))
    text += fmt::format("{}{}: {} ({}{})\n", columns(row, total, /*hasCalls=*/true), row.entry, row.what,
                        shortSource(row.source),
                        row.sources > 1 ? fmt::format(" and {} more", row.sources - 1) : "");
  if (rows.size() > kProfileRows)
    text += fmt::format("... and {} more rows\n", rows.size() - kProfileRows);
  text += profileKinds(rows, total);
  text += fmt::format("{:>9.4f} in all\n", total);
  return text + describeRates(profile.rates) + describeIdle(profile);
}

Status checkProfileFile(const std::string &path) {
  if (const auto target = replaceableFile(path); !target.ok())
    return invalidInput("--profile={}", target.status().message());
  const OutputKind kind{"--profile=", "a profile of trainrun's", kBeginning};
  return openOutput(path, kind).status();
}

Status writeProfile(const Profile &profile, const std::string &path) {
  nlohmann::json rows = nlohmann::json::array();
  for (const ProfileRow &row : profile.rows)
    rows.push_back(toJson(row));
  const DeviceRates &rates = profile.rates;
  const nlohmann::json json = {{"rates",
                                {{"copied_bytes", rates.copiedBytes},
                                 {"memory_bytes", rates.memoryBytes},
                                 {"f32_flops", rates.f32Flops},
                                 {"tf32_flops", rates.tf32Flops},
                                 {"half_flops", rates.halfFlops},
                                 {"f8_flops", rates.f8Flops},
                                 {"flops_source", rates.flopsSource}}},
                               {"steps", profile.steps},
                               {"step_seconds", profile.stepSeconds},
                               {"idle_seconds", profile.idleSeconds},
                               {"rows", rows}};
  const std::string text =
      printableJson(json.dump(1, ' ', /*ensure_ascii=*/false, nlohmann::json::error_handler_t::replace)) +
      "\n";
  const std::span<const std::byte> part = std::as_bytes(std::span(text));
  const Status status = writeFileAtomically(path, std::span(&part, 1));
  return status.ok() ? status
                     : Status(status.code(), fmt::format("--profile={}: {}", path, status.message()));
}

} // namespace trainc
