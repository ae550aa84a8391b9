#include "tools/trainc/ShardingCli.h"

#include "dialects/Train/Limits.h"
#include "tools/common/validators.h"

namespace trainc {

void addSharding(CLI::App &compile, ShardingOptions &options) {
  compile
      .add_option("--wrap", options.wrap,
                  "Which parameters ranks gather and reduce together: those of each outermost block\n"
                  "(blocks), of each use of the blocks NAME, of blocks with at least N parameters, or all\n"
                  "(model); default: blocks")
      ->type_name("blocks|NAME,...|N|model");
  compile
      .add_option("--reshard-after-forward", options.reshardAfterForward,
                  "With --zero-stage=3: drop gathered parameters after the forward and gather them again\n"
                  "for the backward; default: true")
      ->check(CLI::IsMember({"true", "false"}))
      ->type_name("true|false");
  auto addNumber = [&](const char *name, std::optional<int64_t> &value, const char *help, int64_t least = 0,
                       int64_t most = INT64_MAX) {
    compile.add_option(name, value, help)->check(wholeNumber(least, most))->type_name("N");
  };
  addNumber("--max-reuse-distance", options.maxReuseDistance,
            "With --zero-stage=3: gathered parameters stay, instead of being gathered again, where\n"
            "parameters of fewer elements than N are computed with between; default: 0");
  addNumber("--prefetch", options.prefetch,
            "With --zero-stage=3: units of parameters gathered ahead, at most 32; default: 1", 0,
            train::kMaxPrefetch);
  addNumber("--max-live-parameters", options.maxLive,
            "With --zero-stage=3: gather ahead only while at most N elements are gathered; default: no\n"
            "limit");
  addNumber("--limit-all-gathers", options.gathersInFlight,
            "With --zero-stage=3: gathers of parameters in flight at most, 1 to 32; default: 2", 1,
            train::kMaxPrefetch);
  addNumber("--param-persistence-threshold", options.persistBelow,
            "With --zero-stage=3: parameters of fewer elements stay whole on every rank; default: 10 H,\n"
            "where H is the model's width, the size that most parameters have among their dimensions");
  addNumber("--reduce-bucket-size", options.reduceBucket,
            "Sums of the gradients of several units are one collective as long as they have at most N\n"
            "elements; default: H * H");
  addNumber("--allgather-bucket-size", options.gatherBucket, "The same for gathers; default: H * H");
  addNumber("--hybrid-shard", options.hybridShard,
            "Divide states among groups of N ranks, each of which has all of them; default: among\n"
            "all ranks",
            2, train::kMaxRanks);
  compile
      .add_option("--sync-gradients", options.sync,
                  "Sum gradients over ranks after every micro-batch (the default from --zero-stage=2 on) or\n"
                  "once a step, which needs memory for whole ones")
      ->check(CLI::IsMember({"micro_step", "step"}))
      ->type_name("micro_step|step");
  compile
      .add_option(
          "--reproducible", options.reproducible,
          "The same bits for the same plan (plan), or on any number of ranks that gives each 1, 2, 4,\n"
          "... of a step's micro-batches (ranks), which takes memory and time; default: plan")
      ->check(CLI::IsMember({"plan", "ranks"}))
      ->type_name("plan|ranks");
}

} // namespace trainc
