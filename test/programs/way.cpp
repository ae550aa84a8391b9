#include "test/programs/way.h"

#include "dialects/Train/ProgramSettings.h"

#include "llvm/ADT/StringRef.h"

#include <random>

using namespace trainc;
using namespace trainc::programs;

void Way::set(std::string_view word, std::string value) {
  text += " " + train::findSetting(word)->option() + "=" + value;
  options.settings.push_back({std::string(word), std::move(value)});
}

std::vector<std::string> programs::wrapUnits(const std::string &text) {
  const llvm::StringRef program = text;
  std::vector<std::string> blocks;
  constexpr llvm::StringRef kBlock = "nn.block @";
  for (size_t at = program.find(kBlock); at != llvm::StringRef::npos; at = program.find(kBlock, at + 1)) {
    const llvm::StringRef block = program.substr(at + kBlock.size()).split("\n}").first;
    if (block.contains("nn.linear"))
      blocks.push_back(block.take_until([](char c) { return c == '('; }).str());
  }
  return blocks;
}

namespace {

class WayDrawer {
public:
  WayDrawer(unsigned seed, const std::vector<std::string> &units) : units_(units), random_(seed) {}

  Way draw(bool isAlone) {
    drawStep();
    const unsigned ranks = isAlone ? 1 : 2 + pick(3);
    way_.set("ranks", std::to_string(ranks));
    if (!isAlone)
      drawSharding(ranks, pick(4));
    if (isBf16_ && !isForAnyRanks_ && chance(2))
      way_.set("reduce_type", "bf16");
    return way_;
  }

private:
  unsigned pick(unsigned end) { return unsigned(random_() % end); }
  bool chance(unsigned outOf) { return pick(outOf) == 0; }
  std::string oneOf(std::initializer_list<const char *> choices) {
    return choices.begin()[pick(unsigned(choices.size()))];
  }

  void drawStep() {
    if (chance(2))
      drawCheckpoints();
    if (chance(3)) {
      const std::string count = oneOf({"2", "2", "3"});
      isPowerOfTwo_ = count == "2";
      way_.set("accumulate", count);
    }
    drawPrecision(pick(4));
    if (chance(4))
      way_.set("library_calls", oneOf({"plain", "products", "attention", "all"}));
    if (chance(3)) {
      way_.options.chunkLoss = {.minBytes = 0, .minRows = 1 + int64_t(pick(8))};
      way_.text +=
          " (losses in slices of " + std::to_string(way_.options.chunkLoss->minRows) + " rows or more)";
    }
    if (chance(3)) {
      way_.threads = 2 + pick(2);
      way_.text += " --threads=" + std::to_string(way_.threads);
    }
    if (chance(4)) {
      way_.emulates = true;
      way_.text += " --device=emulated";
    }
  }

  void drawCheckpoints() {
    const std::string mode = oneOf({"selective", "full", "full"});
    way_.set("activation_checkpointing", mode);
    if (mode == "selective")
      return;
    if (chance(2))
      way_.set("checkpoint_keep", oneOf({"0,100", "30", "70,0", "100,50,20"}));
    if (chance(3))
      way_.set("checkpoint_rest", "selective");
  }

  /// With the largest scales, gradients of random programs overflow.
  void drawPrecision(unsigned choice) {
    if (choice == 0) {
      drawBf16();
    } else if (choice == 1) {
      way_.set("precision", "fp16");
      way_.lossScale = 1U << (4 * pick(5));
      way_.set(oneOf({"loss_scale", "loss_scale_init"}), std::to_string(way_.lossScale));
    } else if (chance(8)) {
      way_.set("eval_precision", "bf16");
    }
  }

  void drawBf16() {
    isBf16_ = true;
    way_.set("precision", "bf16");
    if (chance(3))
      way_.set("keep_f32", "*");
    if (chance(3))
      way_.set("eval_precision", "fp32");
    if (chance(3)) {
      way_.makesFp8 = true;
      way_.text += " (and --target=cuda --product-type=fp8)";
    }
  }

  void drawSharding(unsigned ranks, unsigned stage) {
    way_.set("zero_stage", std::to_string(stage));
    if (stage > 0 && ranks == 4 && chance(2))
      way_.set("hybrid_shard", "2");
    else if (chance(3))
      way_.otherStage = (stage + 1 + pick(3)) % 4;
    if (chance(2))
      drawWrap();
    if (chance(3))
      way_.set("reduce_bucket_size", oneOf({"0", "30", "500", "1000000"}));
    if (stage > 0 && chance(3))
      way_.set("allgather_bucket_size", oneOf({"0", "30", "500", "1000000"}));
    isForAnyRanks_ = isPowerOfTwo_ && chance(3);
    if (isForAnyRanks_)
      way_.set("reproducible", "ranks");
    else if (chance(3))
      way_.set("sync_gradients", oneOf({"micro_step", "step"}));
    if (stage == 3)
      drawGathers();
  }

  void drawWrap() {
    if (!units_.empty() && chance(2))
      way_.set("wrap", units_[pick(unsigned(units_.size()))]);
    else
      way_.set("wrap", oneOf({"model", "1", "100", "1000"}));
  }

  /// Settings for ranks that shard parameters.
  void drawGathers() {
    way_.set("param_persistence_threshold", oneOf({"0", "0", "20", "300"}));
    if (chance(3))
      way_.set("prefetch", oneOf({"0", "2", "5"}));
    if (chance(4))
      way_.set("limit_all_gathers", oneOf({"1", "3"}));
    if (chance(4))
      way_.set("max_live_parameters", oneOf({"1", "200", "5000"}));
    switch (pick(6)) {
    case 0:
      return way_.set("reshard_after_forward", "false");
    case 1:
      return way_.set("max_reuse_distance", oneOf({"50", "1000"}));
    case 2:
      return way_.set("memory_limit", "1099511627776");
    default:
      return;
    }
  }

  const std::vector<std::string> &units_;
  std::mt19937 random_;
  Way way_;
  bool isPowerOfTwo_ = true; ///< the number of micro-batches
  bool isBf16_ = false, isForAnyRanks_ = false;
};

} // namespace

Way programs::drawWay(unsigned seed, const std::vector<std::string> &units) {
  return WayDrawer(seed, units).draw(seed % 2 == 0);
}
