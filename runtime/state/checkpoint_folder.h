// The folder that holds a run's checkpoints: step-00000020, step-00000040, ..., each complete or absent.
#pragma once

#include "base/status.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace trainc {

/// "step-00000020" for 20.
std::string checkpointName(uint64_t step);

/// Inverse of checkpointName(); nothing for other names.
std::optional<uint64_t> stepOfName(const std::string &name);

/// Steps of the checkpoints in `folder` by name, ascending; empty if there is no such folder.
std::vector<uint64_t> listCheckpoints(const std::filesystem::path &folder);

/// Text for a warning: entries of `folder` with names similar to those of checkpoints ("step-5"), which are
/// neither read nor removed; empty if there are none.
std::string describeLookalikes(const std::filesystem::path &folder);

/// Fails with kInvalidInput if `path` has a checkpoint's name but is something else: skipping it could select
/// an older checkpoint as the latest.
Status checkIsCheckpoint(const std::filesystem::path &path);

/// Resolves `resume`: "latest" (in `folder`), a checkpoint, or a folder of checkpoints (its latest). `folder`
/// is empty if the user gave none. Errors (kInvalidInput) say what was searched and what exists.
Result<std::filesystem::path> resolveCheckpoint(const std::string &resume,
                                                const std::filesystem::path &folder);

/// Calls `open(path)` for the checkpoint that `find()` names. If it fails and `find()` now names another
/// checkpoint, tries that one, and so on: a run that keeps few checkpoints may remove one while it is opened.
template <typename Find, typename Open>
auto openFound(Find find, Open open) -> decltype(open(std::filesystem::path())) {
  for (;;) {
    const Result<std::filesystem::path> found = find();
    auto opened = found.ok() ? open(*found) : decltype(open(std::filesystem::path()))(found.status());
    if (opened.ok())
      return opened;
    const Result<std::filesystem::path> again = find();
    if (!again.ok() || (found.ok() && *found == *again))
      return opened;
  }
}

/// A checkpoint folder, opened for writing by one run at a time.
class CheckpointFolder {
public:
  /// Creates `path` if needed, checks that it is writable, and locks it against other runs. Errors
  /// (kInvalidInput) name the folder and the reason.
  static Result<CheckpointFolder> open(const std::filesystem::path &path);

  /// The folder that rank 0 of this run has opened, for another rank; takes no lock.
  static CheckpointFolder ofOtherRank(const std::filesystem::path &path) { return {path, -1}; }

  /// Begins a run that continues from the checkpoint `resumed`, or a new run if `resumed` is empty. Removes
  /// leftovers of killed runs. Fails with kInvalidInput, without changes, unless `resumed` is the latest
  /// checkpoint in the folder or the folder has none. Otherwise checkpoints of another run, or of another
  /// branch of this run, would be mixed with the new ones. Also fails if something else has a checkpoint's
  /// name.
  Status beginRun(const std::filesystem::path &resumed) const;

  CheckpointFolder(CheckpointFolder &&other) noexcept;
  CheckpointFolder(const CheckpointFolder &) = delete;
  CheckpointFolder &operator=(CheckpointFolder &&) = delete;
  CheckpointFolder &operator=(const CheckpointFolder &) = delete;
  ~CheckpointFolder();

  const std::filesystem::path &path() const { return path_; }
  std::filesystem::path pathOf(uint64_t step) const { return path_ / checkpointName(step); }
  /// Temporary path of the checkpoint of `step`.
  std::filesystem::path asidePath(uint64_t step) const;

  /// Creates an empty temporary folder for the checkpoint of `step`.
  Result<std::filesystem::path> begin(uint64_t step) const;
  /// Renames the folder of begin() to its final name, atomically and durably; may replace only a checkpoint
  /// of the same step.
  Status commit(uint64_t step) const;
  /// Removes the folder of begin().
  void abandon(uint64_t step) const;
  /// Removes the oldest checkpoints before `step` until `count` are left, including that of `step`.
  void keepLast(uint64_t step, uint64_t count) const;

private:
  CheckpointFolder(std::filesystem::path path, int lock) : path_(std::move(path)), lock_(lock) {}

  void removeLeftovers() const;

  std::filesystem::path path_;
  int lock_; ///< descriptor of the folder, held with flock
};

} // namespace trainc
