// Folder of a rank's disk arenas, and messages about it.
#pragma once

#include "plan/schema/plan_generated.h"
#include "tools/trainrun/options.h"

#include <filesystem>
#include <optional>
#include <string>

namespace trainc {

/// Folder of the disk arenas: --offload-dir or, without that option, the folder of checkpoints or its nearest
/// existing parent. Empty without either; the folder for temporary files is then used.
std::filesystem::path offloadFolder(const Options &options);

/// A line "on disk: 949 MiB, in /mnt/nvme"; nothing if the plan has no disk arenas.
std::optional<std::string> describeOffload(const fb::Plan &plan, const Options &options);

/// A warning if the folder is in memory, so that nothing is saved, or if --offload-dir has no effect.
std::optional<std::string> offloadWarning(const fb::Plan &plan, const Options &options);

} // namespace trainc
