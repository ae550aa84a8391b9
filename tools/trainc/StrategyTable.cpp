#include "tools/trainc/StrategyTable.h"

#include "base/units.h"

#include "lib/Pipelines/Settings.h"
#include "plan/settings/settings.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <utility>

namespace trainc {

namespace {

using Line = std::vector<std::string>;

/// Settings that any strategy decides, in the order of kSettings.
Line decidedWords(const std::vector<EvaluatedStrategy> &strategies) {
  Line words;
  for (const train::Setting *setting : train::kSettings)
    if (llvm::any_of(strategies, [&](const EvaluatedStrategy &strategy) {
          return llvm::any_of(strategy.decided, [&](const auto &each) { return each.word == setting->name; });
        }))
      words.emplace_back(setting->name);
  return words;
}

std::string valueOf(const EvaluatedStrategy &strategy, const std::string &word) {
  for (const train::GivenSetting &setting : strategy.decided)
    if (setting.word == word)
      return setting.value;
  return "-"; // as in the program
}

/// A column of bytes. If the table is too wide, columns of the minimum weight are dropped first.
struct Column {
  std::string name;
  int weight;
  std::function<int64_t(const Evaluation &)> bytes;
  bool isNeed = false; ///< whether a limit has to allow the bytes, which are rounded up then
};

std::string bytesText(const Column &column, const Evaluation &plan) {
  const auto bytes = uint64_t(column.bytes(plan));
  return bytes == 0 ? "0" : column.isNeed ? formatNeededBytes(bytes) : formatBytes(bytes);
}

/// Weight of columns that are never dropped.
constexpr int kStays = 10;

int weightOf(const MemoryKind &kind) {
  return kind.bytes == &BytesByKind::activations  ? 7
         : kind.bytes == &BytesByKind::optimizer  ? 6
         : kind.bytes == &BytesByKind::parameters ? 5
                                                  : 4;
}

/// Adds columns of bytes in a space other than device memory: the total, and by kind.
void addSpaceColumns(std::string_view name, BytesByKind MemoryReport::*space, std::vector<Column> &columns) {
  columns.push_back(
      {std::string(name), 8, [=](const Evaluation &plan) { return (plan.memory.*space).total(); }, true});
  for (const MemoryKind &kind : llvm::drop_end(kMemoryKinds))
    columns.push_back({fmt::format("{} {}", name, kind.key), 1,
                       [=](const Evaluation &plan) { return plan.memory.*space.*kind.bytes; }});
}

/// Columns for device memory, and those of other spaces that are nonzero in some strategy.
std::vector<Column> columnsOf(const std::vector<EvaluatedStrategy> &strategies) {
  std::vector<Column> columns, optional;
  for (const MemoryKind &kind : llvm::drop_end(kMemoryKinds)) // without workspace
    columns.push_back({std::string(kind.key), weightOf(kind),
                       [=](const Evaluation &plan) { return plan.memory.*kind.bytes; }});
  columns.push_back({"besides", 3, [](const Evaluation &plan) { return plan.memory.unplanned; }});
  columns.push_back({"memory", kStays, [](const Evaluation &plan) { return plan.bytes(); }, true});
  addSpaceColumns("host", &MemoryReport::host, optional);
  addSpaceColumns("disk", &MemoryReport::disk, optional);
  optional.push_back({"sent", 2, [](const Evaluation &plan) { return plan.sentBytes; }});
  llvm::copy_if(optional, std::back_inserter(columns), [&](const Column &column) {
    return llvm::any_of(strategies, [&](const auto &each) { return column.bytes(each.plan) > 0; });
  });
  return columns;
}

Line lineOf(const EvaluatedStrategy &strategy, bool isTaken, const Line &words,
            const std::vector<Column> &columns) {
  Line line = {isTaken ? "*" : ""};
  for (const std::string &word : words)
    line.push_back(valueOf(strategy, word));
  for (const Column &column : columns)
    line.push_back(bytesText(column, strategy.plan));
  line.push_back(fmt::format("{:.4g}", strategy.plan.step.total));
  return line;
}

/// Column names in two lines: "activation_" over "checkpointing". The first line of a single word is empty.
std::vector<Line> headOf(const Line &names) {
  std::vector<Line> head(2);
  for (const std::string &name : names) {
    const size_t separator = name.find_first_of("_ ");
    const bool isOneWord = separator == std::string::npos;
    head[0].push_back(isOneWord ? "" : name.substr(0, separator + (name[separator] == '_' ? 1 : 0)));
    head[1].push_back(isOneWord ? name : name.substr(separator + 1));
  }
  return head;
}

constexpr size_t kMaxWidth = 100; // of a terminal

/// `settings` as options, broken into indented lines.
std::string optionLines(const Settings &settings) {
  const std::string options = settings.empty() ? "as the program says" : asOptions(settings);
  std::string text, line = "     ";
  for (llvm::StringRef rest = options, option; !rest.empty();) {
    std::tie(option, rest) = rest.split(' ');
    if (line.size() + 1 + option.size() > kMaxWidth)
      text += std::exchange(line, "     ") + "\n";
    line += " " + option.str();
  }
  return text + line + "\n";
}

/// Right-aligns all columns but the last, which is left-aligned. `below` has a text to put under each line;
/// empty: none has one.
std::string aligned(const std::vector<Line> &lines, const Line &below) {
  std::vector<size_t> widths(lines.front().size());
  for (const Line &line : lines)
    for (size_t i = 0; i < line.size(); ++i)
      widths[i] = std::max(widths[i], line[i].size());
  std::string text;
  for (const Line &line : lines) {
    std::string row;
    for (size_t i = 0; i + 1 < line.size(); ++i)
      row += fmt::format("{:>{}}  ", line[i], widths[i]);
    row += line.back();
    text += row.substr(0, row.find_last_not_of(' ') + 1) + "\n";
    if (!below.empty())
      text += below[size_t(&line - lines.data())];
  }
  return text;
}

/// The lines of the table with a column for each of these settings, and these columns of bytes.
std::vector<Line> linesOf(const std::vector<EvaluatedStrategy> &strategies, const EvaluatedStrategy *chosen,
                          int64_t limit, const Line &words, const std::vector<Column> &columns) {
  Line names = {""};
  llvm::append_range(names, words);
  for (const Column &column : columns)
    names.push_back(column.name);
  names.push_back("seconds");
  std::vector<Line> lines = headOf(names);
  Line verdicts = {"", "verdict"};
  for (const EvaluatedStrategy &strategy : strategies) {
    lines.push_back(lineOf(strategy, &strategy == chosen, words, columns));
    verdicts.push_back(verdictOn(strategy, chosen, limit));
  }
  if (llvm::any_of(llvm::drop_begin(verdicts, 2),
                   [](const std::string &verdict) { return !verdict.empty(); }))
    for (auto [line, verdict] : llvm::zip_equal(lines, verdicts))
      line.push_back(verdict);
  return lines;
}

size_t widthOf(std::string_view text) {
  size_t width = 0;
  for (; !text.empty(); text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1))
    width = std::max(width, std::min(text.find('\n'), text.size()));
  return width;
}

/// The table with as many columns of bytes as fit; too wide if none does.
std::string tableOf(const std::vector<EvaluatedStrategy> &strategies, const EvaluatedStrategy *chosen,
                    int64_t limit, const Line &words, const Line &below) {
  for (std::vector<Column> columns = columnsOf(strategies);;) {
    std::string text = aligned(linesOf(strategies, chosen, limit, words, columns), below);
    const auto lightest = std::ranges::min_element(columns, {}, &Column::weight);
    if (widthOf(text) <= kMaxWidth || lightest->weight == kStays)
      return text;
    columns.erase(lightest);
  }
}

} // namespace

std::string strategyTable(const std::vector<EvaluatedStrategy> &strategies, const EvaluatedStrategy *chosen,
                          int64_t limit) {
  std::string text = tableOf(strategies, chosen, limit, decidedWords(strategies), {});
  if (widthOf(text) <= kMaxWidth)
    return text;
  Line options(2); // under the two lines of names: nothing
  for (const EvaluatedStrategy &strategy : strategies)
    options.push_back(optionLines(strategy.decided));
  return tableOf(strategies, chosen, limit, {}, options);
}

} // namespace trainc
