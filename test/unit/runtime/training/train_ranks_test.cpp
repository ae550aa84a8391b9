// Training, evaluation and generation of the toy plan on ranks that are threads.
#include "runtime/training/generate.h"
#include "runtime/training/observer.h"
#include "runtime/training/train_loop.h"
#include "test/unit/runtime/rank_threads.h"
#include "test/unit/runtime/training/toy_fixture.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <gmock/gmock.h>
#include <limits>
#include <nlohmann/json.hpp>

namespace trainc::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class TrainRanks : public testing::Test {
protected:
  TrainRanks() { writeToyTokens(folder_ / "tokens.bin", 100); }
  ~TrainRanks() override { std::fclose(stream_); }

  Dataset data(ToyRun &run, std::initializer_list<std::string_view> entries) {
    auto dataset = Dataset::open({(folder_ / "tokens.bin").string()}, entryColumns(run.executor(), entries));
    EXPECT_TRUE(dataset.ok()) << dataset.status().message();
    return std::move(*dataset);
  }

  /// Outcome of one rank's training loop.
  struct Outcome {
    Status status;
    TrainerState position;
    std::vector<float> weights;
  };

  /// Trains on every rank; `prepare(run)` comes first, `stop(rank)` is asked before each step.
  std::vector<Outcome> train(uint32_t ranks, uint32_t shardRanks, TrainOptions options,
                             std::function<bool(uint32_t)> stop = {},
                             std::function<void(ToyRun &)> prepare = {}) {
    const PlanBuilder builder = toyPlan(ranks, shardRanks);
    PlanBytes bytes(builder.payload());
    const auto plan = bytes.read();
    EXPECT_TRUE(plan.ok()) << plan.status().message();
    std::vector<Outcome> outcomes(ranks);
    onRanks(**plan, [&](Communicator &communicator) {
      const uint32_t rank = communicator.rank();
      ToyRun run(1, 1, builder, &communicator);
      if (prepare)
        prepare(run);
      const Dataset dataset = data(run, {"begin_step", "micro_step", "update"});
      MetricsObserver metrics(folder_ / fmt::format("metrics{}.jsonl", rank), log_);
      const Observers observers({&metrics}, &communicator);
      ASSERT_TRUE(observers.tell(&RunObserver::onBegin, RunBegin()).ok());
      TrainLoop loop({.executor = run.executor(),
                      .dataset = dataset,
                      .observers = observers,
                      .stopRequested = [&] { return stop && stop(rank); }},
                     options, {});
      outcomes[rank].status = loop.run();
      outcomes[rank].position = loop.position();
      outcomes[rank].weights = run.weights();
    });
    return outcomes;
  }

  std::vector<nlohmann::json> metrics(uint32_t rank) const {
    std::ifstream file(folder_ / fmt::format("metrics{}.jsonl", rank));
    std::vector<nlohmann::json> lines;
    for (std::string line; std::getline(file, line);)
      lines.push_back(nlohmann::json::parse(line));
    return lines;
  }

  TempFolder folder_;
  std::FILE *stream_ = std::tmpfile();
  Log log_{stream_, LogLevel::kError};
};

TEST_F(TrainRanks, LearnWhatOneRankLearns) {
  for (const Outcome &outcome : train(1, 1, {.steps = 12}))
    ASSERT_TRUE(outcome.status.ok()) << outcome.status.message();
  const auto alone = metrics(0);
  ASSERT_EQ(alone.size(), 12U);
  EXPECT_FALSE(alone[0].contains("wait_seconds"));
  for (const auto &[ranks, shardRanks] :
       {std::pair(2U, 1U), std::pair(2U, 2U), std::pair(3U, 3U), std::pair(4U, 2U)}) {
    SCOPED_TRACE(fmt::format("{} ranks, {} a group", ranks, shardRanks));
    for (const Outcome &outcome : train(ranks, shardRanks, {.steps = 12})) {
      ASSERT_TRUE(outcome.status.ok()) << outcome.status.message();
      EXPECT_EQ(outcome.position.step, 12U);
      EXPECT_EQ(outcome.position.samples, 12 * kToyMicroBatches * kToyMicroBatch);
    }
    double waited = 0; // of all: a single step may find all that it waits for done
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      const auto lines = metrics(rank);
      ASSERT_EQ(lines.size(), 12U);
      for (size_t i = 0; i < lines.size(); ++i) {
        EXPECT_NEAR(lines[i]["loss"].get<double>(), alone[i]["loss"].get<double>(), 1e-5);
        EXPECT_EQ(lines[i]["loss"], metrics(0)[i]["loss"]) << "all ranks know the same";
        EXPECT_EQ(lines[i]["tokens"], alone[i]["tokens"]);
        EXPECT_GE(lines[i]["wait_seconds"].get<double>(), 0);
        waited += lines[i]["wait_seconds"].get<double>();
        EXPECT_GT(lines[i]["communication_seconds"].get<double>(), 0);
        EXPECT_LE(lines[i]["exposed_seconds"].get<double>(), lines[i]["wait_seconds"].get<double>() + 1e-9);
        EXPECT_GT(lines[i]["sent_bytes"].get<uint64_t>(), 2 * 256 * 4 * (ranks - 1) / ranks);
      }
    }
    EXPECT_GT(waited, 0);
  }
}

TEST_F(TrainRanks, OneRanksStopIsThatOfAll) {
  std::array<int, 3> asked{};
  const auto outcomes =
      train(3, 3, {.steps = 20}, [&](uint32_t rank) { return ++asked[rank] == 6 && rank == 1; });
  for (const Outcome &outcome : outcomes) {
    EXPECT_TRUE(outcome.status.ok()) << outcome.status.message();
    EXPECT_EQ(outcome.position.step, 5U);
  }
}

TEST_F(TrainRanks, DamagedDataOfOneRankIsKnownToAll) {
  std::string text = readFile(folder_ / "tokens.bin");
  text[200] = 16;
  writeFile(folder_ / "tokens.bin", text);
  const auto outcomes = train(2, 2, {.steps = 40});
  std::array<size_t, 2> named{};
  for (const Outcome &outcome : outcomes) {
    ASSERT_FALSE(outcome.status.ok());
    const bool own = outcome.status.message().find("tokens.bin") != std::string::npos;
    ++named[own ? 0 : 1];
    EXPECT_EQ(outcome.position.step, outcomes[0].position.step);
    if (!own) {
      EXPECT_THAT(outcome.status.message(),
                  AllOf(HasSubstr("between steps, before step "), HasSubstr("cannot go on")));
    }
  }
  EXPECT_THAT(named, testing::ElementsAre(1, 1));
}

TEST_F(TrainRanks, ANonFiniteStepIsReplayedByAll) {
  const auto outcomes = train(3, 3, {.steps = 5}, {}, [](ToyRun &run) {
    if (run.executor().rank() == 1) { // the target of token 8, class 9, has a loss that no f32 holds
      run.weights()[2 * 16 + 9] = -3e38F;
      run.weights()[2 * 16] = 3e38F;
    }
  });
  for (size_t rank = 0; rank < outcomes.size(); ++rank) {
    const Outcome &outcome = outcomes[rank];
    EXPECT_EQ(outcome.position.step, 0U);
    EXPECT_THAT(outcome.status.message(),
                AllOf(HasSubstr("step 1: the loss is inf"), HasSubstr("Replayed: on rank "),
                      HasSubstr("loss: nn.cross_entropy"), HasSubstr("entry micro_step")));
    EXPECT_THAT(outcome.status.message(),
                HasSubstr(rank == 1 ? "parameter 'wte.weight' holds 3e+38 in element 128."
                                    : "a parameter of rank 1 holds a magnitude above 1e30."));
  }
}

TEST_F(TrainRanks, AParameterThatIsNotFiniteIsNamedByItsRank) {
  const auto outcomes = train(3, 3, {.steps = 5}, {}, [](ToyRun &run) {
    if (run.executor().rank() == 1)
      run.weights()[2 * 16] = std::numeric_limits<float>::quiet_NaN(); // of token 8
  });
  for (size_t rank = 0; rank < 3; ++rank)
    EXPECT_THAT(
        outcomes[rank].status.message(),
        AllOf(HasSubstr("step 1: the loss is nan"),
              HasSubstr(rank == 1
                            ? "parameter 'wte.weight' holds nan in element 128; look at its initialiser"
                            : "a parameter of rank 1 holds a non-finite value; look at its initialiser")));
}

TEST_F(TrainRanks, EvaluationHasTheBitsOfOneRank) {
  const auto evaluate = [&](uint32_t ranks, uint32_t shardRanks, std::function<bool(uint32_t)> stop) {
    const PlanBuilder builder = toyPlan(ranks, shardRanks);
    PlanBytes bytes(builder.payload());
    std::vector<std::optional<EvalResult>> results(ranks);
    onRanks(**bytes.read(), [&](Communicator &communicator) {
      ToyRun run(7, 1, builder, &communicator);
      const Dataset dataset = data(run, {"eval"});
      auto evaluator = Evaluator::create(run.executor(), dataset);
      ASSERT_TRUE(evaluator.ok()) << evaluator.status().message();
      const auto result = evaluator->run([&] { return stop && stop(communicator.rank()); });
      ASSERT_TRUE(result.ok()) << result.status().message();
      results[communicator.rank()] = *result;
    });
    return results;
  };
  writeToyTokens(folder_ / "tokens.bin", 42); // eleven batches, the last one of two samples
  const auto alone = evaluate(1, 1, {});
  ASSERT_TRUE(alone[0].has_value());
  EXPECT_EQ(alone[0]->samples, 42U);
  for (const auto &[ranks, shardRanks] : {std::pair(2U, 2U), std::pair(3U, 1U), std::pair(4U, 2U)})
    for (const auto &result : evaluate(ranks, shardRanks, {})) {
      ASSERT_TRUE(result.has_value());
      EXPECT_EQ(std::bit_cast<uint64_t>(result->loss), std::bit_cast<uint64_t>(alone[0]->loss)) << ranks;
      EXPECT_EQ(result->targets, alone[0]->targets);
      EXPECT_EQ(result->samples, 42U);
    }
  std::array<int, 3> asked{};
  for (const auto &result : evaluate(3, 3, [&](uint32_t rank) { return ++asked[rank] == 2 && rank == 2; }))
    EXPECT_FALSE(result.has_value());
}

TEST_F(TrainRanks, AllGenerateTheSame) {
  const PlanBuilder builder = toyPlan(3, 3);
  PlanBytes bytes(builder.payload());
  std::array<std::vector<uint32_t>, 3> texts;
  onRanks(**bytes.read(), [&](Communicator &communicator) {
    ToyRun run(5, 1, builder, &communicator);
    auto generator = Generator::create(run.executor());
    ASSERT_TRUE(generator.ok()) << generator.status().message();
    std::vector<uint32_t> &text = texts[communicator.rank()];
    bool isGiven = false;
    const Result<bool> isDone = generator->run([&]() -> std::optional<Continuation> {
      if (std::exchange(isGiven, true))
        return std::nullopt;
      return Continuation{
          .prompt = {1, 4}, .maxTokens = 50, .sampler = Sampler({.seed = 3}), .onToken = [&](uint32_t token) {
            text.push_back(token);
            return communicator.rank() != 1 || text.size() < 20;
          }};
    });
    ASSERT_TRUE(isDone.ok()) << isDone.status().message();
    EXPECT_TRUE(*isDone);
  });
  EXPECT_EQ(texts[0].size(), 20U);
  EXPECT_EQ(texts[1], texts[0]);
  EXPECT_EQ(texts[2], texts[0]);
}

TEST_F(TrainRanks, AllLearnThatOneStopsTheGeneration) {
  const PlanBuilder builder = toyPlan(3, 3);
  PlanBytes bytes(builder.payload());
  onRanks(**bytes.read(), [&](Communicator &communicator) {
    ToyRun run(5, 1, builder, &communicator);
    auto generator = Generator::create(run.executor());
    ASSERT_TRUE(generator.ok()) << generator.status().message();
    const bool stops = communicator.rank() == 1;
    const Result<bool> isDone = generator->run(
        [&]() -> std::optional<Continuation> {
          return Continuation{.prompt = {1, 4},
                              .maxTokens = 5,
                              .sampler = Sampler({.seed = 3}),
                              .onToken = [](uint32_t) { return true; }};
        },
        [&] { return stops; });
    ASSERT_TRUE(isDone.ok()) << isDone.status().message();
    EXPECT_FALSE(*isDone);
  });
}

} // namespace
} // namespace trainc::test
