// trainc's subcommands; each returns the exit code.
#pragma once

#include "base/status.h"
#include "tools/trainc/Cli.h"

#include <string_view>

namespace trainc {

int runCompile(const CompileCommand &command);
int runEstimate(const EstimateCommand &command);
int runImport(const ImportCommand &command);
int runTokenize(const TokenizeCommand &command);
int runConsolidate(const ConsolidateCommand &command);
int runExport(const ExportCommand &command);
int runDump(const DumpCommand &command);
int runReport(const ReportCommand &command);
int runSign(const SignCommand &command);
int runSimulate(const SimulateCommand &command);
int runCalibrate(const CalibrateCommand &command);

/// Prints which file was written and what it holds, unless `quiet`.
void sayWritten(bool quiet, std::string_view path, std::string_view content);

/// Prints the error of a status, if it has one, and returns its exit code.
int finish(const Status &status);

} // namespace trainc
