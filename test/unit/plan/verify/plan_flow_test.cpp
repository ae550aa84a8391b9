// Reads against earlier writes, in loops and on all ranks: each rule rejects a plan that violates it; for
// random entries the verifier agrees with a bytewise interpreter.
#include "test/unit/plan/verify/flow_interpreter.h"
#include "test/unit/plan/verify/verifier_support.h"

#include <gmock/gmock.h>
#include <random>

namespace trainc::test {
namespace {

using testing::HasSubstr;
constexpr uint32_t kArena = PlanBuilder::kScratch;
constexpr uint64_t kSlice = 64;

/// A plan of one entry whose loop body the test defines.
class LoopFlow : public testing::Test {
protected:
  /// A scratch buffer of so many slices.
  uint32_t slices(const std::string &name, uint64_t count) {
    return plan.buffer(name, kArena, fb::DType::F32, count * kSlice / 4);
  }
  /// Makes buffer `b` begin where `a` does.
  void layOver(uint32_t b, uint32_t a) { plan.plan.buffers[b]->offset = plan.plan.buffers[a]->offset; }
  void zero(PlanBuilder::Body &body, fb::Operand to, uint64_t bytes = kSlice) { plan.zero(body, to, bytes); }
  void read(PlanBuilder::Body &body, fb::Operand from, uint64_t bytes = kSlice) {
    plan.launch(body,
                plan.kernel(fmt::format("reads{}", plan.plan.kernels.size()), 1,
                            {{fb::Access::Read, fb::DType::F32, bytes}}),
                {from});
  }
  void write(PlanBuilder::Body &body, fb::Operand to, uint64_t bytes = kSlice) {
    plan.launch(body,
                plan.kernel(fmt::format("writes{}", plan.plan.kernels.size()), 1,
                            {{fb::Access::Write, fb::DType::F32, bytes}}),
                {to});
  }

  PlanBuilder plan;
  PlanBuilder::Body &body = plan.entry("init").instructions;
  uint32_t input = slices("input", 8); ///< so that each loop has an operand that advances
};

TEST_F(LoopFlow, RefusesWhatTheNextIterationFindsOverwritten) {
  const uint32_t kept = slices("kept", 1), other = slices("other", 1);
  layOver(other, kept);
  zero(body, at(kept));
  zero(body, at(input), 8 * kSlice);
  PlanBuilder::Body &loop = plan.loop(body, 8);
  read(loop, at(input, 0, kSlice));
  read(loop, at(kept));
  write(loop, at(other));
  EXPECT_THAT(messageOf(plan),
              HasSubstr("instruction 2.1 (test.op at test.mlir:1): kernel reads1, argument 0: "
                        "expected bytes written as 'kept', found some that 'other' has "
                        "overwritten"));
  write(loop, at(kept)); // for the next iteration
  EXPECT_EQ(messageOf(plan), "accepted");
}

TEST_F(LoopFlow, AcceptsWhatEachIterationWritesBeforeItReads) {
  const uint32_t temporary = slices("temporary", 1), other = slices("other", 1);
  layOver(other, temporary);
  PlanBuilder::Body &loop = plan.loop(body, 8);
  zero(loop, at(input, 0, kSlice));
  write(loop, at(temporary));
  read(loop, at(temporary));
  write(loop, at(other));
  read(loop, at(other));
  EXPECT_EQ(messageOf(plan), "accepted");
}

TEST_F(LoopFlow, RefusesToReadTheGapsBetweenStrides) {
  zero(plan.loop(body, 4), at(input, 0, 2 * kSlice));
  read(body, at(input), 7 * kSlice);
  EXPECT_THAT(messageOf(plan), HasSubstr("expected bytes written as 'input', found some that nothing in the "
                                         "entry has written before"));
}

TEST_F(LoopFlow, AcceptsReadsOfTheSameStrides) {
  const uint32_t between = plan.buffer("between", kArena, fb::DType::F32, 6 * kSlice / 4);
  plan.plan.buffers[between]->offset = plan.plan.buffers[input]->offset + kSlice;
  zero(plan.loop(body, 4), at(input, 0, 2 * kSlice));
  zero(plan.loop(body, 3), at(between, 0, 2 * kSlice));
  read(plan.loop(body, 4), at(input, 0, 2 * kSlice));
  read(plan.loop(body, 3), at(between, 0, 2 * kSlice));
  EXPECT_EQ(messageOf(plan), "accepted");
}

TEST_F(LoopFlow, RemembersWhatSeveralReadersOfALoopHaveRead) {
  zero(body, at(input), 8 * kSlice);
  PlanBuilder::Body &loop = plan.loop(body, 4);
  read(loop, at(input, 0, 2 * kSlice));
  read(loop, at(input, kSlice, 2 * kSlice));
  zero(body, at(input), 8 * kSlice);
  EXPECT_EQ(messageOf(plan), "accepted");
  const uint32_t wide = slices("wide", 12);
  body.clear();
  zero(body, at(wide), 12 * kSlice);
  PlanBuilder::Body &gaps = plan.loop(body, 4);
  read(gaps, at(wide, kSlice, 3 * kSlice)); // of three slices the second, then the third
  read(gaps, at(wide, 2 * kSlice, 3 * kSlice));
  zero(body, at(wide, 3 * kSlice), kSlice);
  EXPECT_THAT(messageOf(plan), HasSubstr("instruction 2"));
}

TEST_F(LoopFlow, FollowsWhatOneIterationLeavesForTheNext) {
  zero(body, at(input));
  PlanBuilder::Body &loop = plan.loop(body, 7);
  read(loop, at(input, 0, kSlice));
  write(loop, at(input, kSlice, kSlice));
  EXPECT_EQ(messageOf(plan), "accepted");
  std::swap(loop[0]->operation, loop[1]->operation);
  EXPECT_EQ(messageOf(plan), "accepted");
  operation<fb::LoopT>(plan, 0, 1).count = 6;
  loop[1]->operation.AsLaunch()->args[0] = at(input, 2 * kSlice, kSlice); // not written by any iteration yet
  EXPECT_THAT(messageOf(plan), HasSubstr("instruction 1.1"));
}

TEST_F(LoopFlow, RefusesCopiesThatReachIntoTheNextIterations) {
  PlanBuilder::Body &loop = plan.loop(body, 7);
  zero(loop, at(input, 0, kSlice), kSlice + 4);
  EXPECT_THAT(messageOf(plan),
              HasSubstr("zero destination: expected bytes of 'input' that are free to be written"));
}

TEST_F(LoopFlow, FollowsAMillionIterations) {
  constexpr uint64_t many = 1 << 20;
  const uint32_t large = slices("large", many), sums = slices("sums", 2 * many);
  zero(plan.loop(body, many), at(large, 0, kSlice));
  PlanBuilder::Body &loop = plan.loop(body, many);
  read(loop, at(large, 0, kSlice));
  write(loop, at(sums, 0, kSlice));
  read(loop, at(sums, 0, kSlice));
  write(loop, at(large, 0, kSlice)); // in place
  read(body, at(large), many * kSlice);
  EXPECT_EQ(messageOf(plan), "accepted");
  operation<fb::LoopT>(plan, 0, 0).count = many - 1;
  EXPECT_THAT(messageOf(plan), HasSubstr("instruction 1.0"));
  operation<fb::LoopT>(plan, 0, 0).count = many;
  operation<fb::LoopT>(plan, 0, 1).body[2]->operation.AsLaunch()->args[0] = at(sums, 2 * kSlice, kSlice);
  EXPECT_THAT(messageOf(plan), HasSubstr("instruction 1.2"));
}

TEST_F(LoopFlow, RefusesMoreScatteredPiecesThanItFollows) {
  constexpr uint64_t many = 1 << 17;
  const uint32_t large = slices("large", 2 * many);
  zero(plan.loop(body, many), at(large, 0, 2 * kSlice));
  EXPECT_THAT(messageOf(plan),
              HasSubstr("expected operands of the loop that advance alike over 'large', found "
                        "bytes in too many pieces to follow"));
}

/// A plan of many ranks, each of which reads its shard of the entry's result.
class PlaceFlow : public LoopFlow {
protected:
  void divide(uint32_t ranks) { plan.setRanks({ranks, ranks}); }
};

TEST_F(PlaceFlow, RefusesAHoleAtASinglePlace) {
  constexpr uint32_t ranks = 16;
  divide(ranks);
  for (uint32_t hole = 0; hole < ranks; ++hole) {
    const uint32_t whole = slices("whole", ranks);
    body.clear();
    zero(body, at(whole), hole * kSlice);
    zero(body, at(whole, (hole + 1) * kSlice), (ranks - hole - 1) * kSlice);
    read(body, at(whole, 0, 0, kSlice));
    EXPECT_THAT(messageOf(plan),
                HasSubstr("expected bytes written as 'whole', found some that nothing in the entry "
                          "has written before"))
        << hole;
    zero(body, at(whole, hole * kSlice), kSlice);
    std::swap(body[2], body[3]);
    EXPECT_EQ(messageOf(plan), "accepted") << hole;
  }
}

TEST_F(PlaceFlow, RefusesAHoleBetweenPartsOfTwoSizes) {
  constexpr uint32_t ranks = 100;
  divide(ranks);
  const uint32_t whole = slices("whole", 2 * ranks);
  zero(body, at(whole, 0, 0, kSlice), 100 * kSlice);
  read(body, at(whole, 50 * kSlice, 0, 2 * kSlice / 2), kSlice); // always the same slice of it
  EXPECT_EQ(messageOf(plan), "accepted");
  operation<fb::LaunchT>(plan, 0, 1).args[0] = at(whole, 0, 0, 2 * kSlice); // reaches its end at place 99
  EXPECT_EQ(messageOf(plan), "accepted");
  operation<fb::LaunchT>(plan, 0, 1).args[0] = at(whole, kSlice, 0, 2 * kSlice);
  EXPECT_THAT(messageOf(plan), HasSubstr("instruction 1 (test.op at test.mlir:1)"));
}

TEST_F(PlaceFlow, FollowsThousandsOfRanks) {
  constexpr uint32_t ranks = 1 << 16;
  divide(ranks);
  for (int i = 0; i < 100; ++i) {
    const uint32_t whole = slices(fmt::format("whole{}", i), ranks);
    zero(body, at(whole), ranks * kSlice);
    read(body, at(whole, 0, 0, kSlice));
  }
  EXPECT_EQ(messageOf(plan), "accepted");
  operation<fb::ZeroT>(plan, 0, 100).bytes -= kSlice;
  EXPECT_THAT(messageOf(plan), HasSubstr("instruction 101"));
}

/// Entries that touch overlapping buffers at random addresses, in loops by random strides, and on ranks at
/// random distances.
class RandomEntries {
public:
  RandomEntries(uint32_t seed, uint32_t ranks) : random_(seed), ranks_(ranks) {}

  PlanBuilder make() {
    PlanBuilder plan;
    plan.setRanks({ranks_, ranks_});
    constexpr uint64_t bytes = 1024;
    for (const char *name : {"a", "b", "c"}) {
      const uint32_t buffer = plan.buffer(name, kArena, fb::DType::F32, bytes / 4);
      plan.plan.buffers[buffer]->offset = 64 * (random_() % 17);
    }
    plan.plan.arenas[kArena]->bytes = 2048;
    PlanBuilder::Body &body = plan.entry("init").instructions;
    for (uint32_t buffer = 0; buffer < 3; ++buffer)
      if (random_() % 4)
        plan.launch(body, kernel(plan, fb::Access::Write, bytes), {at(buffer)});
    for (uint32_t loops = 1 + random_() % 2; loops > 0; --loops) {
      const uint64_t count = 2 + random_() % (random_() % 2 ? 8 : 38);
      PlanBuilder::Body &inner = plan.loop(body, count);
      addInstruction(plan, inner, count, true);
      for (uint32_t more = random_() % 4; more > 0; --more)
        addInstruction(plan, inner, count, random_() % 2);
    }
    addInstruction(plan, body, 1, false);
    return plan;
  }

private:
  static uint32_t kernel(PlanBuilder &plan, fb::Access access, uint64_t bytes) {
    return plan.kernel(fmt::format("kernel{}", plan.plan.kernels.size()), 1,
                       {{access, fb::DType::F32, bytes}});
  }

  void addInstruction(PlanBuilder &plan, PlanBuilder::Body &body, uint64_t count, bool advances) {
    constexpr int64_t bytes = 1024;
    const auto travels = std::max<int64_t>(int64_t(count) - 1, 1);
    int64_t stride = 0, begin = 0;
    const int64_t length = 4 * (1 + int64_t(random_() % 24));
    const int64_t widest = (bytes - 100) / travels / 4;
    while (advances && stride == 0)
      stride = 4 * std::clamp<int64_t>(int64_t(random_() % 65) - 32, -widest, widest);
    const int64_t before = stride < 0 ? -stride * travels : 0, after = stride > 0 ? stride * travels : 0;
    const int64_t shift = ranks_ > 1 && random_() % 2 ? 64 * (1 + random_() % (1024 / 64 / ranks_)) : 0,
                  shifts = shift * (ranks_ - 1);
    begin = (before + 63) / 64 * 64;
    if (begin + after + length + shifts > bytes)
      return addInstruction(plan, body, count, advances);
    begin += 64 * int64_t(random_() % uint64_t((bytes - begin - after - length - shifts) / 64 + 1));
    const fb::Operand operand = at(random_() % 3, uint64_t(begin), stride, uint64_t(shift));
    if (random_() % 8 == 0)
      return plan.zero(body, operand, uint64_t(length));
    plan.launch(body, kernel(plan, fb::Access(random_() % 3), uint64_t(length)), {operand});
  }

  std::mt19937 random_;
  uint32_t ranks_;
};

class RandomFlow : public testing::TestWithParam<uint32_t> {};

TEST_P(RandomFlow, IsRefusedIfASingleByteIs) {
  RandomEntries entries(GetParam(), GetParam());
  std::map<bool, int> counts;
  for (int i = 0; i < 4000; ++i) {
    const PlanBuilder plan = entries.make();
    const bool sound = isSound(plan.plan);
    const std::string message = messageOf(plan);
    ASSERT_EQ(sound, message == "accepted") << "entry " << i << ": " << message;
    ++counts[sound];
  }
  EXPECT_GT(counts[true], 200);
  EXPECT_GT(counts[false], 200);
}

INSTANTIATE_TEST_SUITE_P(Ranks, RandomFlow, testing::Values(1U, 2U, 5U, 12U));

} // namespace
} // namespace trainc::test
