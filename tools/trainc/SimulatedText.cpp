#include "tools/trainc/SimulatedText.h"

#include "base/json_text.h"
#include "base/units.h"
#include "plan/facts/counts.h"
#include "plan/facts/view.h"
#include "plan/schema/enum_words.h"
#include "tools/report/verdict.h"

#include <algorithm>
#include <span>

namespace trainc {

namespace {

constexpr size_t kSourceShown = 60;

/// "12.3 ms": four digits and a suitable unit.
std::string timeText(double seconds) {
  if (seconds == 0)
    return "0";
  return seconds >= 1      ? fmt::format("{:.4g} s", seconds)
         : seconds >= 1e-3 ? fmt::format("{:.4g} ms", seconds * 1e3)
                           : fmt::format("{:.4g} us", seconds * 1e6);
}

std::string percent(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f} %", part / whole * 100) : "";
}

const StreamSeconds &link(const Simulation &step) {
  return step.streams[static_cast<size_t>(fb::Stream::Communication)];
}

std::string shortened(const std::string &text) {
  return text.size() > kSourceShown ? text.substr(0, kSourceShown - 3) + "..." : text;
}

std::string headline(const fb::Plan &plan, const Cluster &cluster, const Simulation &step) {
  const double mfu = step.mfu() * 100, made = step.executedFlops / step.flops;
  std::string text = fmt::format("{} on {} rank{}, {}\n", view(plan.name()), plan.ranks(),
                                 plan.ranks() == 1 ? "" : "s", cluster.name);
  text += fmt::format("step           {}, {} {}/s\n", timeText(step.seconds),
                      formatCount(step.tokens / step.seconds), workUnit(plan));
  text += fmt::format("MFU            {:.1f} %: {:.4g} of {:.4g} TFLOP/s a rank", mfu,
                      step.flops / step.seconds * 1e-12, step.machine.peakFlopsPerSecond * 1e-12);
  if (made > 1.001)
    text += fmt::format("; {:.1f} % with recomputation", mfu * made);
  text += "\n";
  if (plan.ranks() > 1)
    text += fmt::format("communication  {}, {} of it exposed\n", timeText(link(step).busy),
                        link(step).busy > 0 ? percent(link(step).exposed, link(step).busy) : "none");
  text += fmt::format("memory         {}", report::needText(step.memory, plan.ranks()));
  if (step.machine.memoryBytes > 0)
    text += fmt::format(" of {}{}", formatBytes(step.machine.memoryBytes),
                        step.memory.together() > step.machine.memoryBytes ? ": it does not fit" : "");
  text += "\n";
  if (step.memory.host > 0)
    text += fmt::format("host           {} offloaded to its memory\n", formatNeededBytes(step.memory.host));
  if (step.memory.disk > 0)
    text += fmt::format("disk           {}\n", formatNeededBytes(step.memory.disk));
  return text;
}

std::string streamTable(const Simulation &step) {
  std::string text = fmt::format("\n{:<16} {:>12} {:>8} {:>12}\n", "stream", "busy", "share", "exposed");
  for (size_t stream = 0; stream < step.streams.size(); ++stream)
    if (const StreamSeconds &each = step.streams[stream]; each.busy > 0)
      text += fmt::format("{:<16} {:>12} {:>8} {:>12}\n", wordOf(static_cast<fb::Stream>(stream)),
                          timeText(each.busy), percent(each.busy, step.seconds),
                          stream == Task::kComputeStream ? "" : timeText(each.exposed));
  return text;
}

std::string entryTable(const Simulation &step) {
  std::string text = fmt::format("\n{:<16} {:>12} {:>8} {:>12}\n", "entry", "each", "share", "runs");
  for (const SimulatedEntry &each : step.entries)
    text += fmt::format("{:<16} {:>12} {:>8} {:>12}\n", each.name, timeText(each.schedule.seconds),
                        percent(double(each.runs) * each.schedule.seconds, step.seconds), each.runs);
  return text;
}

std::string rowTable(const Simulation &step, uint32_t rows) {
  if (rows == 0)
    return {};
  std::string text =
      fmt::format("\n{:>12} {:>8} {:>7} {:>6}  {}\n", "each", "share", "count", "bound", "instruction");
  for (const SimulatedRow &row : std::span(step.rows).first(std::min<size_t>(rows, step.rows.size())))
    text += fmt::format("{:>12} {:>8} {:>7} {:>6}  {}: {}\n", timeText(row.each.seconds()),
                        percent(row.seconds(), step.seconds), row.count,
                        row.isCollective ? "link" : row.each.boundBy(), row.what, shortened(row.source));
  return text;
}

} // namespace

std::string simulatedText(const fb::Plan &plan, const Cluster &cluster, const Simulation &step,
                          uint32_t rows) {
  return headline(plan, cluster, step) + streamTable(step) + entryTable(step) + rowTable(step, rows);
}

std::string simulatedJson(const fb::Plan &plan, const Cluster &cluster, const Simulation &step) {
  using Json = nlohmann::ordered_json;
  Json json{{"plan", view(plan.name())},
            {"cluster", cluster.name},
            {"ranks", plan.ranks()},
            {"step_seconds", step.seconds},
            {"tokens", step.tokens},
            {"unit", workUnit(plan)},
            {"flops", step.flops},
            {"made_flops", step.executedFlops},
            {"mfu", step.mfu()},
            {"communication_seconds", link(step).busy},
            {"exposed_communication_seconds", link(step).exposed},
            {"device_bytes", step.memory.together()},
            {"peak_bytes", step.memory.arenas},
            {"unplanned_bytes", step.memory.besides ? Json(*step.memory.besides) : Json()},
            {"host_bytes", step.memory.host},
            {"disk_bytes", step.memory.disk},
            {"device_memory_bytes", step.machine.memoryBytes > 0 ? Json(step.machine.memoryBytes) : Json()}};
  for (size_t stream = 0; stream < step.streams.size(); ++stream)
    json["streams"][wordOf(static_cast<fb::Stream>(stream))] = {
        {"busy_seconds", step.streams[stream].busy}, {"exposed_seconds", step.streams[stream].exposed}};
  for (const SimulatedEntry &each : step.entries)
    json["entries"].push_back({{"entry", each.name},
                               {"runs", each.runs},
                               {"seconds", each.schedule.seconds},
                               {"instructions", each.schedule.tasks.size()}});
  for (const SimulatedRow &row : step.rows)
    json["costs"].push_back({{"what", row.what},
                             {"source", row.source},
                             {"count", row.count},
                             {"flops", row.each.flops},
                             {"bytes", row.each.bytes},
                             {"bound_by", row.isCollective ? "link" : row.each.boundBy()},
                             {"seconds", row.each.seconds()}});
  return json.dump(2, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) + "\n";
}

} // namespace trainc
