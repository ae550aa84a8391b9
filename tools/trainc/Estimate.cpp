// `trainc estimate`: strategies of a model side by side, without a plan file.
#include "lib/Pipelines/Strategies.h"
#include "runtime/base/print.h"
#include "runtime/log/units.h"
#include "tools/trainc/Commands.h"
#include "tools/trainc/ModelFile.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

namespace trainc {

namespace {

using Rows = std::vector<PlannedStrategy>;

int64_t neededBytes(const PlannedStrategy &row) { return row.plan.memory.peak + row.plan.memory.unplanned; }

/// The first of those that take the least time and fit into so many bytes; all fit into 0. The end if none
/// does.
Rows::const_iterator findFastest(const Rows &rows, int64_t memory) {
  auto fastest = rows.end();
  for (auto row = rows.begin(); row != rows.end(); ++row)
    if ((memory == 0 || neededBytes(*row) <= memory) &&
        (fastest == rows.end() || row->plan.step.total < fastest->plan.step.total))
      fastest = row;
  return fastest;
}

/// Why a row is or is not the one to take.
std::string verdict(const PlannedStrategy &row, const PlannedStrategy *fastest, int64_t memory) {
  if (memory > 0 && neededBytes(row) > memory)
    return fmt::format("{} too much", formatBytes(uint64_t(neededBytes(row) - memory)));
  if (&row == fastest)
    return memory > 0 ? "fastest that fits" : "fastest";
  return fmt::format("{:.3f} times the fastest's step", row.plan.step.total / fastest->plan.step.total);
}

using Line = std::vector<std::string>;

Line lineOf(const PlannedStrategy &row) {
  const MemoryReport &memory = row.plan.memory;
  Line line;
  for (const train::GivenSetting &setting : row.decided)
    line.push_back(setting.value);
  for (const int64_t bytes : {memory.parameters, memory.gradients, memory.optimizer, memory.activations,
                              memory.peak, memory.unplanned, row.plan.sentBytes})
    line.push_back(bytes == 0 ? "-" : formatBytes(uint64_t(bytes)));
  line.push_back(fmt::format("{:.4g} s", row.plan.step.total));
  return line;
}

Line headOf(const PlannedStrategy &row) {
  Line head;
  for (const train::GivenSetting &setting : row.decided)
    head.push_back(setting.word);
  for (const char *column :
       {"parameters", "gradients", "optimizer", "activations", "peak", "besides", "sent", "step"})
    head.emplace_back(column);
  return head;
}

/// Columns that end below each other; the last one begins below its head.
std::string table(const std::vector<Line> &lines) {
  std::vector<size_t> widths(lines.front().size());
  for (const Line &line : lines)
    for (size_t i = 0; i < line.size(); ++i)
      widths[i] = std::max(widths[i], line[i].size());
  std::string text;
  for (const Line &line : lines) {
    for (size_t i = 0; i + 1 < line.size(); ++i)
      text += fmt::format("{:>{}}  ", line[i], widths[i]);
    text += line.back() + "\n";
  }
  return text;
}

std::string tableOf(const Rows &rows, int64_t memory) {
  const auto fastest = findFastest(rows, memory);
  std::vector<Line> lines = {headOf(rows.front())};
  lines.front().emplace_back("verdict");
  for (const PlannedStrategy &row : rows) {
    lines.push_back(lineOf(row));
    lines.back().push_back(verdict(row, fastest == rows.end() ? nullptr : &*fastest, memory));
  }
  return table(lines);
}

llvm::json::Object jsonOf(const PlannedStrategy &row) {
  const MemoryReport &memory = row.plan.memory;
  llvm::json::Object settings;
  for (const train::GivenSetting &setting : row.decided)
    settings[setting.word] = setting.value;
  return llvm::json::Object{{"settings", std::move(settings)},
                            {"memory", llvm::json::Object{{"parameters", memory.parameters},
                                                          {"gradients", memory.gradients},
                                                          {"optimizer", memory.optimizer},
                                                          {"activations", memory.activations},
                                                          {"workspace", memory.workspace},
                                                          {"peak", memory.peak},
                                                          {"unplanned", memory.unplanned}}},
                            {"sent_bytes", row.plan.sentBytes},
                            {"flops_per_step", row.plan.flops},
                            {"predicted_step_seconds", row.plan.step.total},
                            {"predicted_exposed_seconds", row.plan.step.exposed}};
}

std::string jsonOf(const Rows &rows, int64_t memory) {
  llvm::json::Array strategies;
  for (const PlannedStrategy &row : rows)
    strategies.push_back(jsonOf(row));
  llvm::json::Object json{{"strategies", std::move(strategies)}};
  if (const auto fastest = findFastest(rows, memory); fastest != rows.end())
    json["fastest"] = jsonOf(*fastest);
  return llvm::formatv("{0:2}\n", llvm::json::Value(std::move(json)));
}

} // namespace

int runEstimate(const EstimateCommand &command) {
  auto file = readModel(command.model);
  if (!file.ok())
    return finish(file.status());
  ParsedModel model(std::move(*file));
  if (!model.module())
    return 2;
  const auto rows = planStrategies(model.module(), command.options);
  if (failed(rows))
    return 2;
  return finish(printOutput(command.json ? jsonOf(*rows, command.memory) : tableOf(*rows, command.memory)));
}

} // namespace trainc
