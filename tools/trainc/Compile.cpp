// `trainc compile`: reads a model, runs the phases, writes the plan and the report.
#include "base/file.h"
#include "base/input_file.h"
#include "base/json_text.h"
#include "base/output_file.h"
#include "base/plain_text.h"
#include "base/print.h"
#include "base/units.h"
#include "lib/Pipelines/MemoryLimit.h"
#include "lib/Pipelines/Pipeline.h"
#include "lib/Pipelines/Queries.h"
#include "lib/Pipelines/Settings.h"
#include "lib/Pipelines/Snapshots.h"
#include "plan/file/file.h"
#include "tools/common/llvm_tools.h"
#include "tools/trainc/Commands.h"
#include "tools/trainc/ModelFile.h"
#include "tools/trainc/Paths.h"
#include "tools/trainc/StrategyTable.h"
#include "tools/trainc/Summary.h"

#include <array>
#include <chrono>
#include <fmt/format.h>

namespace trainc {

using Clock = std::chrono::steady_clock;

static double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Fails if the file holds something else than a compile report.
static Status requireReport(const std::string &path) {
  if (bytesToLose(path) == 0)
    return {};
  TRAINC_ASSIGN_OR_RETURN(const std::string text, readWholeFile(path));
  const nlohmann::json json = tryParseJson(text);
  if (json.is_object() && json.contains("flops_per_step") && json.contains("memory_by_type"))
    return {};
  return otherContent("--report=", path, "a compile report");
}

static Status checkPaths(const CompileCommand &command) {
  std::vector<NamedPath> outputs;
  if (!command.output.empty())
    outputs.push_back({"-o " + command.output, command.output});
  if (!command.report.empty())
    outputs.push_back({"--report=" + command.report, command.report});
  TRAINC_RETURN_IF_ERROR(checkOutputs(outputs, {{"the model '" + command.model + "'", command.model}}));
  if (!command.report.empty())
    TRAINC_RETURN_IF_ERROR(requireReport(command.report));
  return requireKind(command.output, {"-o ", "a plan", kPlanMagic});
}

/// Maximum number of lines for strategies that fit, and for those that do not; the report lists all.
constexpr size_t kLines = 10;

/// Strategies that a memory limit chose among, and the chosen one.
static std::string describe(const Planning &planning) {
  std::vector<EvaluatedStrategy> shown;
  size_t lines[] = {0, 0};
  for (const EvaluatedStrategy &each : planning.strategies)
    if (lines[each.plan.fits(planning.limit) ? 1 : 0]++ < kLines)
      shown.push_back(each);
  const EvaluatedStrategy *chosen = planning.fits ? &shown.front() : nullptr;
  std::string text = strategyTable(shown, chosen, planning.limit);
  if (const size_t others = planning.strategies.size() - shown.size(); others > 0)
    text += fmt::format("and {} more{}\n", others, chosen ? ", which the report has (--report=FILE)" : "");
  if (chosen)
    text += fmt::format("took {}: {} of {}, {:.4g} seconds a step as predicted\n",
                        chosen->decided.empty() ? "the program as it is" : asOptions(chosen->decided),
                        formatNeededBytes(uint64_t(chosen->plan.bytes())),
                        formatBytes(uint64_t(planning.limit)), chosen->plan.step.total);
  return text;
}

static std::string describeLargestBatches(const Planning &planning) {
  const Settings shared =
      planning.strategies.empty() ? Settings() : sharedWithLargest(planning.strategies.front().decided);
  return fmt::format("the largest micro-batches that fit into {}{}:\n", formatBytes(uint64_t(planning.limit)),
                     shared.empty() ? "" : ", as in the plan with " + asOptions(shared)) +
         strategyTable(planning.largestBatches, nullptr, planning.limit) +
         remarksOnLargestBatches(planning.largestBatches);
}

static Status print(mlir::ModuleOp module) {
  module->print(llvm::outs());
  llvm::outs() << "\n";
  const std::optional<std::string> error = flushOutput();
  return error ? failed("{}", *error) : Status();
}

static Status writeReport(const std::string &path, const std::string &report) {
  const std::string text = printableJson(report);
  return writeFileAtomically(path, std::array{std::as_bytes(std::span(text))});
}

int runCompile(const CompileCommand &command) {
  Clock::time_point start = Clock::now();
  auto file = readModel(command.model); // first, as the plan's name may be the model's
  if (!file.ok())
    return finish(file.status());
  if (Status status = checkPaths(command); !status.ok())
    return finish(status);

  ParsedModel model(std::move(*file));
  mlir::ModuleOp module = model.module();
  if (!module)
    return kExitUsage;
  Snapshots snapshots(command.dumpDir);
  Planning planning;
  const auto tell = [&](const Planning &decided) {
    planning = decided;
    if (!planning.strategies.empty() && !command.quiet)
      putMessage(stderr, describe(planning));
    if (command.options.findsLargestBatch && !command.quiet)
      putMessage(stderr, describeLargestBatches(planning));
  };
  if (failed(runPhases(module, command.options, command.dumpDir.empty() ? nullptr : &snapshots, tell)))
    return snapshots.failed() ? 1 : 2;
  if (command.options.compileTo)
    return finish(print(module));
  std::string report;
  auto plan = finishPlan(module, secondsSince(start), report, &planning);
  if (failed(plan))
    return finish(failed("{}: not written", command.output));
  const auto read = readPayload(std::as_bytes(std::span(*plan)));
  if (!read.ok())
    return finish(invalidInput("{}: not written, as trainrun would refuse it: {}", command.output,
                               read.status().message()));
  if (Status status = writePlanFile(command.output, *plan); !status.ok())
    return finish(status);
  if (!command.report.empty())
    if (Status status = writeReport(command.report, report); !status.ok())
      return finish(status);
  if (!command.quiet)
    putMessage(stderr, compiledText(**read, command.output, report));
  return 0;
}

} // namespace trainc
