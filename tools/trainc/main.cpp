// trainc: compiles a model and its training step to a plan that trainrun executes.
#include "base/lack_of_memory.h"
#include "base/mapped_file.h"
#include "base/print.h"
#include "base/thread.h"
#include "tools/trainc/Commands.h"

#include <csignal>
#include <fmt/format.h>

namespace trainc {

int finish(const Status &status) {
  if (!status.ok())
    putMessage(stderr, fmt::format("error: {}\n", status.message()));
  return status.exitCode();
}

static int run(const CompileCommand &command) { return runCompile(command); }
static int run(const EstimateCommand &command) { return runEstimate(command); }
static int run(const ImportCommand &command) { return runImport(command); }
static int run(const TokenizeCommand &command) { return runTokenize(command); }
static int run(const ConsolidateCommand &command) { return runConsolidate(command); }
static int run(const ExportCommand &command) { return runExport(command); }
static int run(const DumpCommand &command) { return runDump(command); }
static int run(const ReportCommand &command) { return runReport(command); }
static int run(const SignCommand &command) { return runSign(command); }
static int run(const SimulateCommand &command) { return runSimulate(command); }
static int run(const CalibrateCommand &command) { return runCalibrate(command); }

} // namespace trainc

int main(int argc, char **argv) {
  trainc::claimStandardStreams();
  trainc::giveUpWithoutMemory();
  trainc::surviveLostPages();
  // a write beyond the file size limit then fails, and the partial output is removed
  std::signal(SIGXFSZ, SIG_IGN);
  if (const trainc::Status status = trainc::ensureStack(); !status.ok())
    return trainc::finish(status);
  auto parsed = trainc::parseCommandLine(argc, argv);
  if (int *exitCode = std::get_if<int>(&parsed))
    return *exitCode;
  return std::visit([](const auto &command) { return trainc::run(command); },
                    std::get<trainc::Command>(parsed));
}
