// `trainc compile`: reads a model, runs the phases, writes the plan and the report.
#include "lib/Pipelines/Pipeline.h"
#include "runtime/base/file.h"
#include "runtime/plan/file.h"
#include "tools/trainc/Commands.h"
#include "tools/trainc/Hints.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <array>
#include <chrono>
#include <tuple>

namespace trainc {

using Clock = std::chrono::steady_clock;

static double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// What is read and what is written are different files.
static Status checkOutputs(const CompileCommand &command) {
  const std::tuple<const std::string &, const char *, const std::string &> pairs[] = {
      {command.output, "--output", command.model},
      {command.report, "--report", command.model},
      {command.report, "--report", command.output}};
  for (const auto &[path, option, other] : pairs)
    if (!path.empty() && !other.empty() && isSameFile(path, other))
      return invalidInput("{}={}: would replace {}; give another name", option, path, other);
  return {};
}

int runCompile(const CompileCommand &command) {
  Clock::time_point start = Clock::now();
  if (Status status = checkOutputs(command); !status.ok())
    return finish(status);
  std::string message;
  auto file = mlir::openInputFile(command.model, &message);
  if (!file)
    return finish(invalidInput("{}", message));

  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry);
  context.printOpOnDiagnostic(
      false); // users wrote text, not the generic form, which may be thousands of lines
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  mlir::SourceMgrDiagnosticHandler diagnostics(sources, &context);
  SyntaxHints hints(context);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(sources, &context);
  if (!module || failed(runPhases(*module, command.options)))
    return 2;
  if (command.options.compileTo) {
    module->print(llvm::outs());
    llvm::outs() << "\n";
    return 0;
  }
  std::string report;
  auto plan = finishPlan(*module, command.options, secondsSince(start), report);
  if (failed(plan))
    return 2;
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
