// Occupancy of bytes: value by value for hand-made plans, and compared with a bytewise analysis for all plans
// of tests.
#include "plan/facts/uses.h"
#include "test/unit/report/verified_plan.h"
#include "tools/report/analysis.h"
#include "tools/report/peak.h"
#include "tools/report/verdict.h"

#include <gmock/gmock.h>
#include <map>
#include <set>

namespace trainc::test {
namespace {

using report::Analysis;
using report::Held;

/// "x [0, 64) from 1 to 3, last 2": the buffer, bytes of its arena, moments.
std::string textOf(const fb::Plan &plan, const Held &each) {
  return fmt::format("{} [{}, {}) from {} to {}, last {}", view(plan.buffers()->Get(each.buffer)->name()),
                     each.offset, each.offset + each.bytes, each.begin, each.end, each.last);
}

std::vector<std::string> valuesOf(const PlanBuilder &builder) {
  const VerifiedPlan verified(builder);
  const Analysis analysis(verified.plan());
  std::vector<std::string> texts;
  for (const Held &each : analysis.entries.at(0).occupancy.values)
    texts.push_back(textOf(verified.plan(), each));
  return texts;
}

/// A plan of one entry over scratch buffers of one slice.
class OccupancyTest : public testing::Test {
protected:
  static constexpr uint64_t kSlice = 64;
  static constexpr auto F32 = fb::DType::F32;

  uint32_t slice(const std::string &name) {
    return plan.buffer(name, PlanBuilder::kScratch, F32, kSlice / 4, fb::Role::Activation);
  }
  /// Makes buffer `b` begin where `a` does.
  void layOver(uint32_t b, uint32_t a) { plan.plan.buffers[b]->offset = plan.plan.buffers[a]->offset; }
  /// A launch that reads `from` and writes `to`, which may be the same bytes.
  void pass(PlanBuilder::Body &into, uint32_t from, uint32_t to) {
    const std::string symbol = fmt::format("pass{}", plan.plan.kernels.size());
    plan.launch(
        into,
        plan.kernel(symbol, 1, {{fb::Access::Read, F32, kSlice}, {fb::Access::Write, F32, kSlice, {0}}}),
        {at(from), at(to)});
  }

  PlanBuilder plan;
  uint32_t state = plan.buffer("state", PlanBuilder::kPersistent, F32, kSlice / 4, fb::Role::Parameter);
  PlanBuilder::Body &body = plan.entry("init").instructions;
};

TEST_F(OccupancyTest, HoldsAValueFromItsWriteToItsLastRead) {
  const uint32_t a = slice("a"), b = slice("b");
  plan.copy(body, at(state), at(a), kSlice);
  pass(body, a, b);
  pass(body, a, state);
  pass(body, b, state);
  EXPECT_THAT(valuesOf(plan),
              testing::ElementsAre("a [0, 64) from 0 to 3, last 2", "b [64, 128) from 1 to 4, last 3"));
}

TEST_F(OccupancyTest, GivesBytesOnAtTheMomentInWhichTheyAreReadAndWritten) {
  const uint32_t a = slice("a"), b = slice("b");
  layOver(b, a);
  plan.plan.arenas[PlanBuilder::kScratch]->bytes = kSlice;
  plan.copy(body, at(state), at(a), kSlice);
  pass(body, a, b); // over the bytes of a
  pass(body, b, state);
  EXPECT_THAT(valuesOf(plan),
              testing::ElementsAre("a [0, 64) from 0 to 1, last 1", "b [0, 64) from 1 to 3, last 2"));
}

TEST_F(OccupancyTest, TakesChangesInPlaceForTheSameValue) {
  const uint32_t a = slice("a");
  plan.copy(body, at(state), at(a), kSlice);
  pass(body, a, a);
  pass(body, a, state);
  plan.copy(body, at(state), at(a), kSlice); // another value
  pass(body, a, state);
  EXPECT_THAT(valuesOf(plan),
              testing::ElementsAre("a [0, 64) from 0 to 3, last 2", "a [0, 64) from 3 to 5, last 4"));
}

TEST_F(OccupancyTest, KeepsWhatALaterIterationReadsUntilTheLoopEnds) {
  const uint32_t kept = slice("kept"), own = slice("own");
  const uint32_t wide = plan.buffer("wide", PlanBuilder::kPersistent, F32, 4 * kSlice / 4);
  plan.kernel("store", 1, {{fb::Access::Read, F32, kSlice}, {fb::Access::Write, F32, kSlice}});
  plan.copy(body, at(state), at(kept), kSlice);
  PlanBuilder::Body &loop = plan.loop(body, 4);
  pass(loop, kept, own);
  plan.launch(loop, 0, {at(own), at(wide, 0, kSlice)});
  EXPECT_THAT(valuesOf(plan),
              testing::ElementsAre("kept [0, 64) from 0 to 3, last 1", "own [64, 128) from 1 to 3, last 2"));
}

TEST_F(OccupancyTest, KeepsWhatAnotherStreamReadsUntilComputationKnowsThatItIsDone) {
  const uint32_t host = plan.arena("host", fb::Space::Host, true);
  const uint32_t a = slice("a"), away = plan.buffer("away", host, F32, kSlice / 4);
  plan.copy(body, at(state), at(a), kSlice);
  plan.transfer(body, fb::Stream::CopyOut, at(a), at(away), kSlice);
  PlanBuilder::after(body, {0});
  pass(body, state, state);
  plan.zero(body, at(a), kSlice);
  PlanBuilder::after(body, {1});
  pass(body, a, state);
  EXPECT_THAT(valuesOf(plan),
              testing::ElementsAre("a [0, 64) from 0 to 3, last 1", "a [0, 64) from 3 to 5, last 4"));
}

TEST_F(OccupancyTest, TakesPartsThatSeveralInstructionsWriteForOneValueEach) {
  const uint32_t whole = plan.buffer("whole", PlanBuilder::kScratch, F32, 2 * kSlice / 4);
  plan.copy(body, at(state), at(whole), kSlice);
  plan.copy(body, at(state), at(whole, kSlice), kSlice);
  plan.launch(body, plan.kernel("reads", 1, {{fb::Access::Read, F32, 2 * kSlice}}), {at(whole)});
  EXPECT_THAT(valuesOf(plan), testing::ElementsAre("whole [0, 64) from 0 to 3, last 2",
                                                   "whole [64, 128) from 1 to 3, last 2"));
}

// --- All plans ---

struct NamedPlan {
  const char *name;
  PlanBuilder (*make)();
};

void PrintTo(const NamedPlan &plan, std::ostream *out) { *out << plan.name; }

class OccupancyOfPlans : public testing::TestWithParam<NamedPlan> {};

/// Bytes of an arena that are live at each moment: from a write of a byte to its last read through the same
/// buffer before the next write. One iteration of each loop.
std::vector<std::set<uint64_t>> neededBytes(const fb::Plan &plan, const std::vector<report::Moment> &moments,
                                            uint32_t arena) {
  struct Content {
    uint32_t buffer;
    size_t moment;
  };
  std::map<uint64_t, Content> contents;
  std::vector<std::set<uint64_t>> needed(moments.size());
  for (size_t at = 0; at < moments.size(); ++at)
    for (const bool writes : {false, true})
      facts::forEachUse(plan, *moments[at].instruction, 1, [&](const facts::Use &use) {
        const uint32_t index = use.range.operand->buffer();
        const fb::Buffer &buffer = *plan.buffers()->Get(index);
        if (buffer.arena() != arena || !(writes ? use.writes : use.reads))
          return;
        const uint64_t first = buffer.offset() + use.range.operand->offset() + use.range.shift;
        for (uint64_t byte = first; byte < first + use.range.bytes; ++byte) {
          if (writes)
            contents[byte] = {index, at};
          else if (const auto found = contents.find(byte);
                   found != contents.end() && found->second.buffer == index)
            for (size_t moment = found->second.moment; moment < at; ++moment)
              needed[moment].insert(byte);
        }
      });
  return needed;
}

TEST_P(OccupancyOfPlans, SharesNoByteAndMissesNone) {
  const VerifiedPlan verified(GetParam().make());
  const fb::Plan &plan = verified.plan();
  const Analysis analysis(plan);
  for (const report::EntryAnalysis &entry : analysis.entries)
    for (const report::ArenaPeak &peak : entry.occupancy.peaks) {
      const auto needed = neededBytes(plan, entry.moments, peak.arena);
      uint64_t maximum = 0;
      for (uint32_t moment = 0; moment < entry.moments.size(); ++moment) {
        std::set<uint64_t> taken;
        for (const Held &each : entry.occupancy.values)
          if (each.begin <= moment && moment < each.end &&
              plan.buffers()->Get(each.buffer)->arena() == peak.arena)
            for (uint64_t byte = each.offset; byte < each.offset + each.bytes; ++byte)
              ASSERT_TRUE(taken.insert(byte).second) << "byte " << byte << " twice at moment " << moment;
        for (const uint64_t byte : needed[moment])
          ASSERT_TRUE(taken.contains(byte)) << "byte " << byte << " is needed at moment " << moment;
        maximum = std::max<uint64_t>(maximum, taken.size());
      }
      EXPECT_EQ(peak.held, maximum);
      EXPECT_LE(peak.reach, plan.arenas()->Get(peak.arena)->bytes());
    }
}

TEST_P(OccupancyOfPlans, PartsOfThePeakSumToThePlannedBytes) {
  const VerifiedPlan verified(GetParam().make());
  const Analysis analysis(verified.plan());
  const uint64_t arenas = memoryNeedOf(verified.plan()).arenas;
  uint64_t parts = 0;
  for (const report::PeakPart &part : report::peakParts(analysis)) {
    EXPECT_LE(part.bytes, arenas); // none is below 0
    parts += part.bytes;
  }
  EXPECT_EQ(parts, arenas);
  EXPECT_EQ(report::verdictOf(analysis).memory.arenas, arenas);
}

INSTANTIATE_TEST_SUITE_P(All, OccupancyOfPlans,
                         testing::Values(NamedPlan{"full", fullPlan}, NamedPlan{"library", libraryPlan},
                                         NamedPlan{"spaces", spacesPlan},
                                         NamedPlan{"loops", [] { return loopsPlan(2); }},
                                         NamedPlan{"ranks", [] { return ranksPlan(4, 2); }},
                                         NamedPlan{"widening", [] { return wideningPlan(2, 2); }}),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
} // namespace trainc::test
