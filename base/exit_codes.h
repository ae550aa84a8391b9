// Exit codes of trainc and trainrun.
#pragma once

#include <string_view>

namespace trainc {

enum ExitCode : int { kExitDone = 0, kExitFailed = 1, kExitUsage = 2 };

/// Explanation of an exit code, for --help and for docs/reference/exit-codes.md.
struct ExitCodeMeaning {
  ExitCode code;
  std::string_view meaning;
  std::string_view causes; ///< empty: the meaning says all
};

inline constexpr ExitCodeMeaning kExitCodes[] = {
    {kExitDone, "done",
     "also if a signal stopped a training with --checkpoint-dir: its checkpoint is written, and a warning "
     "names the last step"},
    {kExitFailed, "the run failed",
     "a rank failed; a value was not finite; a file, such as a checkpoint, could not be written; memory ran "
     "out; a signal stopped a run without --checkpoint-dir; standard output was lost. Also if the run is "
     "done, but a file of --metrics, --profile or --trace is incomplete"},
    {kExitUsage, "bad usage or input",
     "wrong options, model, plan, data or checkpoint; a plan for another CPU or GPU than this one"},
};

} // namespace trainc
