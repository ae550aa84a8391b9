// Each fault that the emulator finds, and the same kernel without it.
#include "test/unit/emulator/kernel_runner.h"

#include <gmock/gmock.h>

namespace trainc::emulator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// %x1 is the address of a thread's own word after %a0.
const char *const kOwnWord = "mad.wide.u32 %x1, %i, 4, %a0;\n";
/// %x2 is that of its own word in `words`, %x3 that of its neighbour's.
const char *const kOwnShared =
    ".shared .align 16 .b8 words[256];\nmov.u64 %x3, words;\nmad.wide.u32 %x2, %tid0, 4, %x3;\n"
    "add.u32 %r1, %tid0, 1;\nand.b32 %r1, %r1, 63;\nmad.wide.u32 %x3, %r1, 4, %x3;\n";

std::vector<uint32_t> words(size_t count) { return std::vector<uint32_t>(count, 7); }

/// The fault of one block that gets the address of 64 words; "" if there is none.
std::string faultOf(const std::string &body, uint32_t threads = 64) {
  KernelRunner runner(kernelOf(body, 1));
  EXPECT_EQ(runner.parseError(), "");
  return runner.fault("k", threads, {runner.upload(words(64))});
}

TEST(PtxFault, OutOfBounds) {
  const std::string load = std::string(kOwnWord) + "ld.global.b32 %r0, [%x1];";
  EXPECT_EQ(faultOf(load), "");
  EXPECT_THAT(faultOf(load, 65), AllOf(HasSubstr("kernel 'k', block (0,0,0), thread (64,0,0), PTX line "),
                                       HasSubstr("`ld.global.b32 %r0, [%x1];`: reads 4 bytes at 0x"),
                                       HasSubstr("0 bytes past the end of 256 bytes at 0x")));
  EXPECT_THAT(faultOf(std::string(kOwnWord) + "st.global.b32 [%x1+-4], %r0;"),
              HasSubstr("register %r0 is read, and was never written"));
  EXPECT_THAT(faultOf(std::string(kOwnWord) + "st.global.b32 [%x1+-4], 5;"), HasSubstr("writes 4 bytes"));
  EXPECT_THAT(faultOf(std::string(kOwnShared) + "st.shared.b32 [%x2], 1;", 65),
              HasSubstr("thread (64,0,0), PTX line 24 `st.shared.b32 [%x2], 1;`: writes 4 bytes at 0x100 of "
                        "shared memory, of which the block has 256 bytes"));
  EXPECT_THAT(faultOf("mov.u64 %x0, 0; ld.global.b32 %r0, [%x0];"), HasSubstr("reads 4 bytes at 0x0"));
  EXPECT_THAT(faultOf(".local .align 4 .b8 stack[8]; mov.u64 %x0, stack; st.local.b32 [%x0+8], 1;"),
              HasSubstr("of local memory, of which a thread has 8 bytes"));
}

TEST(PtxFault, Misaligned) {
  EXPECT_EQ(faultOf("ld.global.v2.b32 {%r0, %r1}, [%a0+8];"), "");
  EXPECT_THAT(faultOf("ld.global.v2.b32 {%r0, %r1}, [%a0+4];"), HasSubstr(", which is not a multiple of 8"));
}

TEST(PtxFault, ReleasedMemory) {
  KernelRunner runner(kernelOf("ld.global.b32 %r0, [%a0+4];", 1));
  const uint64_t address = runner.upload(words(4));
  EXPECT_EQ(runner.fault("k", 1, {address}), "");
  EXPECT_TRUE(runner.memory().release(address));
  EXPECT_FALSE(runner.memory().release(address));
  EXPECT_THAT(runner.fault("k", 1, {address}), HasSubstr("byte 4 of 16 bytes at 0x"));
  EXPECT_THAT(runner.fault("k", 1, {address}), HasSubstr("that were released"));
}

TEST(PtxFault, UnwrittenMemory) {
  KernelRunner runner(kernelOf("ld.global.b32 %r0, [%a0];", 1));
  const uint64_t address = runner.allocate(16);
  runner.memory().noteWritten(address, 3);
  EXPECT_THAT(runner.fault("k", 1, {address}),
              HasSubstr("of global memory, of which byte 3 was never written"));
  runner.memory().noteWritten(address + 3, 1);
  EXPECT_EQ(runner.fault("k", 1, {address}), "");
  const std::string readShared = std::string(kOwnShared) + "ld.shared.b32 %r0, [%x2];";
  EXPECT_THAT(faultOf(readShared), HasSubstr("of shared memory, of which byte 0 was never written"));
  EXPECT_EQ(faultOf(std::string(kOwnShared) + "st.shared.b32 [%x2], 1; ld.shared.b32 %r0, [%x2];"), "");
  EXPECT_THAT(faultOf(".local .align 4 .b8 stack[8]; mov.u64 %x0, stack; ld.local.b32 %r0, [%x0];"),
              HasSubstr("of local memory, of which byte 0 was never written"));
}

TEST(PtxFault, SharedMemoryOfTheBlockBeforeIsUnwritten) {
  // Only block 0 writes.
  KernelRunner runner(
      kernelOf(std::string(kOwnShared) +
                   "setp.ne.u32 %p0, %base, 0; @!%p0 st.shared.b32 [%x2], 1; ld.shared.b32 %r0, [%x2];",
               1));
  const uint64_t address = runner.upload(words(1));
  EXPECT_TRUE(runner.launch("k", {1, 1, 1}, {32, 1, 1}, {address}).ok());
  EXPECT_THAT(runner.launch("k", {2, 1, 1}, {32, 1, 1}, {address}).message(), HasSubstr("block (1,0,0)"));
}

TEST(PtxFault, RaceInSharedMemory) {
  const std::string write = std::string(kOwnShared) + "st.shared.b32 [%x2], %tid0;\n",
                    read = "ld.shared.b32 %r0, [%x3];\n";
  EXPECT_EQ(faultOf(write + "bar.sync 0;\n" + read), "");
  // The race is found in any order: as a read after a write, or as a read of unwritten bytes.
  EXPECT_NE(faultOf(write + read), "");
  // A write after a read.
  EXPECT_EQ(faultOf(write + "bar.sync 0;\n" + read + "bar.sync 0; st.shared.b32 [%x2], 1;"), "");
  EXPECT_THAT(faultOf(write + "bar.sync 0;\n" + read + "st.shared.b32 [%x2], 1;"),
              AllOf(HasSubstr("of shared memory, a race with a "),
                    HasSubstr("of the same block, with no barrier between")));
  EXPECT_THAT(faultOf(std::string(kOwnShared) + "st.shared.b32 [words], 1;"),
              HasSubstr("a race with a write by thread"));
}

TEST(PtxFault, RaceInAWarp) {
  const std::string write = std::string(kOwnShared) + "st.shared.b32 [%x2], %tid0;\n";
  const std::string read = "xor.b32 %r1, %tid0, 1;\nmov.u64 %x3, words;\nmad.wide.u32 %x3, %r1, 4, "
                           "%x3;\nld.shared.b32 %r0, [%x3];\n";
  EXPECT_EQ(faultOf(write + "bar.warp.sync -1;\n" + read), "");
  EXPECT_THAT(faultOf(write + read), HasSubstr("a race with a write by thread"));
  // Two lanes that name each other are enough.
  EXPECT_EQ(faultOf(write + "and.b32 %r2, %tid0, 30; shl.b32 %r2, 3, %r2; bar.warp.sync %r2;\n" + read), "");
  const std::string further = "xor.b32 %r1, %tid0, 2;\nmov.u64 %x3, words;\nmad.wide.u32 %x3, %r1, 4, "
                              "%x3;\nld.shared.b32 %r0, [%x3];\n";
  EXPECT_THAT(faultOf(write + "and.b32 %r2, %tid0, 30; shl.b32 %r2, 3, %r2; bar.warp.sync %r2;\n" + further),
              HasSubstr("a race with a write by thread"));
  // A barrier of one warp does not order other warps.
  const std::string other = "xor.b32 %r1, %tid0, 32;\nmov.u64 %x3, words;\nmad.wide.u32 %x3, %r1, 4, "
                            "%x3;\nst.shared.b32 [%x3], 1;\n";
  EXPECT_THAT(faultOf(write + "bar.warp.sync -1;\n" + other), HasSubstr("a race with a write by thread"));
}

TEST(PtxFault, SeveralReadersAndAWriter) {
  const std::string readAll =
      std::string(kOwnShared) + "st.shared.b32 [%x2], %tid0;\nbar.sync 0;\nld.shared.b32 %r0, [words];\n";
  const std::string writeOne = "setp.eq.u32 %p0, %tid0, 0;\n@%p0 st.shared.b32 [words], 1;\n";
  EXPECT_EQ(faultOf(readAll + "bar.sync 0;\n" + writeOne), "");
  for (int seed = 1; seed < 5; ++seed) {
    KernelRunner runner(kernelOf(readAll + "bar.warp.sync -1;\n" + writeOne, 1));
    const std::string fault = runner.fault("k", 64, {runner.upload(words(1))}, seed);
    EXPECT_THAT(fault, HasSubstr("a race with a ")) << seed;
  }
  EXPECT_EQ(faultOf(readAll + "bar.warp.sync -1;\n" + writeOne, 32), "");
}

TEST(PtxFault, RaceBetweenBlocks) {
  const auto faultOfBlocks = [](const std::string &body) {
    KernelRunner runner(kernelOf(body, 1));
    return runner.launch("k", {4, 1, 1}, {32, 1, 1}, {runner.upload(words(128))}).message();
  };
  const std::string own = std::string(kOwnWord) + "ld.global.b32 %r0, [%x1]; st.global.b32 [%x1], 1;";
  EXPECT_EQ(faultOfBlocks(own), "");
  EXPECT_THAT(faultOfBlocks(own + "ld.global.b32 %r0, [%a0];"),
              AllOf(HasSubstr("of global memory, a race with a "), Not(HasSubstr("of the same block"))));
  EXPECT_EQ(faultOfBlocks("ld.global.b32 %r0, [%a0];"), "");
  EXPECT_THAT(faultOfBlocks("setp.eq.u32 %p0, %tid0, 0; @%p0 st.global.b8 [%a0], 1;"),
              HasSubstr("a race with a write"));
  EXPECT_EQ(faultOfBlocks("atom.global.add.u32 %r0, [%a0], 1; ld.relaxed.gpu.global.b32 %r1, [%a0];"), "");
  EXPECT_THAT(faultOfBlocks("atom.global.add.u32 %r0, [%a0], 1; ld.global.b32 %r1, [%a0];"),
              HasSubstr("a race with an atomic operation"));
}

TEST(PtxFault, LaunchesOfOneStreamAreInOrder) {
  KernelRunner runner(kernelOf(
      std::string(kOwnWord) + "ld.global.b32 %r0, [%x1]; add.u32 %r0, %r0, 1; st.global.b32 [%x1], %r0;", 1));
  const uint64_t address = runner.upload(words(64));
  EXPECT_TRUE(runner.launch("k", {1, 1, 1}, {64, 1, 1}, {address}).ok());
  EXPECT_TRUE(runner.launch("k", {2, 1, 1}, {32, 1, 1}, {address}).ok());
  EXPECT_EQ(runner.download<uint32_t>(address, 64), std::vector<uint32_t>(64, 9));
}

TEST(PtxFault, BarrierDivergence) {
  EXPECT_EQ(faultOf("setp.lt.u32 %p0, %tid0, 40; @%p0 bra L; L: bar.sync 0;"), "");
  EXPECT_THAT(faultOf("setp.lt.u32 %p0, %tid0, 40; @%p0 bra L; bar.sync 0; L:"),
              AllOf(HasSubstr("`bar.sync 0;`: barrier divergence: of 64 threads 24 wait at barrier 0; thread "
                              "(0,0,0) has exited")));
  EXPECT_THAT(faultOf("setp.lt.u32 %p0, %tid0, 40; @%p0 bra L; bar.sync 0; ret;\nL: bar.sync 0;"),
              HasSubstr("of the same warp waits at line 1"));
  EXPECT_THAT(faultOf("setp.lt.u32 %p0, %tid0, 32; @%p0 bra L; bar.sync 1; ret; L: bar.sync 0;"),
              HasSubstr("barrier divergence"));
  EXPECT_EQ(faultOf("setp.lt.u32 %p0, %tid0, 32; @%p0 bra L; bar.sync 0; ret; L: bar.sync 0;"), "");
}

TEST(PtxFault, LanesThatDoNotCome) {
  const std::string shuffle = "shfl.sync.bfly.b32 %r1, %tid0, 1, 31, -1;";
  EXPECT_EQ(faultOf("setp.lt.u32 %p0, %tid0, 7; @%p0 bra L; L: " + shuffle), "");
  EXPECT_THAT(faultOf("setp.lt.u32 %p0, %tid0, 7; @%p0 bra L; " + shuffle + " L:"),
              AllOf(HasSubstr("`shfl.sync.bfly.b32 %r1, %tid0, 1, 31, -1;`: waits for lanes 0xffffffff "
                              "together, and lane 0 has exited")));
  EXPECT_THAT(faultOf(shuffle, 16), HasSubstr("lane 16 does not exist"));
  EXPECT_THAT(faultOf("setp.lt.u32 %p0, %tid0, 8; @%p0 shfl.sync.idx.b32 %r1, %tid0, 9, 31, 255;"),
              HasSubstr("reads from lane 9, which the member mask 0xff does not name"));
  EXPECT_THAT(faultOf("shfl.sync.idx.b32 %r1, %tid0, 1, 31, 255;"),
              HasSubstr("the member mask 0xff does not name this lane 8"));
  // Both halves come to shuffles of their own, and neither to the other's.
  EXPECT_THAT(
      faultOf("setp.lt.u32 %p0, %tid0, 7; @%p0 bra L; " + shuffle + " bra END; L: " + shuffle + " END:", 32),
      HasSubstr("waits at line"));
}

TEST(PtxFault, UninitialisedRegisters) {
  EXPECT_THAT(faultOf("add.u32 %r0, %r1, 1;"), HasSubstr("register %r1 is read, and was never written"));
  EXPECT_THAT(faultOf("setp.eq.u32 %p0, %tid0, 3; @%p0 mov.u32 %r1, 5; add.u32 %r0, %r1, 1;", 32),
              HasSubstr("thread (0,0,0)"));
  EXPECT_EQ(faultOf("setp.eq.u32 %p0, %tid0, 3; mov.u32 %r1, 4; @%p0 mov.u32 %r1, 5; add.u32 %r0, %r1, 1;"),
            "");
  // Copies hand it on.
  EXPECT_EQ(faultOf("mov.b32 %r0, %r1; mov.b32 %r1, 5; add.u32 %r2, %r1, 1;"), "");
  EXPECT_THAT(faultOf("mov.b32 %r0, %r1; mov.b32 %r1, 5; add.u32 %r2, %r0, 1;"),
              HasSubstr("register %r0 is read"));
}

TEST(PtxFault, FloatAtomicsTrapsAndConstants) {
  EXPECT_THAT(faultOf("mov.b32 %r0, 0; atom.global.add.f32 %r1, [%a0], %r0;"),
              HasSubstr("atomics on floats are forbidden"));
  EXPECT_EQ(faultOf("atom.global.add.u32 %r1, [%a0], 1;"), "");
  EXPECT_THAT(faultOf("setp.eq.u32 %p0, %tid0, 5; @%p0 trap;"),
              AllOf(HasSubstr("thread (5,0,0)"), HasSubstr("stops with a trap")));
  KernelRunner runner(kernelOf("mov.u64 %x0, c; st.global.b32 [%x0], 1;", 0, ".const .align 4 .b32 c = 3;"));
  EXPECT_THAT(runner.fault("k", 1, {}), HasSubstr("which are constant: byte 0 of variable 'c' of 4 bytes"));
}

TEST(PtxFault, AsyncCopies) {
  const std::string begin = std::string(kOwnShared) + kOwnWord +
                            "cp.async.ca.shared.global [%x2], [%x1], 4;\ncp.async.commit_group;\n";
  EXPECT_EQ(faultOf(begin + "cp.async.wait_group 0;\nld.shared.b32 %r0, [%x2];"), "");
  EXPECT_THAT(faultOf(begin + "ld.shared.b32 %r0, [%x2];"),
              HasSubstr("of which a cp.async is still writing byte 0"));
  EXPECT_THAT(faultOf(begin + "cp.async.wait_group 1;\nld.shared.b32 %r0, [%x2];"),
              HasSubstr("of which a cp.async is still writing byte 0"));
  // Waiting is for one's own copies.
  EXPECT_EQ(faultOf(begin + "cp.async.wait_group 0;\nbar.sync 0;\nld.shared.b32 %r0, [%x3];"), "");
  EXPECT_NE(faultOf(begin + "cp.async.wait_group 0;\nld.shared.b32 %r0, [%x3];"), "");
}

TEST(PtxFault, WrongLaunches) {
  KernelRunner runner(kernelOf("", 1));
  EXPECT_THAT(runner.launch("k", {1, 1, 1}, {1025, 1, 1}, {0}).message(), HasSubstr("can have 1 to 1024"));
  EXPECT_THAT(runner.launch("k", {0, 1, 1}, {1, 1, 1}, {0}).message(), HasSubstr("a grid of 0 x 1 x 1"));
  EXPECT_THAT(runner.launch("k", {1, 1, 1}, {1, 1, 1}, {}).message(),
              HasSubstr("has 8 bytes of parameters, and 0 are given"));
  EXPECT_THAT(runner.launch("k", {1, 1, 1}, {1, 1, 1}, {0}, 1, 1 << 20).message(),
              HasSubstr("a block has at most"));
}

} // namespace
} // namespace trainc::emulator
