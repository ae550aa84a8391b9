#include "tools/trainc/Summary.h"

#include "base/json_text.h"
#include "base/units.h"
#include "plan/facts/counts.h"
#include "plan/facts/memory_need.h"
#include "plan/facts/view.h"
#include "plan/schema/entry_names.h"
#include "tools/report/verdict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

namespace trainc {

namespace {

/// Steps of the suggested run if the plan has no default.
constexpr int kFirstSteps = 1000;

/// Maximum number of ranks that the suggested run starts on one host; hosts have up to eight GPUs.
constexpr uint32_t kMaxRanksOfHost = 8;

std::string_view pluralOf(uint64_t count) { return count == 1 ? "" : "s"; }

/// "512 tokens", or "8 samples" if the model has no length.
std::string workOfStep(const fb::Plan &plan) {
  return fmt::format("{} {}", workPerStep(plan), workUnit(plan));
}

std::string predictedStep(const fb::Plan &plan, std::string_view report) {
  const nlohmann::json json = tryParseJson(report);
  const auto seconds = json.is_object() ? json.find("predicted_step_seconds") : json.end();
  if (seconds == json.end() || !seconds->is_number())
    return "no prediction of a step";
  return fmt::format("predicted step {} ({})", report::secondsText(seconds->get<double>()), workOfStep(plan));
}

/// Columns that a data file must have; empty if a token file is enough.
std::set<std::string_view> columnsOf(const fb::Plan &plan) {
  std::set<std::string_view> columns;
  const auto isFed = [&](std::string_view entry) {
    return plan.no_training() ? entry == kEvalEntry
                              : entry == kMicroStepEntry || entry == kLastMicroStepEntry;
  };
  for (const fb::Entry *entry : *plan.entries())
    if (isFed(view(entry->name())) && entry->inputs())
      for (const fb::Input *input : *entry->inputs())
        columns.insert(view(input->column()));
  const bool isStream = columns == std::set<std::string_view>{"tokens", "labels"} ||
                        columns == std::set<std::string_view>{"tokens"};
  return isStream ? std::set<std::string_view>() : columns;
}

/// The command that trains, or that evaluates if the plan trains nothing.
std::string commandFor(const fb::Plan &plan, const std::string &path) {
  const std::set<std::string_view> columns = columnsOf(plan);
  const bool isOfSeveralHosts = plan.ranks() > kMaxRanksOfHost;
  std::string text = isOfSeveralHosts ? fmt::format("srun --ntasks={} ", plan.ranks()) : "";
  text += "trainrun " + shellWord(path);
  if (plan.ranks() > 1 && !isOfSeveralHosts)
    text += fmt::format(" --nproc-per-node={}", plan.ranks());
  if (plan.no_training() && parameterCount(plan) > 0)
    text += " --init=weights.safetensors";
  text += fmt::format(" {} {}", plan.no_training() ? "--eval-data" : "--data",
                      columns.empty() ? "tokens.bin" : "data.safetensors");
  if (!plan.no_training() && plan.training()->steps() == 0)
    text += fmt::format(" --steps {}", kFirstSteps);
  return text + (columns.empty() ? "   # trainc tokenize TEXT -o tokens.bin"
                                 : fmt::format("   # columns: {}", fmt::join(columns, ", ")));
}

} // namespace

std::string shellWord(std::string_view text) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@%+=:,./_-";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos)
    return std::string(text);
  std::string quoted = "'";
  for (const char each : text)
    quoted += each == '\'' ? std::string("'\\''") : std::string(1, each);
  return quoted + "'";
}

std::string compiledText(const fb::Plan &plan, const std::string &path, std::string_view report) {
  return fmt::format("wrote {}: {} with {} parameters, {} rank{}\n"
                     "peak memory {}; {}\n"
                     "next: {}\n",
                     path, view(plan.name()), formatCount(double(parameterCount(plan))), plan.ranks(),
                     pluralOf(plan.ranks()), report::needText(memoryNeedOf(plan), plan.ranks()),
                     predictedStep(plan, report), commandFor(plan, path));
}

std::string tokenizedText(const TokenizeOptions &options, const TokenizedTexts &made) {
  return fmt::format("wrote {}: {} tokens ({}) of {} file{}, {:.3f} tokens per byte\n"
                     "tokenizer: {}, {} tokens, recorded in {}\n",
                     options.output, made.tokens, tokenDTypeName(made.dtype), made.files,
                     pluralOf(made.files), double(made.tokens) / double(made.bytes), options.tokenizer,
                     made.vocabulary, sidecarPath(options.output).string());
}

} // namespace trainc
