#include "runtime/state/checkpoint_folder.h"

#include "test/unit/runtime/state/support.h"

#include <gmock/gmock.h>

namespace trainc {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

void addCheckpoint(const fs::path &folder, uint64_t step) {
  fs::create_directories(folder / checkpointName(step));
  writeFile(folder / checkpointName(step) / "trainer_state.json", "{}");
}

TEST(CheckpointFolder, ListsOnlyCheckpoints) {
  TempFolder folder;
  for (const uint64_t step : {40U, 5U, 123456789U})
    addCheckpoint(folder.path(), step);
  for (const char *other : {"step-1", "step-0000002x", ".tmp-step-00000060", "notes"})
    fs::create_directory(folder / other);
  EXPECT_THAT(listCheckpoints(folder.path()), ElementsAre(5, 40, 123456789));
  EXPECT_THAT(listCheckpoints(folder / "none"), IsEmpty());
}

TEST(CheckpointFolder, WhatOnlyLooksLikeACheckpointIsNamed) {
  TempFolder folder;
  addCheckpoint(folder.path(), 20);
  EXPECT_EQ(describeLookalikes(folder.path()), "");
  EXPECT_EQ(describeLookalikes(folder / "none"), "");
  writeFile(folder / "step-5", "");
  for (const char *name : {"step-abc", "step-99999999999999999999", "notes"})
    fs::create_directory(folder / name);
  EXPECT_THAT(describeLookalikes(folder.path()), EndsWith(": step-5, step-99999999999999999999, step-abc"));
  EXPECT_EQ(*resolveCheckpoint("latest", folder.path()), folder / "step-00000020");
}

/// Creates a file, an empty folder or a nonempty folder with the name of a checkpoint.
void keepUnderStep(const fs::path &folder, uint64_t step, int kind) {
  const fs::path path = folder / checkpointName(step);
  if (kind == 0)
    return writeFile(path, "mine");
  fs::create_directory(path);
  if (kind == 2)
    writeFile(path / "notes", "mine");
}

TEST(CheckpointFolder, SomethingElseUnderACheckpointsNameIsRefusedAndKept) {
  for (const int kind : {0, 1, 2}) {
    TempFolder parent;
    addCheckpoint(parent.path(), 10);
    addCheckpoint(parent.path(), 30);
    const auto folder = CheckpointFolder::open(parent.path());
    keepUnderStep(parent.path(), 20, kind);
    keepUnderStep(parent.path(), 40, kind);
    const auto refused = HasSubstr("step-00000040: expected a checkpoint, found no ");
    EXPECT_THAT(resolveCheckpoint("latest", parent.path()).status().message(), refused);
    EXPECT_THAT(folder->beginRun(parent / "step-00000030").message(),
                HasSubstr("step-00000020: expected a checkpoint, found no "));
    ASSERT_TRUE(folder->begin(40).ok());
    EXPECT_THAT(folder->commit(40).message(), refused);
    folder->abandon(40);
    folder->keepLast(30, 1);
    EXPECT_THAT(listCheckpoints(parent.path()), ElementsAre(20, 30, 40));
    EXPECT_EQ(fs::is_regular_file(parent / "step-00000040"), kind == 0);
    EXPECT_EQ(fs::exists(parent / "step-00000020/notes"), kind == 2);
  }
}

TEST(CheckpointFolder, Resolves) {
  TempFolder folder;
  addCheckpoint(folder.path(), 20);
  addCheckpoint(folder.path(), 40);
  const fs::path latest = folder / "step-00000040";
  EXPECT_EQ(*resolveCheckpoint("latest", folder.path()), latest);
  EXPECT_EQ(*resolveCheckpoint(folder.path().string(), {}), latest);
  EXPECT_EQ(*resolveCheckpoint((folder / "step-00000020").string(), {}), folder / "step-00000020");
  EXPECT_THAT(resolveCheckpoint("latest", {}).status().message(),
              HasSubstr("--resume=latest needs --checkpoint-dir"));
  const auto none = resolveCheckpoint("latest", folder / "step-00000020");
  EXPECT_EQ(none.status().exitCode(), 2);
  EXPECT_THAT(none.status().message(), HasSubstr("no checkpoint (step-NNNNNNNN) in"));
  EXPECT_THAT(resolveCheckpoint((folder / "none").string(), {}).status().message(),
              HasSubstr("/none, which does not exist"));
  fs::create_symlink("loop", folder / "loop");
  const auto unreadable = resolveCheckpoint((folder / "loop").string(), {});
  EXPECT_EQ(unreadable.status().exitCode(), 2);
  EXPECT_THAT(unreadable.status().message(), HasSubstr("cannot look for checkpoints in"));
  EXPECT_THAT(unreadable.status().message(), HasSubstr("/loop: Too many levels of symbolic links"));
}

TEST(CheckpointFolder, ARunBeginsWhereNoOtherCheckpointsAre) {
  TempFolder parent;
  const auto empty = CheckpointFolder::open(parent / "empty");
  EXPECT_TRUE(empty->beginRun({}).ok());
  for (const char *run : {"a", "b"})
    for (const uint64_t step : {2U, 4U, 6U})
      addCheckpoint(parent / run, step);
  EXPECT_TRUE(empty->beginRun(parent / "a/step-00000002").ok());

  const auto folder = CheckpointFolder::open(parent / "a");
  fs::create_directory(parent / "a/.tmp-step-00000008");
  EXPECT_THAT(folder->beginRun({}).message(),
              HasSubstr("/a: holds checkpoints of another run already (up to step-00000006); add --resume"));
  const Status other = folder->beginRun(parent / "b/step-00000006");
  EXPECT_EQ(other.exitCode(), 2);
  EXPECT_THAT(other.message(), HasSubstr("of another run already (up to step-00000006); use another folder"));
  EXPECT_THAT(folder->beginRun(parent / "a/step-00000002").message(),
              HasSubstr("/a: holds checkpoints later than step-00000002, which --resume names: "
                        "step-00000004 to step-00000006; use another folder, or move these away"));
  EXPECT_TRUE(fs::exists(parent / "a/.tmp-step-00000008")) << "a refused run removed something";
  EXPECT_TRUE(folder->beginRun(parent / "b/../a/step-00000006").ok());
  EXPECT_FALSE(fs::exists(parent / "a/.tmp-step-00000008"));
}

TEST(CheckpointFolder, OnlyItsOwnLeftoversAreRemoved) {
  TempFolder parent;
  const std::vector<const char *> others = {".tmp-notes", ".tmp-step-8", ".tmp-step-00000008x", ".tmp-"};
  for (const char *other : others)
    writeFile(parent / other, "mine");
  ASSERT_TRUE(CheckpointFolder::open(parent.path())->beginRun({}).ok());
  for (const char *other : others)
    EXPECT_TRUE(fs::exists(parent / other)) << other;
}

TEST(CheckpointFolder, LocksAndRemovesLeftovers) {
  TempFolder parent;
  const fs::path path = parent / "runs/a";
  fs::create_directories(path / ".tmp-step-00000020");
  addCheckpoint(path, 10);
  const auto folder = CheckpointFolder::open(path);
  ASSERT_TRUE(folder.ok()) << folder.status().message();
  ASSERT_TRUE(folder->beginRun(path / "step-00000010").ok());
  EXPECT_FALSE(fs::exists(path / ".tmp-step-00000020"));
  EXPECT_THAT(listCheckpoints(path), ElementsAre(10));
  EXPECT_THAT(CheckpointFolder::open(path).status().message(),
              HasSubstr("another trainrun writes checkpoints there"));
}

TEST(CheckpointFolder, OpenRefusesWhatCannotBeWritten) {
  TempFolder parent;
  writeFile(parent / "file", "");
  const auto folder = CheckpointFolder::open(parent / "file/checkpoints");
  EXPECT_EQ(folder.status().exitCode(), 2);
  EXPECT_THAT(folder.status().message(), HasSubstr("cannot create the folder"));
  EXPECT_THAT(CheckpointFolder::open("/proc/self").status().message(),
              HasSubstr("/proc/self: cannot write there"));
}

TEST(CheckpointFolder, CommitIsAllOrNothingAndReplaces) {
  TempFolder parent;
  const auto folder = CheckpointFolder::open(parent.path());
  ASSERT_TRUE(folder.ok());
  for (const char *text : {"first", "second"}) {
    const auto aside = folder->begin(20);
    ASSERT_TRUE(aside.ok()) << aside.status().message();
    writeFile(*aside / "trainer_state.json", text);
    ASSERT_TRUE(folder->commit(20).ok());
    EXPECT_EQ(readFile(parent / "step-00000020/trainer_state.json"), text);
  }
  ASSERT_TRUE(folder->begin(40).ok());
  EXPECT_THAT(listCheckpoints(parent.path()), ElementsAre(20));
  folder->abandon(40);
  EXPECT_EQ(std::distance(fs::directory_iterator(parent.path()), {}), 1);
}

TEST(CheckpointFolder, KeepLastCountsOnlyEarlierOnes) {
  TempFolder parent;
  const auto folder = CheckpointFolder::open(parent.path());
  ASSERT_TRUE(folder.ok());
  for (const uint64_t step : {10U, 20U, 30U, 40U, 90U})
    addCheckpoint(parent.path(), step);
  folder->keepLast(40, 5);
  EXPECT_THAT(listCheckpoints(parent.path()), ElementsAre(10, 20, 30, 40, 90));
  folder->keepLast(40, 2);
  EXPECT_THAT(listCheckpoints(parent.path()), ElementsAre(30, 40, 90));
  folder->keepLast(40, 1);
  EXPECT_THAT(listCheckpoints(parent.path()), ElementsAre(40, 90));
}

TEST(OpenFound, TakesTheNextOneWhereTheLatestIsRemoved) {
  int asked = 0;
  const auto find = [&]() -> Result<std::filesystem::path> {
    return std::filesystem::path(++asked == 1 ? "first" : "second");
  };
  const auto open = [](const std::filesystem::path &path) -> Result<int> {
    return path == "first" ? Result<int>(invalidInput("first: cannot open")) : Result<int>(2);
  };
  EXPECT_EQ(*openFound(find, open), 2);
}

TEST(OpenFound, FailsWhereNothingChanges) {
  const auto find = []() -> Result<std::filesystem::path> { return std::filesystem::path("only"); };
  const auto open = [](const std::filesystem::path &) -> Result<int> {
    return invalidInput("only: damaged");
  };
  EXPECT_EQ(openFound(find, open).status().message(), "only: damaged");
}

} // namespace
} // namespace trainc
