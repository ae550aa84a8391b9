// The folder that holds a run's checkpoints: step-00000020, step-00000040, ..., each complete or absent.
#pragma once

#include "runtime/base/status.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace trainc {

/// "step-00000020" for 20.
std::string checkpointName(uint64_t step);

/// 20 for "step-00000020"; nothing for other names.
std::optional<uint64_t> stepOfName(const std::string &name);

/// Steps of the checkpoints in `folder`, ascending, by their names; empty when there is no such folder.
std::vector<uint64_t> listCheckpoints(const std::filesystem::path &folder);

/// For a warning: what `folder` holds under names much like those of checkpoints ("step-5"), which nobody
/// reads or removes; empty where there is nothing.
std::string describeLookalikes(const std::filesystem::path &folder);

/// Fails (kInvalidInput) where something else has a checkpoint's name: who would pass it over could take an
/// older checkpoint for the latest.
Status checkIsCheckpoint(const std::filesystem::path &path);

/// The checkpoint that `resume` names: "latest" (in `folder`), a checkpoint, or a folder of checkpoints (its
/// latest). `folder` is empty when the user gave none. Errors (kInvalidInput) say what was looked for and
/// what is there.
Result<std::filesystem::path> resolveCheckpoint(const std::string &resume,
                                                const std::filesystem::path &folder);

/// Calls `open(path)` with the checkpoint that `find()` names, and once more whenever that fails and `find()`
/// has come to name another one: a run that keeps few checkpoints removes the latest when it has written the
/// next.
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

/// A checkpoint folder opened for writing by one run at a time.
class CheckpointFolder {
public:
  /// Creates `path` where needed, checks that it can be written, and locks it against other runs. Errors
  /// (kInvalidInput) name the folder and the reason.
  static Result<CheckpointFolder> open(const std::filesystem::path &path);

  /// The folder that rank 0 of this run has opened, for another rank; locks nothing.
  static CheckpointFolder ofOtherRank(const std::filesystem::path &path) { return {path, -1}; }

  /// Begins a run that goes on from the checkpoint `resumed`; empty: from the beginning. Removes what runs
  /// that were killed left behind. Refuses (kInvalidInput), and touches nothing, where checkpoints of another
  /// run, or of another end of this one, would stand beside the new ones: `resumed` must be the latest in the
  /// folder, or the folder must hold none; and where something else has the name of a checkpoint.
  Status beginRun(const std::filesystem::path &resumed) const;

  CheckpointFolder(CheckpointFolder &&other) noexcept;
  CheckpointFolder(const CheckpointFolder &) = delete;
  CheckpointFolder &operator=(CheckpointFolder &&) = delete;
  CheckpointFolder &operator=(const CheckpointFolder &) = delete;
  ~CheckpointFolder();

  const std::filesystem::path &path() const { return path_; }
  std::filesystem::path pathOf(uint64_t step) const { return path_ / checkpointName(step); }
  /// Where the checkpoint of `step` is written before it gets its name.
  std::filesystem::path asidePath(uint64_t step) const;

  /// Makes an empty folder in which to write the checkpoint of `step`.
  Result<std::filesystem::path> begin(uint64_t step) const;
  /// Gives the folder that begin() made its name, atomically and durably; replaces a checkpoint of the same
  /// step, but nothing else.
  Status commit(uint64_t step) const;
  /// Removes the folder that begin() made.
  void abandon(uint64_t step) const;
  /// Removes checkpoints of steps before `step` until, with it, `count` are left.
  void keepLast(uint64_t step, uint64_t count) const;

private:
  CheckpointFolder(std::filesystem::path path, int lock) : path_(std::move(path)), lock_(lock) {}

  void removeLeftovers() const;

  std::filesystem::path path_;
  int lock_; ///< descriptor of the folder, held with flock
};

} // namespace trainc
