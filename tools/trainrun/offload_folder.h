// Where a rank keeps what its plan has on disk, and what to say of that.
#pragma once

#include "runtime/schema/plan_generated.h"
#include "tools/trainrun/options.h"

#include <filesystem>
#include <optional>
#include <string>

namespace trainc {

/// The folder that --offload-dir names; without it that of checkpoints, or the one above it that is there;
/// empty without both: that for temporary files.
std::filesystem::path offloadFolder(const Options &options);

/// One line: "on disk: 949 MiB, in /mnt/nvme"; nothing of a plan that keeps nothing there.
std::optional<std::string> describeOffload(const fb::Plan &plan, const Options &options);

/// A warning if the folder lies in memory, so that nothing is saved, or if --offload-dir is of no use.
std::optional<std::string> offloadWarning(const fb::Plan &plan, const Options &options);

} // namespace trainc
