// Plans of several ranks: each rule about collectives, operands by the rank and sharded states rejects a plan
// that breaks it.
#include "test/unit/plan/verify/verifier_support.h"

#include <functional>
#include <gmock/gmock.h>

namespace trainc::test {
namespace {

using testing::HasSubstr;
using enum fb::CollectiveKind;

// Instructions of ranksPlan(): see there.
constexpr size_t kGather0 = 0, kGather1 = 1, kX = 2, kY = 3, kScatter1 = 5, kCopyH1 = 8, kNormSum = 11,
                 kZ = 12, kCopyW1 = 13;

PlanBuilder::Body &microOf(PlanBuilder &b) { return b.plan.entries[0]->instructions; }
fb::CollectiveT &collectiveOf(PlanBuilder &b, size_t instruction) {
  return operation<fb::CollectiveT>(b, 0, instruction);
}
/// The only range of a collective.
fb::RangeT &rangeOf(PlanBuilder &b, size_t instruction) { return *collectiveOf(b, instruction).ranges[0]; }
/// The collective of u and C in update.
fb::CollectiveT &gatherBoth(PlanBuilder &b) { return operation<fb::CollectiveT>(b, 1, 1); }
uint32_t bufferOf(PlanBuilder &b, std::string_view name) {
  for (uint32_t i = 0; i < b.plan.buffers.size(); ++i)
    if (b.plan.buffers[i]->name == name)
      return i;
  ADD_FAILURE() << "no buffer " << name;
  return 0;
}
fb::CopyT &copyW1Of(PlanBuilder &b) { return operation<fb::CopyT>(b, 0, kCopyW1); }
struct RanksRule {
  const char *name;
  std::function<void(PlanBuilder &)> breakIt;
  const char *message;
};

const RanksRule kRanksRules[] = {
    {"oneRank", [](auto &b) { b.setRanks({1, 1}); }, "expected no collective in a plan of one rank"},
    {"kind", [](auto &b) { collectiveOf(b, kGather0).kind = fb::CollectiveKind(3); }, "unknown kind 3"},
    {"unknownAxes", [](auto &b) { *collectiveOf(b, kGather0).axes = {1, 3}; },
     "all-gather: expected some of the mesh's 2 axes, found axes 1 to 3"},
    {"noAxes", [](auto &b) { *collectiveOf(b, kGather0).axes = {1, 1}; },
     "all-gather: expected some of the mesh's 2 axes, found axes 1 to 1"},
    {"groupOfOne", [](auto &b) { *collectiveOf(b, kNormSum).axes = {0, 1}; },
     "all-reduce: expected a group of several ranks"},
    {"sumType", [](auto &b) { rangeOf(b, kScatter1).dtype = fb::DType::I32; },
     "reduce-scatter: expected values of f32, bf16 or f16 to sum, found i32"},
    {"sumBufferType", [](auto &b) { rangeOf(b, kScatter1).dtype = fb::DType::BF16; },
     "expected a buffer of bf16, found"},
    {"sumsIn", [](auto &b) { collectiveOf(b, kScatter1).sum = fb::DType::BF16; },
     "reduce-scatter: expected sums in f32"},
    {"bufferType", [](auto &b) { rangeOf(b, kGather0).dtype = fb::DType::I32; },
     "all-gather source: expected a buffer of i32, found 'w0' of f32"},
    {"noElements", [](auto &b) { rangeOf(b, kGather0).elements = 0; }, "expected 1 to"},
    {"unevenElements", [](auto &b) { rangeOf(b, kGather0).elements = kWhole - 1; },
     "expected a multiple of its group's 2 ranks, found 191 elements"},
    {"noSource", [](auto &b) { rangeOf(b, kGather0).source.reset(); },
     "all-gather source: expected one, found none"},
    {"sourceExtent", [](auto &b) { rangeOf(b, kGather0).elements += 2; },
     "all-gather source: expected it within the 384 bytes of buffer 0 ('w0'), found 388"},
    {"destinationExtent", [](auto &b) { *rangeOf(b, kGather0).destination = at(bufferOf(b, "W0"), 4); },
     "all-gather destination: expected it within"},
    {"elementAlignment", [](auto &b) { *rangeOf(b, kNormSum).source = at(bufferOf(b, "W0"), 2); },
     "expected an offset in multiples of 4"},
    {"wholeByRank", [](auto &b) { *rangeOf(b, kNormSum).source = at(bufferOf(b, "W0"), 0, 0, 4); },
     "all-reduce source: expected a rank stride of 0, found 4"},
    {"partByRank", [](auto &b) { *gatherBoth(b).ranges[0]->source = at(bufferOf(b, "u"), 0, 0, 128); },
     "expected a rank stride of 0 or, for the rank's part of a whole, 384, found 128"},
    {"sharedBytes", [](auto &b) { *rangeOf(b, kScatter1).destination = at(bufferOf(b, "G1")); },
     "reduce-scatter: expected a source and a destination without common bytes, found an overlap"},
    {"wrongPartInPlace", [](auto &b) { *gatherBoth(b).ranges[0]->source = at(bufferOf(b, "u")); },
     "expected a source and a destination without common bytes, or the source as the rank's shard of the "
     "destination"},
    {"inLoop",
     [](auto &b) {
       b.collective(b.loop(microOf(b), 2),
                    {AllReduce, {{at(bufferOf(b, "norm")), at(bufferOf(b, "norm")), 1}}});
     },
     "expected no collective in a loop"},
    {"onCompute", [](auto &b) { microOf(b)[kGather0]->stream = fb::Stream::Compute; },
     "expected the stream communication for it, found compute"},
    {"readsInFlight", [](auto &b) { microOf(b)[kX]->after.clear(); },
     "kernel test_ranks_sum, argument 0: it reads bytes that instruction 0 (h.0: dist.all_gather at "
     "test.mlir:12), on the stream communication, writes"},
    {"gathersWhatIsRead", [](auto &b) { *rangeOf(b, kGather1).destination = at(bufferOf(b, "W0")); },
     "kernel test_ranks_sum, argument 0: it reads bytes that instruction 1 (h.0: dist.all_gather at "
     "test.mlir:12), on the stream communication, writes"},
    {"startsEarly", [](auto &b) { microOf(b)[kScatter1]->after.clear(); },
     "reduce-scatter source: it reads bytes that instruction 4"},
    {"startsAfterTheWrongOne", [](auto &b) { microOf(b)[kScatter1]->after = {kY}; },
     "reduce-scatter source: it reads bytes that instruction 4"},
    {"copiesInFlight", [](auto &b) { microOf(b)[kCopyH1]->after.clear(); },
     "copy source: it reads bytes that instruction 5"},
    {"zeroesInFlight",
     [](auto &b) {
       b.zero(microOf(b), at(bufferOf(b, "norm")), 4);
       std::swap(microOf(b).back(), microOf(b)[kZ]);
     },
     "zero destination: it writes bytes that instruction 11"},
    {"inLoopInFlight",
     [](auto &b) {
       b.zero(b.loop(microOf(b), 12), at(bufferOf(b, "W1"), 0, 64), 64);
       std::swap(microOf(b).back(), microOf(b)[kX]);
     },
     "entry micro_step, instruction 2 (test.op at test.mlir:1): zero destination: it writes bytes"},
    {"anotherRanksPartInFlight",
     [](auto &b) {
       PlanBuilder::Body &update = b.plan.entries[1]->instructions;
       b.zero(update, at(bufferOf(b, "u"), 0, 0, 384), 384);
       std::swap(update[2], update[3]);
     },
     "zero destination: it writes bytes that instruction 1"},
    {"redundantEdge", [](auto &b) { microOf(b)[kCopyW1]->after = {kNormSum}; },
     "after: expected none that is implied by the others, found 11"},
    {"edgeToTheSameStream", [](auto &b) { microOf(b)[kCopyW1]->after = {kZ}; },
     "after: expected instructions of other streams than compute, found 12"},
    {"noRanges", [](auto &b) { gatherBoth(b).ranges.clear(); },
     "all-gather: expected 1 to 1024 ranges, found 0"},
    {"manyRanges",
     [](auto &b) {
       for (auto &ranges = gatherBoth(b).ranges; ranges.size() < 1025;)
         ranges.push_back(std::make_unique<fb::RangeT>(*ranges[0]));
     },
     "all-gather: expected 1 to 1024 ranges, found 1025"},
    {"rangeType", [](auto &b) { gatherBoth(b).ranges[1]->dtype = fb::DType(11); },
     "all-gather of range 1: unknown dtype 11"},
    {"rangeBufferType", [](auto &b) { gatherBoth(b).ranges[1]->dtype = fb::DType::F32; },
     "all-gather source of range 1: expected a buffer of f32, found 'c' of i32"},
    {"rangeExtent", [](auto &b) { gatherBoth(b).ranges[1]->elements += 2; },
     "all-gather source of range 1: expected it within the 8 bytes"},
    {"rangesShareBytes",
     [](auto &b) { gatherBoth(b).ranges.push_back(std::make_unique<fb::RangeT>(*gatherBoth(b).ranges[0])); },
     "all-gather: expected ranges that have only bytes in common that both read, found others in ranges 0 "
     "and 2"},
    {"rangeReadInFlight", [](auto &b) { b.plan.entries[1]->instructions[2]->after.clear(); },
     "copy source: it reads bytes that instruction 1"},
    {"rangeMissing", [](auto &b) { gatherBoth(b).ranges.pop_back(); },
     "copy source: expected bytes written as 'C', found some that nothing in the entry has written before"},
    {"rankStrideExtent", [](auto &b) { *copyW1Of(b).source = at(bufferOf(b, "Z"), 0, 0, 388); },
     "found 384 bytes at 0, 1 times 0 bytes apart, on 2 ranks 388 bytes apart"},
    {"rankStrideOverflow", [](auto &b) { *copyW1Of(b).source = at(bufferOf(b, "Z"), 0, 0, ~uint64_t{3}); },
     "copy source: expected it within"},
    {"rankStrideElement", [](auto &b) { *copyW1Of(b).source = at(bufferOf(b, "Z"), 0, 0, 382); },
     "expected a rank stride in multiples of 4, found 382"},
    {"rankStrideAlignment",
     [](auto &b) {
       b.plan.buffers[bufferOf(b, "g1")]->bytes += 4; // the last one
       b.plan.arenas[PlanBuilder::kScratch]->bytes += 4;
       operation<fb::LaunchT>(b, 0, kZ).args[1] = at(bufferOf(b, "g1"), 0, 0, 4);
     },
     "argument 1: expected a rank stride in multiples of 64, found 4"},
    {"readsWhatNobodyWrote",
     [](auto &b) {
       std::swap(microOf(b)[kCopyW1], microOf(b)[kZ]);
       std::swap(microOf(b)[kCopyW1]->after, microOf(b)[kZ]->after);
     },
     "copy source: expected bytes written as 'Z', found some that nothing in the entry has written before"},
    {"readsWhatWasOverwritten",
     [](auto &b) { b.plan.buffers[bufferOf(b, "G0")]->offset = b.plan.buffers[bufferOf(b, "W1")]->offset; },
     "kernel test_ranks_scale, argument 0: expected bytes written as 'W1', found some that 'G0' has "
     "overwritten"},
    {"destroysWhatNobodyRead", [](auto &b) { b.zero(microOf(b), at(bufferOf(b, "h0")), 4); },
     "zero destination: expected bytes of 'h0' that are free to be written, found some that nothing has "
     "read"},
    {"isDestroyedUnread",
     [](auto &b) { b.launch(microOf(b), 2, {at(bufferOf(b, "Y")), at(bufferOf(b, "h0"))}); },
     "kernel test_ranks_total, argument 1: expected bytes of 'h0' that are free to be written"},
    {"persistentShared", [](auto &b) { b.plan.buffers[bufferOf(b, "h0")]->offset = 0; },
     "expected bytes of their own in the persistent arena 'persistent'"},
    {"stateBeyond", [](auto &b) { b.plan.states[1]->offset = 113; },
     "state 'b': expected it within the 192 elements of its flat tensor, found 80 at 113"},
    {"stateOverflow", [](auto &b) { b.plan.states[1]->offset = ~uint64_t{0}; },
     "state 'b': expected it within"},
    {"statesShareBytes", [](auto &b) { b.plan.states[1]->offset = 99; },
     "state 'b': expected it to begin at element 100"},
    {"stateWhole", [](auto &b) { b.plan.states[0]->sharded.reset(); },
     "state 'a': expected it within the 96"},
    {"stateOfUnknownAxes", [](auto &b) { *b.plan.states[0]->sharded = {0, 3}; },
     "state 'a': expected some of the mesh's 2 axes, found axes 0 to 3"},
    {"stateHalfSharded",
     [](auto &b) {
       b.plan.states[0]->sharded.reset();
       b.plan.states[0]->shape = {90};
     },
     "state 'b': expected both sharded over the same axes"},
};

class CollectiveRule : public testing::TestWithParam<RanksRule> {};

TEST_P(CollectiveRule, IsRefusedWithItsMessage) {
  PlanBuilder builder = ranksPlan(2, 2);
  GetParam().breakIt(builder);
  EXPECT_THAT(messageOf(builder), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(Plan, CollectiveRule, testing::ValuesIn(kRanksRules),
                         [](const auto &info) { return std::string(info.param.name); });

TEST(CollectivePlan, IsAcceptedForAnyRanks) {
  for (const uint32_t ranks : {2, 3, 4, 6})
    EXPECT_EQ(messageOf(ranksPlan(ranks, ranks)), "accepted") << ranks;
  EXPECT_EQ(messageOf(ranksPlan(4, 2)), "accepted");
  EXPECT_EQ(messageOf(ranksPlan(6, 3)), "accepted");
}

TEST(CollectivePlan, SourcesInFlightMayBeRead) {
  PlanBuilder builder = ranksPlan(2, 2);
  const uint32_t other = builder.buffer("e", PlanBuilder::kPersistent, fb::DType::I32, 2);
  PlanBuilder::Body &update = builder.plan.entries[1]->instructions;
  builder.copy(update, at(bufferOf(builder, "c")), at(other), 8);
  std::swap(update[2], update[3]);
  EXPECT_EQ(messageOf(builder), "accepted");
}

TEST(CollectivePlan, RangesMayReadTheSame) {
  PlanBuilder builder = ranksPlan(2, 2);
  auto &ranges = gatherBoth(builder).ranges;
  ranges.push_back(std::make_unique<fb::RangeT>(*ranges[1]));
  *ranges[2]->destination = at(bufferOf(builder, "d"));
  builder.plan.entries[1]->instructions.pop_back();
  EXPECT_EQ(messageOf(builder), "accepted");
}

TEST(CollectivePlan, PartsNeedAMesh) {
  PlanBuilder builder = fullPlan();
  *operation<fb::CopyT>(builder, 3, 2).source = at(6, 0, 0, 4);
  EXPECT_THAT(
      messageOf(builder),
      HasSubstr("copy source: expected no rank stride and no axes, or a stride along some of the mesh's 0 "
                "axes, found 4 along axes 1 to 2"));
}

TEST(CollectivePlan, AFlatTensorHoldsLittleBesideItsStates) {
  PlanBuilder builder = ranksPlan(2, 2);
  const uint32_t flat =
      builder.buffer("flat", PlanBuilder::kPersistent, fb::DType::F32, 3000, fb::Role::Parameter);
  builder.state("c", flat, {952}, fb::Role::Parameter);
  EXPECT_THAT(messageOf(builder),
              HasSubstr("state 'c': expected its buffer to end less than 8192 bytes after it, found 8192"));
  builder.plan.states.back()->shape = {953};
  EXPECT_EQ(messageOf(builder), "accepted");
  fb::StateT &next = builder.state("d", flat, {500}, fb::Role::Parameter);
  next.offset = 953 + 1024;
  EXPECT_THAT(messageOf(builder),
              HasSubstr("state 'd': expected it to begin at element 953 of its flat tensor, or "
                        "less than 4096 bytes after it, found 1977"));
  next.offset = 953 + 1023;
  EXPECT_EQ(messageOf(builder), "accepted");
}

TEST(CollectivePlan, PartsLieAlongTheAxesOfTheCollective) {
  PlanBuilder builder = ranksPlan(4, 2);
  *gatherBoth(builder).axes = {0, 1};
  EXPECT_THAT(messageOf(builder),
              HasSubstr("all-gather source of range 0: expected a rank stride along the axes of the "
                        "collective, replica, found one along shard"));
}

TEST(CollectivePlan, AMeshHasThePlansRanks) {
  PlanBuilder builder = ranksPlan(4, 2);
  builder.plan.mesh[0]->size = 3;
  EXPECT_THAT(messageOf(builder),
              HasSubstr("plan mesh: expected axes of 4 ranks, found replica 3 x shard 2"));
  builder.plan.mesh[0]->size = 0;
  EXPECT_THAT(messageOf(builder), HasSubstr("mesh: expected 1 to 65536 ranks along axis 'replica', found 0"));
  builder.plan.mesh[0]->size = 2;
  builder.plan.mesh[0]->name = "shard";
  EXPECT_THAT(messageOf(builder), HasSubstr("mesh: expected axis 'shard' once, found it twice"));
  builder.plan.mesh[0]->name = "a b";
  EXPECT_THAT(messageOf(builder), HasSubstr("mesh: expected axes named by 1 to 31 small letters"));
}

} // namespace
} // namespace trainc::test
