#include "tools/trainrun/offload_folder.h"

#include "base/units.h"
#include "plan/facts/memory_need.h"
#include "runtime/device/disk_arena.h"

#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/vfs.h>

namespace trainc {

namespace {

std::string shownFolder(const Options &options) {
  std::error_code error;
  return std::filesystem::absolute(DiskArena::folderFor(offloadFolder(options)), error).string();
}

bool liesInMemory(const std::string &folder) {
  struct statfs found{};
  return ::statfs(folder.c_str(), &found) == 0 &&
         (found.f_type == TMPFS_MAGIC || found.f_type == RAMFS_MAGIC);
}

} // namespace

/// The disk of checkpoints has space for states, whereas folders for temporary files are often in memory.
std::filesystem::path offloadFolder(const Options &options) {
  if (!options.offloadDir.empty())
    return options.offloadDir;
  if (options.checkpointDir.empty())
    return {};
  std::error_code error;
  std::filesystem::path folder = std::filesystem::absolute(options.checkpointDir, error);
  while (folder.has_relative_path() && !std::filesystem::is_directory(folder, error))
    folder = folder.parent_path();
  return folder;
}

std::optional<std::string> describeOffload(const fb::Plan &plan, const Options &options) {
  const uint64_t bytes = arenaBytesOf(plan).disk;
  if (bytes == 0)
    return std::nullopt;
  return fmt::format("on disk: {}, in {}", formatNeededBytes(bytes), shownFolder(options));
}

std::optional<std::string> offloadWarning(const fb::Plan &plan, const Options &options) {
  const uint64_t bytes = arenaBytesOf(plan).disk;
  if (bytes == 0 && !options.offloadDir.empty())
    return fmt::format(
        "--offload-dir={} does nothing: the plan keeps nothing on disk; leave it out, or compile with "
        "--offload=optimizer --offload-to=disk",
        options.offloadDir);
  if (const std::string folder = shownFolder(options); bytes > 0 && liesInMemory(folder))
    return fmt::format(
        "{} lies in memory, and so do the {} that the plan keeps on disk; name a folder on a disk "
        "with --offload-dir",
        folder, formatNeededBytes(bytes));
  return std::nullopt;
}

} // namespace trainc
