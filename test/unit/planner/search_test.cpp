// The search finds the fastest strategy that fits, with fewer evaluations than there are strategies.
#include "lib/Planner/Search.h"

#include <gmock/gmock.h>

#include <set>

using namespace llvm;

namespace trainc {
namespace {

constexpr size_t kLevels = 16;

/// Values of the settings that testSpace() has, as numbers.
int64_t valueOf(const Settings &settings, StringRef word) {
  for (const train::GivenSetting &each : settings)
    if (each.word == word)
      return each.word == "offload" ? int64_t(StringRef(each.value).count("states")) : std::stoll(each.value);
  return 0;
}

bool has(const Settings &settings, StringRef value) {
  return any_of(settings,
                [&](const train::GivenSetting &each) { return StringRef(each.value).contains(value); });
}

/// Bytes and seconds by formulas: a memory of states, and activations in proportion to a micro-batch.
struct Formulas : Evaluate {
  FailureOr<std::vector<Evaluation>> evaluate(ArrayRef<Settings> strategies) override {
    std::vector<Evaluation> made;
    for (const Settings &each : strategies) {
      made.push_back(of(each));
      EXPECT_TRUE(known.insert(each).second) << "evaluated twice";
    }
    return made;
  }
  FailureOr<int64_t> lowerBoundBytes(const Settings &strategy) override {
    return of(strategy).memory.states();
  }
  Evaluation of(const Settings &settings) const {
    const int64_t stage = valueOf(settings, "stage"), offloaded = valueOf(settings, "offload"),
                  batch = 16 >> valueOf(settings, "parts"), level = valueOf(settings, "level");
    const bool copies = has(settings, "activations");
    Evaluation plan;
    plan.memory.optimizer = offloaded > 0 ? 0 : 800 >> stage;
    plan.memory.gradients = offloaded > 1 ? 0 : 400 >> stage;
    plan.memory.parameters = offloaded > 2 ? 0 : 400;
    plan.memory.activations = batch * (120 - 6 * level) / (copies ? 4 : 1);
    plan.memory.peak = plan.memory.total();
    plan.memory.unplanned = plan.memory.minUnplanned = process;
    plan.step.total = 1 + 0.1 * double(stage) + 0.7 * double(offloaded) +
                      0.3 * double(valueOf(settings, "parts")) + 0.02 * double(level) +
                      (copies ? 0.4 - 0.01 * double(level) : 0);
    if (offloaded > 0)
      plan.hostLeft = hostLeft;
    return plan;
  }
  size_t evaluated() const { return known.size(); }
  std::set<Settings> known; ///< evaluated strategies
  int64_t process = 0;      ///< bytes besides the plan
  int64_t hostLeft = 0;     ///< bytes that the host has left if states are offloaded
};

SearchSpace testSpace() {
  SearchSpace space;
  for (StringRef stage : {"1", "2"})
    space.values[kSharding].push_back({{{"stage", stage.str()}}});
  for (StringRef parts : {"1", "2", "3", "4"})
    space.values[kMicroBatches].push_back({{{"parts", parts.str()}}});
  for (StringRef states : {"states", "states states", "states states states"})
    space.values[kStates].push_back({{{"offload", states.str()}}});
  for (StringRef activations : {"hidden_activations", "activations"})
    space.values[kActivations].push_back({{{"offload", activations.str()}}});
  space.values[kRecomputation].clear();
  for (size_t level = 0; level < kLevels; ++level)
    space.values[kRecomputation].push_back({{{"level", std::to_string(level)}}});
  return space;
}

/// All strategies of a space.
std::vector<Settings> allOf(const SearchSpace &space) {
  std::vector<Strategy> strategies = {{}};
  for (size_t dimension = 0; dimension < kDimensions; ++dimension) {
    std::vector<Strategy> next;
    for (const Strategy &each : strategies)
      for (size_t value = 0; value < space.size(Dimension(dimension)); ++value)
        next.push_back(each.with(Dimension(dimension), value));
    strategies = next;
  }
  std::vector<Settings> settings;
  for (const Strategy &each : strategies)
    settings.push_back(space.settingsOf(each));
  return settings;
}

TEST(Search, FindsTheFastestThatFits) {
  const SearchSpace space = testSpace();
  const std::vector<Settings> all = allOf(space);
  Formulas formulas;
  for (int64_t limit = 4000; limit >= 60; limit = limit * 9 / 10) {
    std::optional<double> fastest;
    for (const Settings &each : all)
      if (const Evaluation plan = formulas.of(each);
          plan.fits(limit) && (!fastest || plan.seconds() < *fastest))
        fastest = plan.seconds();
    formulas.known.clear();
    Evaluations evaluations(formulas);
    Search search(space, evaluations, limit);
    ASSERT_TRUE(succeeded(search.findFastest()));
    ASSERT_EQ(search.best().has_value(), fastest.has_value()) << limit;
    if (fastest)
      EXPECT_LE(evaluations[*search.best()].seconds(), 1.02 * *fastest) << limit;
    EXPECT_LT(formulas.evaluated(), all.size() / 10) << limit;
  }
}

TEST(Search, FindsTheSmallestIfNothingFits) {
  const SearchSpace space = testSpace();
  for (const int64_t limit : {1, 6}) { // far below the smallest, and close to it
    Formulas formulas;
    Evaluations evaluations(formulas);
    Search search(space, evaluations, limit);
    ASSERT_TRUE(succeeded(search.findFastest()));
    EXPECT_FALSE(search.best());
    ASSERT_TRUE(succeeded(search.findSmallest()));
    int64_t smallest = std::numeric_limits<int64_t>::max();
    for (const Settings &each : allOf(space))
      smallest = std::min(smallest, formulas.of(each).bytes());
    EXPECT_EQ(evaluations[evaluations.smallest()].bytes(), smallest);
  }
}

/// Evaluations until a limit is rejected.
size_t evaluatedUntilRejected(int64_t limit, int64_t process) {
  const SearchSpace space = testSpace();
  Formulas formulas;
  formulas.process = process;
  Evaluations evaluations(formulas);
  Search search(space, evaluations, limit);
  EXPECT_TRUE(succeeded(search.findFastest()));
  EXPECT_FALSE(search.best());
  EXPECT_TRUE(succeeded(search.findSmallest()));
  EXPECT_EQ(evaluations.size(), formulas.evaluated()); // each tells how much it takes
  return formulas.evaluated();
}

/// The search evaluates the three shardings and the three strategies that usually take the fewest bytes. If
/// the process alone takes twice the limit, two shardings tell so.
TEST(Search, RejectsALimitFarBelowTheSmallestAfterFewEvaluations) {
  EXPECT_EQ(evaluatedUntilRejected(/*limit=*/2, /*process=*/0), 6U);
  EXPECT_EQ(evaluatedUntilRejected(/*limit=*/400, /*process=*/1000), 5U);
  EXPECT_GT(evaluatedUntilRejected(/*limit=*/6, /*process=*/0), 20U);
}

/// A strategy that was evaluated to judge the limit is no candidate.
TEST(Search, AStrategyThatJudgesTheLimitIsNoCandidate) {
  const SearchSpace space = testSpace();
  Formulas formulas;
  Evaluations evaluations(formulas);
  Search search(space, evaluations, 1000);
  ASSERT_TRUE(succeeded(search.findFastest()));
  EXPECT_EQ(formulas.evaluated(), evaluations.size() + 1);
}

/// If the host has no room for offloaded states, the strategies that offload all do not tell what else fits.
TEST(Search, EvaluatesOthersIfTheHostHasNoRoom) {
  const SearchSpace space = testSpace();
  Formulas formulas;
  formulas.hostLeft = -1;
  Evaluations evaluations(formulas);
  Search search(space, evaluations, 2);
  ASSERT_TRUE(succeeded(search.findFastest()));
  EXPECT_FALSE(search.best());
  ASSERT_TRUE(succeeded(search.findSmallest()));
  EXPECT_GT(evaluations.size(), 6U);
}

/// If the memory of the process alone exceeds the limit, the search evaluates no more than each sharding.
TEST(Search, EndsAtOnceIfNothingCanFit) {
  const SearchSpace space = testSpace();
  Formulas formulas;
  formulas.process = 1000;
  Evaluations evaluations(formulas), others(formulas);
  Search search(space, evaluations, 999);
  ASSERT_TRUE(succeeded(search.findFastest()));
  EXPECT_FALSE(search.best());
  const size_t ofNothing = formulas.evaluated();
  formulas.known.clear();
  Search longer(space, others, 1001);
  ASSERT_TRUE(succeeded(longer.findFastest()));
  EXPECT_FALSE(longer.best());
  EXPECT_LT(4 * ofNothing, formulas.evaluated());
}

TEST(Space, JoinsValuesOfOneSetting) {
  const Settings settings = testSpace().settingsOf(Strategy().with(kStates, 1).with(kActivations, 2));
  EXPECT_THAT(settings, testing::ElementsAre(train::GivenSetting{"offload", "states,activations"},
                                             train::GivenSetting{"level", "0"}));
}

TEST(Evaluations, AreMadeOnce) {
  Formulas formulas;
  Evaluations evaluations(formulas);
  const Settings first = {{"level", "1"}}, second = {{"level", "2"}};
  EXPECT_THAT(*evaluations.add({first, second, first}), testing::ElementsAre(0U, 1U, 0U));
  EXPECT_THAT(*evaluations.add({second}), testing::ElementsAre(1U));
  EXPECT_EQ(formulas.evaluated(), 2U);
}

TEST(Evaluations, HaveNoNumberUntilTheyAreAdded) {
  Formulas formulas;
  Evaluations evaluations(formulas);
  const Settings first = {{"level", "1"}}, second = {{"level", "2"}};
  EXPECT_EQ(evaluations.probe({first, second})->size(), 2U);
  EXPECT_EQ(evaluations.size(), 0U);
  EXPECT_THAT(*evaluations.add({second}), testing::ElementsAre(0U));
  EXPECT_EQ(evaluations.all().front().decided, second);
  EXPECT_EQ(formulas.evaluated(), 2U);
}

} // namespace
} // namespace trainc
