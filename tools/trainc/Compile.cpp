// `trainc compile`: reads a model, runs the phases, writes the plan and the report.
#include "lib/Pipelines/Pipeline.h"
#include "lib/Pipelines/Snapshots.h"
#include "runtime/base/file.h"
#include "runtime/plan/file.h"
#include "tools/common/llvm_tools.h"
#include "tools/trainc/Commands.h"
#include "tools/trainc/ModelFile.h"
#include "tools/trainc/Paths.h"

#include <array>
#include <chrono>

namespace trainc {

using Clock = std::chrono::steady_clock;

static double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

static Status checkPaths(const CompileCommand &command) {
  std::vector<NamedPath> outputs;
  if (!command.output.empty())
    outputs.push_back({"-o " + command.output, command.output});
  if (!command.report.empty())
    outputs.push_back({"--report=" + command.report, command.report});
  return checkOutputs(outputs, {{"the model '" + command.model + "'", command.model}});
}

static Status print(mlir::ModuleOp module) {
  module->print(llvm::outs());
  llvm::outs() << "\n";
  const std::optional<std::string> error = flushOutput();
  return error ? failed("{}", *error) : Status();
}

int runCompile(const CompileCommand &command) {
  Clock::time_point start = Clock::now();
  if (Status status = checkPaths(command); !status.ok())
    return finish(status);
  auto file = readModel(command.model);
  if (!file.ok())
    return finish(file.status());

  ParsedModel model(std::move(*file));
  mlir::ModuleOp module = model.module();
  if (!module)
    return 2;
  Snapshots snapshots(command.dumpDir);
  if (failed(runPhases(module, command.options, command.dumpDir.empty() ? nullptr : &snapshots)))
    return snapshots.failed() ? 1 : 2;
  if (command.options.compileTo)
    return finish(print(module));
  std::string report;
  auto plan = finishPlan(module, secondsSince(start), report);
  if (failed(plan))
    return finish(failed("{}: not written", command.output));
  if (const auto read = readPayload(std::as_bytes(std::span(*plan))); !read.ok())
    return finish(invalidInput("{}: not written, as trainrun would refuse it: {}", command.output,
                               read.status().message()));
  if (Status status = writePlanFile(command.output, *plan); !status.ok())
    return finish(status);
  if (!command.report.empty())
    return finish(writeFileAtomically(command.report, std::array{std::as_bytes(std::span(report))}));
  return 0;
}

} // namespace trainc
