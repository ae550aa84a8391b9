#include "tools/trainc/StrategyTable.h"

#include "runtime/log/units.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <fmt/format.h>

namespace trainc {

namespace {

using Line = std::vector<std::string>;

/// What is decided in any of them.
Line decidedWords(const std::vector<PlannedStrategy> &strategies) {
  Line words;
  for (const PlannedStrategy &strategy : strategies)
    for (const train::GivenSetting &setting : strategy.decided)
      if (!llvm::is_contained(words, setting.word))
        words.push_back(setting.word);
  return words;
}

std::string valueOf(const PlannedStrategy &strategy, const std::string &word) {
  for (const train::GivenSetting &setting : strategy.decided)
    if (setting.word == word)
      return setting.value;
  return "-"; // as the program has it
}

std::string bytesOrNone(int64_t bytes) { return bytes == 0 ? "-" : formatBytes(uint64_t(bytes)); }

Line lineOf(const PlannedStrategy &strategy, const Line &words) {
  const MemoryReport &memory = strategy.plan.memory;
  Line line;
  for (const std::string &word : words)
    line.push_back(valueOf(strategy, word));
  for (const int64_t bytes :
       {memory.parameters, memory.gradients, memory.optimizer, memory.activations, memory.peak,
        memory.unplanned, memory.host, memory.disk, strategy.plan.sentBytes})
    line.push_back(bytesOrNone(bytes));
  line.push_back(fmt::format("{:.4g}", strategy.plan.step.total));
  return line;
}

/// Columns that end below each other, except the last, which begin so.
std::string aligned(const std::vector<Line> &lines) {
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

} // namespace

std::string strategyTable(const std::vector<PlannedStrategy> &strategies, const PlannedStrategy *taken,
                          int64_t limit) {
  const Line words = decidedWords(strategies);
  Line head = words;
  for (const char *column : {"parameters", "gradients", "optimizer", "activations", "peak", "besides", "host",
                             "disk", "sent", "seconds", "verdict"})
    head.emplace_back(column);
  std::vector<Line> lines = {head};
  for (const PlannedStrategy &strategy : strategies) {
    lines.push_back(lineOf(strategy, words));
    lines.back().push_back(verdictOn(strategy, taken, limit));
  }
  return aligned(lines);
}

} // namespace trainc
