#include "runtime/state/checkpoint_folder.h"

#include "base/file.h"
#include "runtime/state/checkpoint_files.h"
#include "runtime/state/durable_file.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace trainc {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kPrefix = "step-";
/// Prefix of incomplete and discarded checkpoints: hidden, and never taken for a checkpoint.
constexpr std::string_view kAsidePrefix = ".tmp-";

/// Calls `visit` with the name of each entry of a folder; does nothing if it is not one.
template <typename Visit> void forEachName(const fs::path &folder, Visit visit) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    visit(entry->path().filename().string());
}

/// The latest checkpoint in `folder`, or an error that says what is there.
Result<fs::path> latestIn(const fs::path &folder, const std::string &asked) {
  const std::vector<uint64_t> steps = listCheckpoints(folder);
  if (!steps.empty()) {
    const fs::path latest = folder / checkpointName(steps.back());
    TRAINC_RETURN_IF_ERROR(checkIsCheckpoint(latest));
    return latest;
  }
  std::error_code error;
  const fs::directory_iterator entries(folder, error);
  if (error && error != std::errc::no_such_file_or_directory && error != std::errc::not_a_directory)
    return invalidInput("--resume={}: cannot look for checkpoints in {}: {}", asked, folder.string(),
                        error.message());
  return invalidInput(
      "--resume={}: no checkpoint (step-NNNNNNNN) in {}{}; name the folder of a run, or, to train from the "
      "beginning, leave --resume out or use --resume=auto",
      asked, folder.string(),
      fs::is_directory(folder, error) ? ""
      : fs::exists(folder, error)     ? ", which is not a folder"
                                      : ", which does not exist");
}

/// Creates a folder and its parents unless they exist.
Status createFolder(const fs::path &path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (!error)
    return {};
  std::error_code ignored;
  for (fs::path at = path; !at.empty() && at != at.parent_path(); at = at.parent_path())
    if (fs::exists(at, ignored) && !fs::is_directory(at, ignored))
      return invalidInput("--checkpoint-dir={}: cannot create the folder: {} is not a folder; name another",
                          path.string(), at.string());
  return invalidInput("--checkpoint-dir={}: cannot create the folder: {}", path.string(), error.message());
}

} // namespace

std::string checkpointName(uint64_t step) { return fmt::format("{}{:08}", kPrefix, step); }

std::optional<uint64_t> stepOfName(const std::string &name) {
  uint64_t step = 0;
  const char *end = name.data() + name.size();
  if (!name.starts_with(kPrefix))
    return std::nullopt;
  const auto [parsed, error] = std::from_chars(name.data() + kPrefix.size(), end, step);
  if (error != std::errc() || parsed != end || checkpointName(step) != name)
    return std::nullopt;
  return step;
}

std::vector<uint64_t> listCheckpoints(const fs::path &folder) {
  std::vector<uint64_t> steps;
  forEachName(folder, [&](const std::string &name) {
    if (const auto step = stepOfName(name))
      steps.push_back(*step);
  });
  std::ranges::sort(steps);
  return steps;
}

std::string describeLookalikes(const fs::path &folder) {
  std::vector<std::string> names;
  forEachName(folder, [&](const std::string &name) {
    if (name.starts_with(kPrefix) && !stepOfName(name))
      names.push_back(name);
  });
  if (names.empty())
    return {};
  std::ranges::sort(names);
  return fmt::format("{}: passed over and left alone, as checkpoints have other names (step-NNNNNNNN): {}",
                     folder.string(), fmt::join(names, ", "));
}

Status checkIsCheckpoint(const fs::path &path) {
  std::error_code error;
  if (fs::exists(path / kTrainerStateFile, error))
    return {};
  if (error && error != std::errc::not_a_directory)
    return invalidInput("{}: cannot look for {} in it: {}", path.string(), kTrainerStateFile,
                        error.message());
  return invalidInput("{}: expected a checkpoint, found no {} in it; move it away, or use another folder",
                      path.string(), kTrainerStateFile);
}

Result<fs::path> resolveCheckpoint(const std::string &resume, const fs::path &folder) {
  if (resume == "latest") {
    if (folder.empty())
      return invalidInput("--resume=latest needs --checkpoint-dir, or name a checkpoint: --resume=DIR");
    return latestIn(folder, resume);
  }
  if (checkIsCheckpoint(resume).ok())
    return fs::path(resume);
  return latestIn(resume, resume);
}

CheckpointFolder::CheckpointFolder(CheckpointFolder &&other) noexcept
    : path_(std::move(other.path_)), lock_(std::exchange(other.lock_, -1)) {}

CheckpointFolder::~CheckpointFolder() {
  if (lock_ >= 0)
    ::close(lock_);
}

Result<CheckpointFolder> CheckpointFolder::open(const fs::path &path) {
  TRAINC_RETURN_IF_ERROR(createFolder(path));
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return invalidInput("--checkpoint-dir={}: cannot open the folder: {}", path.string(),
                        std::strerror(errno));
  CheckpointFolder folder(path, fd);
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0)
    return invalidInput(
        "--checkpoint-dir={}: another trainrun writes checkpoints there; stop it or use another folder",
        path.string());
  const fs::path probe = path / fmt::format("{}probe", kAsidePrefix);
  ::rmdir(probe.c_str()); // left by a run that was killed at this point
  if (::mkdir(probe.c_str(), 0777) != 0)
    return invalidInput("--checkpoint-dir={}: cannot write there: {}", path.string(), std::strerror(errno));
  ::rmdir(probe.c_str());
  return folder;
}

Status CheckpointFolder::beginRun(const fs::path &resumed) const {
  const std::vector<uint64_t> existing = listCheckpoints(path_);
  for (const uint64_t step : existing)
    TRAINC_RETURN_IF_ERROR(checkIsCheckpoint(pathOf(step)));
  const auto isResumed = [&](uint64_t step) {
    std::error_code error;
    return fs::equivalent(pathOf(step), resumed, error);
  };
  const auto own = resumed.empty() ? existing.end() : std::ranges::find_if(existing, isResumed);
  if (own == existing.end() && !existing.empty())
    return invalidInput(
        "--checkpoint-dir={}: holds checkpoints of another run already (up to {}); {}use another folder",
        path_.string(), checkpointName(existing.back()),
        resumed.empty() ? "add --resume to go on from there, or " : "");
  if (own != existing.end() && own + 1 != existing.end())
    return invalidInput(
        "--checkpoint-dir={}: holds checkpoints later than {}, which --resume names: {} to {}; "
        "use another folder, or move these away",
        path_.string(), checkpointName(*own), checkpointName(own[1]), checkpointName(existing.back()));
  removeLeftovers();
  return {};
}

Result<fs::path> CheckpointFolder::begin(uint64_t step) const {
  const fs::path aside = asidePath(step);
  std::error_code error;
  fs::remove_all(aside, error);
  fs::create_directory(aside, error);
  if (error)
    return failed("{}: cannot create the folder: {}", aside.string(), error.message());
  return aside;
}

Status CheckpointFolder::commit(uint64_t step) const {
  const fs::path aside = asidePath(step);
  const fs::path final = pathOf(step);
  TRAINC_RETURN_IF_ERROR(syncFolder(aside));
  std::error_code error;
  if (fs::exists(final, error))
    TRAINC_RETURN_IF_ERROR(checkIsCheckpoint(final));
  if (::rename(aside.c_str(), final.c_str()) == 0)
    return syncFolder(path_);
  // A checkpoint of this step exists: exchange the two, then remove the old one, so that one exists at every
  // moment.
  if (::renameat2(AT_FDCWD, aside.c_str(), AT_FDCWD, final.c_str(), RENAME_EXCHANGE) != 0)
    return failed("{}: cannot rename to {}: {}", aside.string(), final.string(), std::strerror(errno));
  TRAINC_RETURN_IF_ERROR(syncFolder(path_));
  abandon(step);
  return {};
}

void CheckpointFolder::abandon(uint64_t step) const {
  std::error_code ignored; // leftovers are removed by the next run's open()
  fs::remove_all(asidePath(step), ignored);
}

void CheckpointFolder::keepLast(uint64_t step, uint64_t count) const {
  std::vector<uint64_t> older = listCheckpoints(path_);
  std::erase_if(older,
                [&](uint64_t other) { return other >= step || !checkIsCheckpoint(pathOf(other)).ok(); });
  for (size_t i = 0; i + count <= older.size(); ++i) {
    // Renamed first: a checkpoint is never visible half removed.
    if (::rename(pathOf(older[i]).c_str(), asidePath(older[i]).c_str()) == 0)
      abandon(older[i]);
  }
}

fs::path CheckpointFolder::asidePath(uint64_t step) const {
  return path_ / fmt::format("{}{}", kAsidePrefix, checkpointName(step));
}

void CheckpointFolder::removeLeftovers() const {
  std::vector<std::string> leftovers;
  forEachName(path_, [&](const std::string &name) {
    if (name.starts_with(kAsidePrefix) && stepOfName(name.substr(kAsidePrefix.size())))
      leftovers.push_back(name);
  });
  std::error_code ignored;
  for (const std::string &leftover : leftovers)
    fs::remove_all(path_ / leftover, ignored);
}

} // namespace trainc
