#include "lib/Pipelines/CheckpointLevels.h"

#include "dialects/Train/Checkpoints.h"
#include "dialects/Train/ProgramSettings.h"
#include "lib/Pipelines/SearchSpace.h"
#include "lib/Remat/BlockUses.h"
#include "plan/settings/settings.h"

using namespace mlir;

namespace trainc {

/// Percentages of bytes that uses of blocks keep, in order.
static constexpr int64_t kMinShare = 15, kShares[] = {60, 30, kMinShare, 0};

static int64_t usesOf(ModuleOp step) {
  for (auto program : step.getOps<train::ProgramOp>()) {
    const train::CheckpointSettings settings = train::checkpointsOf(program);
    return countUses(step, settings.blocks);
  }
  return 0;
}

static Settings keeping(const std::string &keep, train::Checkpointing rest) {
  return {train::kCheckpointKeep.as(keep), train::kCheckpointRest.as(rest)};
}

/// Number of consecutive uses that keep a share.
using UsesAndShare = std::pair<int64_t, int64_t>;

/// Returns the list of shares, which ascend; the last one is that of all further uses: {4, 0}, {2, 15}, {1,
/// 100} is "4x0,2x15,100", and {4, 0}, {1, 0} is "0".
static std::string sharesOf(ArrayRef<UsesAndShare> shares) {
  int64_t rest = 0;
  for (const auto &[uses, share] : shares)
    rest = uses > 0 ? share : rest;
  std::string text;
  for (const auto &[uses, share] : shares)
    if (uses > 0 && share != rest)
      text += (uses > 1 ? std::to_string(uses) + "x" : "") + std::to_string(share) + ",";
  return text + std::to_string(rest);
}

/// Returns the last levels, in which all earlier uses keep nothing and the last one or two uses keep some
/// share. Recomputing a use takes memory, so that two uses keeping a little may take the least.
static CheckpointLevels lastLevels(int64_t uses, bool isFine) {
  CheckpointLevels levels;
  for (const int64_t share : kShares) {
    if (uses > 1 && share > 0 && (isFine || share == kMinShare))
      levels.push_back(keeping(sharesOf({{uses - 2, 0}, {2, share}}), train::Checkpointing::selective));
    if (isFine || share == 0 || uses == 1)
      levels.push_back(keeping(sharesOf({{uses - 1, 0}, {1, share}}), train::Checkpointing::selective));
  }
  return levels;
}

/// Returns levels in which the first `uses` keep ever less, followed by all `others`.
static CheckpointLevels levelsOf(int64_t uses, int64_t others, int64_t parts) {
  CheckpointLevels levels = {keeping("100", train::Checkpointing::none),
                             keeping("100", train::Checkpointing::selective)};
  int64_t before = 100;
  for (const int64_t share : kShares) {
    int64_t last = 0;
    for (int64_t part = 1; part <= parts; ++part)
      if (const int64_t count = uses * part / parts; count > last) {
        levels.push_back(keeping(sharesOf({{count, share}, {uses - count, before}, {others, 100}}),
                                 train::Checkpointing::selective));
        last = count;
      }
    before = share;
  }
  return levels;
}

CheckpointLevels checkpointLevels(ModuleOp step, int64_t parts) {
  const int64_t uses = usesOf(step);
  CheckpointLevels levels = levelsOf(std::max<int64_t>(uses - 1, 0), 1, parts);
  if (uses > 0)
    llvm::append_range(levels, lastLevels(uses, parts > kCoarseParts));
  return levels;
}

std::vector<CheckpointLevels> checkpointCandidates(ModuleOp step, int64_t parts) {
  std::vector<CheckpointLevels> candidates = {checkpointLevels(step, parts)};
  if (mayKeepGathered(step)) {
    candidates.push_back(candidates.front());
    for (Settings &settings : candidates.back())
      settings.push_back(train::kReshardAfterForward.as(false));
  }
  if (mayGatherAhead(step)) {
    // The smallest plan gathers nothing ahead.
    candidates.push_back(lastLevels(usesOf(step), /*isFine=*/false));
    for (Settings &settings : candidates.back())
      settings.push_back(train::kPrefetch.as(0));
  }
  // If the peak is at the loss, the last use may have the largest share of it.
  candidates.push_back(levelsOf(usesOf(step), 0, parts));
  return candidates;
}

} // namespace trainc
