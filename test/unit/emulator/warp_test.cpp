// Lanes that diverge and reconverge, and warp-level instructions.
#include "test/unit/emulator/kernel_runner.h"

#include <bit>
#include <numeric>

namespace trainc::emulator {
namespace {

std::vector<uint32_t> lanes(size_t count = 32) {
  std::vector<uint32_t> values(count);
  std::iota(values.begin(), values.end(), 0U);
  return values;
}

template <typename F> std::vector<uint32_t> expected(F f) {
  std::vector<uint32_t> values;
  for (uint32_t lane = 0; lane < 32; ++lane)
    values.push_back(f(lane));
  return values;
}

/// One warp: each lane has its number in %r0.
std::vector<uint32_t> warp(const std::string &body) {
  KernelRunner runner(kernelOf(
      "mov.u32 %r0, %laneid;\n" + body + "\nmad.wide.u32 %x1, %tid0, 4, %a0; st.global.b32 [%x1], %r9;", 1));
  EXPECT_EQ(runner.parseError(), "");
  const uint64_t result = runner.allocate(128);
  EXPECT_EQ(runner.fault("k", 32, {result}), "");
  return runner.download<uint32_t>(result, 32);
}

TEST(PtxWarp, Shuffles) {
  EXPECT_EQ(warp("shfl.sync.bfly.b32 %r9, %r0, 5, 31, -1;"),
            expected([](uint32_t lane) { return lane ^ 5; }));
  EXPECT_EQ(warp("shfl.sync.up.b32 %r9, %r0, 3, 0, -1;"),
            expected([](uint32_t lane) { return lane < 3 ? lane : lane - 3; }));
  EXPECT_EQ(warp("shfl.sync.down.b32 %r9, %r0, 3, 31, -1;"),
            expected([](uint32_t lane) { return lane > 28 ? lane : lane + 3; }));
  EXPECT_EQ(warp("shfl.sync.idx.b32 %r9, %r0, 3, 31, -1;"), expected([](uint32_t) { return 3; }));
  // Segments of eight: CUDA passes 0x1807 for a width of eight.
  EXPECT_EQ(warp("shfl.sync.down.b32 %r9, %r0, 2, 0x1807, -1;"),
            expected([](uint32_t lane) { return lane % 8 > 5 ? lane : lane + 2; }));
  EXPECT_EQ(warp("shfl.sync.idx.b32 %r9, %r0, 2, 0x181f, -1;"),
            expected([](uint32_t lane) { return lane / 8 * 8 + 2; }));
  EXPECT_EQ(warp("shfl.sync.down.b32 %r1|%p1, %r0, 3, 31, -1; selp.b32 %r9, 1, 0, %p1;"),
            expected([](uint32_t lane) { return lane <= 28 ? 1 : 0; }));
}

TEST(PtxWarp, VotesMatchesAndReduces) {
  EXPECT_EQ(warp("setp.lt.u32 %p0, %r0, 5; vote.sync.ballot.b32 %r9, %p0, -1;"),
            expected([](uint32_t) { return 31; }));
  EXPECT_EQ(warp("setp.lt.u32 %p0, %r0, 5; vote.sync.any.pred %p1, %p0, -1; vote.sync.all.pred %p2, !%p0, -1;"
                 "selp.b32 %r1, 1, 0, %p1; selp.b32 %r9, 7, %r1, %p2;"),
            expected([](uint32_t) { return 1; }));
  EXPECT_EQ(warp("and.b32 %r1, %r0, 3; match.any.sync.b32 %r9, %r1, -1;"),
            expected([](uint32_t lane) { return 0x11111111U << lane % 4; }));
  EXPECT_EQ(warp("match.all.sync.b32 %r1|%p1, %r0, -1; selp.b32 %r9, 1, 0, %p1;"),
            expected([](uint32_t) { return 0; }));
  EXPECT_EQ(warp("redux.sync.add.u32 %r9, %r0, -1;"), expected([](uint32_t) { return 496; }));
  EXPECT_EQ(warp("sub.s32 %r1, %r0, 9; redux.sync.min.s32 %r9, %r1, -1;"),
            expected([](uint32_t) { return static_cast<uint32_t>(-9); }));
  EXPECT_EQ(warp("elect.sync %r1|%p1, -1; selp.b32 %r9, %r1, 9, %p1;"),
            expected([](uint32_t lane) { return lane == 0 ? 0 : 9; }));
}

TEST(PtxWarp, HalvesShuffleByThemselves) {
  EXPECT_EQ(warp("mov.u32 %r1, 0xffff; setp.ge.u32 %p0, %r0, 16; @%p0 mov.u32 %r1, 0xffff0000; "
                 "shfl.sync.bfly.b32 %r9, %r0, 1, 31, %r1;"),
            expected([](uint32_t lane) { return lane ^ 1; }));
}

TEST(PtxWarp, PartsAndMeetsAgain) {
  EXPECT_EQ(warp("and.b32 %r1, %r0, 1; setp.eq.u32 %p0, %r1, 0; @%p0 bra EVEN;\n mul.lo.u32 %r9, %r0, 10; "
                 "bra.uni MEET;\n"
                 "EVEN: add.u32 %r9, %r0, 100;\nMEET: activemask.b32 %r2; add.u32 %r9, %r9, %r2; add.u32 "
                 "%r9, %r9, 1;"),
            expected([](uint32_t lane) { return lane % 2 == 0 ? lane + 100 : lane * 10; }));
}

TEST(PtxWarp, LoopsAsOftenAsEachLaneWants) {
  EXPECT_EQ(warp("mov.u32 %r1, 0; mov.u32 %r9, 0;\nLOOP: setp.ge.u32 %p0, %r1, %r0; @%p0 bra DONE;\n"
                 "add.u32 %r1, %r1, 1; add.u32 %r9, %r9, %r1; bra LOOP;\nDONE: shfl.sync.idx.b32 %r2, %r9, "
                 "31, 31, -1;\n"
                 "add.u32 %r9, %r9, %r2;"),
            expected([](uint32_t lane) { return lane * (lane + 1) / 2 + 496; }));
}

TEST(PtxWarp, BranchesByAnIndex) {
  EXPECT_EQ(warp("T: .branchtargets A, B, C, D;\nand.b32 %r1, %r0, 3; brx.idx %r1, T;\n"
                 "A: mov.u32 %r9, 10; bra E;\nB: mov.u32 %r9, 20; bra E;\nC: mov.u32 %r9, 30; bra E;\nD: "
                 "mov.u32 %r9, 40;\nE:"),
            expected([](uint32_t lane) { return (lane % 4 + 1) * 10; }));
}

TEST(PtxWarp, CallsFunctions) {
  const std::string callee =
      ".func (.param .b32 result) twice(.param .b32 x)\n{\n.reg .b32 %r<4>; .reg .pred %p;\n"
      "ld.param.b32 %r1, [x]; setp.gt.u32 %p, %r1, 20; @%p ret; add.u32 %r2, %r1, %r1; st.param.b32 "
      "[result], %r2;\nret;\n}\n"
      ".func (.param .b32 result) quadruple(.param .b32 x)\n{\n.reg .b32 %r<4>;\nld.param.b32 %r1, [x];\n"
      "{ .param .b32 in; .param .b32 out; st.param.b32 [in], %r1; call.uni (out), twice, (in); ld.param.b32 "
      "%r2, [out]; }\n"
      "add.u32 %r2, %r2, %r2; st.param.b32 [result], %r2;\nret;\n}\n";
  KernelRunner runner(kernelOf("mov.u32 %r0, %laneid; and.b32 %r0, %r0, 15;\n{ .param .b32 in; .param .b32 "
                               "out;\n st.param.b32 [in], %r0;\n"
                               "call.uni (out), quadruple, (in);\n ld.param.b32 %r9, [out];\n}\n"
                               "mad.wide.u32 %x1, %tid0, 4, %a0; st.global.b32 [%x1], %r9;",
                               1, callee));
  ASSERT_EQ(runner.parseError(), "");
  const uint64_t result = runner.allocate(128);
  EXPECT_EQ(runner.fault("k", 32, {result}), "");
  EXPECT_EQ(runner.download<uint32_t>(result, 32), expected([](uint32_t lane) { return lane % 16 * 4; }));
}

TEST(PtxWarp, KnowsItsPlace) {
  KernelRunner runner(kernelOf("mov.u32 %r0, %tid.y; mov.u32 %r1, %ctaid.z; mov.u32 %r2, %nctaid.z; mov.u32 "
                               "%r3, %warpid; mov.u32 %r4, %lanemask_lt;\n"
                               "mov.u32 %r5, %tid.x; mad.lo.u32 %r6, %r0, 4, %r5; mad.lo.u32 %r6, %r1, 64, "
                               "%r6; mad.wide.u32 %x1, %r6, 4, %a0;\n"
                               "mad.lo.u32 %r7, %r2, 1000, %r3; popc.b32 %r4, %r4; mad.lo.u32 %r7, %r4, 10, "
                               "%r7; st.global.b32 [%x1], %r7;",
                               1));
  const uint64_t result = runner.allocate(512);
  const Status status = runner.launch("k", {1, 1, 2}, {4, 16, 1}, {result});
  EXPECT_TRUE(status.ok()) << status.message();
  const std::vector<uint32_t> found = runner.download<uint32_t>(result, 128);
  for (uint32_t thread = 0; thread < 128; ++thread)
    EXPECT_EQ(found[thread], 2000 + thread % 64 / 32 + thread % 32 * 10);
}

TEST(PtxWarp, SumsABlockInEveryOrder) {
  // A tree in shared memory, over several warps and many interleavings.
  const std::string body = "{ .shared .align 4 .b8 tile[512]; mov.u64 %x3, tile; mad.wide.u32 %x2, %tid0, 4, "
                           "%x3; mad.wide.u32 %x1, %tid0, 4, %a0;\n"
                           "ld.global.b32 %r0, [%x1]; st.shared.b32 [%x2], %r0; mov.u32 %r1, 64;\n"
                           "LOOP: bar.sync 0; setp.ge.u32 %p0, %tid0, %r1; @%p0 bra NEXT;\n"
                           "mad.wide.u32 %x4, %r1, 4, %x2; ld.shared.b32 %r2, [%x4]; ld.shared.b32 %r3, "
                           "[%x2]; add.u32 %r3, %r3, %r2; st.shared.b32 [%x2], %r3;\n"
                           "NEXT: shr.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra LOOP;\n"
                           "setp.eq.u32 %p2, %tid0, 0; @%p2 st.global.b32 [%a1], %r3; }";
  KernelRunner runner(kernelOf(body, 2));
  ASSERT_EQ(runner.parseError(), "");
  const uint64_t input = runner.upload(lanes(128)), result = runner.allocate(4);
  for (uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_EQ(runner.fault("k", 128, {input, result}, seed), "");
    EXPECT_EQ(runner.download<uint32_t>(result, 1)[0], 128U * 127 / 2);
  }
}

TEST(PtxWarp, TakesTurnsByTheSeed) {
  // The order in which threads of several blocks and warps come to a counter.
  const auto orderOf = [](uint64_t seed) {
    KernelRunner runner(
        kernelOf("mov.u32 %r1, 0;\nLOOP: add.u32 %r1, %r1, 1; setp.lt.u32 %p0, %r1, 100; @%p0 bra LOOP;\n"
                 "atom.global.add.u32 %r0, [%a0], 1; mad.wide.u32 %x1, %i, 4, %a1; st.global.b32 [%x1], %r0;",
                 2));
    const uint64_t counter = runner.upload(std::vector<uint32_t>{0}), order = runner.allocate(512 * 4);
    EXPECT_TRUE(runner.launch("k", {4, 1, 1}, {128, 1, 1}, {counter, order}, seed).ok());
    return runner.download<uint32_t>(order, 512);
  };
  EXPECT_EQ(orderOf(1), orderOf(1));
  EXPECT_NE(orderOf(1), orderOf(2));
  const std::vector<uint32_t> order = orderOf(3);
  EXPECT_NE(order, lanes(512));
  EXPECT_EQ(std::accumulate(order.begin(), order.end(), 0U), 511U * 512 / 2);
}

TEST(PtxWarp, WarpsMeetAtBarriersOfTheirOwn) {
  // Warp 0 produces and only arrives; warp 1 waits for it.
  const std::string body = "{ .shared .align 4 .b8 tile[256]; mov.u64 %x3, tile; mad.wide.u32 %x2, %tid0, 4, "
                           "%x3; setp.ge.u32 %p0, %tid0, 32; @%p0 bra CONSUMER;\n"
                           "st.shared.b32 [%x2], %tid0; bar.arrive 1, 64; ret;\n"
                           "CONSUMER: bar.sync 1, 64; ld.shared.b32 %r0, [%x2+-128]; mad.wide.u32 %x1, %r0, "
                           "4, %a0; st.global.b32 [%x1], %r0; }";
  KernelRunner runner(kernelOf(body, 1));
  ASSERT_EQ(runner.parseError(), "");
  const uint64_t result = runner.allocate(128);
  EXPECT_EQ(runner.fault("k", 64, {result}), "");
  EXPECT_EQ(runner.download<uint32_t>(result, 32), lanes());
}

} // namespace
} // namespace trainc::emulator
