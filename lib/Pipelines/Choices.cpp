#include "lib/Pipelines/Choices.h"

#include "dialects/Train/Offloading.h"
#include "dialects/Train/Settings.h"
#include "dialects/Train/Sharding.h"
#include "lib/Pipelines/MemoryLimit.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace trainc {

static constexpr StringLiteral kGroupWord = "hybrid_shard", kKeptWord = "checkpoint_keep",
                               kRestWord = "checkpoint_rest";

static std::vector<TriedSettings> divisionsOf(train::ProgramOp program) {
  std::vector<TriedSettings> divisions, stages(1);
  const auto ranks = train::kRanks.of(program);
  if (ranks > 1 && !isDecided(program, "zero_stage"))
    stages = combine(stages, "zero_stage", {"0", "1", "2", "3"});
  const bool mayGroup = !isDecided(program, kGroupWord) && !train::shardingOf(program).reproducibleOverRanks;
  for (const TriedSettings &stage : stages) {
    divisions.push_back(stage);
    const bool divides = stage.empty() ? train::kZeroStage.of(program) > 0 : stage.front().value != "0";
    for (int64_t size = ranks / 2; mayGroup && divides && size > 1; --size)
      if (ranks % size == 0) {
        divisions.push_back(stage);
        divisions.back().push_back({kGroupWord.str(), std::to_string(size)});
      }
  }
  return divisions;
}

static std::vector<TriedSettings> splitsOf(train::ProgramOp program) {
  std::vector<TriedSettings> splits(1);
  if (!maySplitBatch(program))
    return splits;
  const auto batch = *train::kMicroBatch.given(program), given = train::kAccumulate.of(program);
  for (int64_t parts = 2; parts <= batch; ++parts)
    if (batch % parts == 0)
      splits.push_back(
          {{"micro_batch", std::to_string(batch / parts)}, {"accumulate", std::to_string(given * parts)}});
  return splits;
}

Choices::Choices(train::ProgramOp program)
    : divisions(divisionsOf(program)), splits(splitsOf(program)), mayOffload(!isDecided(program, "offload")),
      mayRecompute(!isDecided(program, "activation_checkpointing")),
      mayChooseKept(!isDecided(program, kKeptWord)), mayChooseRest(!isDecided(program, kRestWord)),
      copiesAnyway(train::offloadOf(program).any()),
      copiesActivationsAnyway(train::offloadOf(program).activations),
      mayGatherLate(train::kRanks.of(program) > 1 && !isDecided(program, "prefetch") &&
                    (!isDecided(program, "zero_stage") || train::kZeroStage.of(program) == 3)) {}

bool Choices::mayChoose(const train::GivenSetting &ofBlocks) const {
  return ofBlocks.word == kKeptWord ? mayChooseKept : ofBlocks.word == kRestWord ? mayChooseRest : true;
}

void Choices::addLevels(const std::vector<TriedSettings> &blocks) {
  levels = blocks;
  if (mayRecompute) {
    levels = combine(std::vector<TriedSettings>(1), "activation_checkpointing", {"none", "selective"});
    size_t first = levels.size(); // earlier levels recompute no block
    if (!mayChooseKept)
      first = std::max(first, blocks.size() - 1); // the others do not differ from the last otherwise
    for (const TriedSettings &chosen : llvm::drop_begin(blocks, first)) {
      levels.push_back({{"activation_checkpointing", "full"}});
      llvm::copy_if(chosen, std::back_inserter(levels.back()),
                    [&](const train::GivenSetting &each) { return mayChoose(each); });
    }
  }
  if (mayGatherLate) {
    levels.push_back(levels.back());
    levels.back().push_back({"prefetch", "0"});
  }
}

bool Choices::isGroup(size_t division) const {
  return !divisions[division].empty() && divisions[division].back().word == kGroupWord;
}

TriedSettings Choices::offloaded(Cell cell) const {
  SmallVector<StringRef> words;
  for (const OffloadKind &kind : ArrayRef(kOffloadKinds).take_front(cell.offload))
    words.push_back(kind.word);
  if (cell.activations > 0)
    words.push_back(kActivationWords[cell.activations]);
  return words.empty() ? TriedSettings() : TriedSettings{{"offload", llvm::join(words, ",")}};
}

TriedSettings Choices::decided(Cell cell) const {
  TriedSettings settings = divisions[cell.division];
  llvm::append_range(settings, offloaded(cell));
  llvm::append_range(settings, splits[cell.split]);
  return settings;
}

} // namespace trainc
