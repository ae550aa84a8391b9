// run-cases FOLDER: the cases that `trainc-check --write-cases=FOLDER` wrote, on this machine's GPU.
#include "base/mapped_file.h"
#include "base/print.h"
#include "plan/file/file.h"
#include "tools/cases/run.h"

#include <algorithm>

using namespace trainc;

namespace {

Result<std::vector<std::filesystem::path>> plansIn(const std::filesystem::path &folder) {
  std::vector<std::filesystem::path> plans;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (at->path().extension() == ".plan")
      plans.push_back(at->path());
  if (error)
    return invalidInput("cannot list the folder {}: {}", folder.string(), error.message());
  if (plans.empty())
    return invalidInput("{}: expected a folder of cases, as trainc-check --write-cases=FOLDER writes it, "
                        "found no .plan in it",
                        folder.string());
  std::ranges::sort(plans);
  return plans;
}

/// Prints a line for each case of a plan; whether all passed.
Result<bool> runPlan(const std::filesystem::path &path, bool isFirst) {
  TRAINC_ASSIGN_OR_RETURN(const PlanFile file, PlanFile::open(path));
  TRAINC_ASSIGN_OR_RETURN(const std::vector<cases::Case> read, cases::read(path));
  TRAINC_ASSIGN_OR_RETURN(const std::unique_ptr<Device> device, cases::openDeviceOf(file.plan()));
  TRAINC_ASSIGN_OR_RETURN(const std::vector<double> errors, cases::run(file.plan(), *device, read));
  if (isFirst)
    TRAINC_RETURN_IF_ERROR(printOutput("device: " + device->description() + "\n"));
  bool allPassed = true;
  for (size_t i = 0; i < read.size(); ++i) {
    const bool passed = errors[i] <= read[i].bound;
    allPassed &= passed;
    TRAINC_RETURN_IF_ERROR(
        printOutput(fmt::format("{} {}/{} max_err={:.1e} bound={:.1e}\n", passed ? "PASS" : "FAIL",
                                path.stem().string(), read[i].name, errors[i], read[i].bound)));
  }
  return allPassed;
}

int exitCodeOf(const Status &status) {
  putMessage(stderr, "error: " + status.message() + "\n");
  return status.exitCode();
}

} // namespace

int main(int argc, char **argv) {
  claimStandardStreams();
  surviveLostPages();
  if (argc != 2 || argv[1][0] == '-') {
    putMessage(stderr,
               "usage: run-cases FOLDER\n  FOLDER: cases that trainc-check --write-cases=FOLDER wrote\n");
    return 2;
  }
  const Result<std::vector<std::filesystem::path>> plans = plansIn(argv[1]);
  if (!plans.ok())
    return exitCodeOf(plans.status());
  int code = 0;
  for (const std::filesystem::path &plan : *plans) {
    const Result<bool> passed = runPlan(plan, plan == plans->front());
    code = std::max(code, !passed.ok() ? exitCodeOf(passed.status()) : *passed ? 0 : 1);
  }
  return code;
}
