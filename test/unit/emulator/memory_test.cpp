// Device memory, and loads and stores of every width.
#include "test/unit/emulator/kernel_runner.h"

namespace trainc::emulator {
namespace {

TEST(DeviceMemory, AllocatesUpToItsLimit) {
  DeviceMemory memory(4096);
  const uint64_t a = memory.allocate(1), b = memory.allocate(2048);
  EXPECT_NE(a, 0U);
  EXPECT_EQ(a % 512, 0U);
  EXPECT_EQ(b % 512, 0U);
  EXPECT_EQ(memory.freeBytes(), 4096U - 512 - 2048);
  EXPECT_EQ(memory.allocate(2048), 0U);
  EXPECT_FALSE(memory.release(b + 1));
  EXPECT_TRUE(memory.release(b));
  EXPECT_FALSE(memory.release(b));
  EXPECT_NE(memory.allocate(2048), b) << "released addresses rest";
}

TEST(DeviceMemory, ComesRoundToReleasedAddresses) {
  DeviceMemory memory(4096);
  for (int round = 0; round < 100; ++round) {
    const uint64_t address = memory.allocate(3000);
    ASSERT_NE(address, 0U) << round;
    EXPECT_FALSE(memory.isWritten(address, 1)) << round;
    memory.noteWritten(address, 3000);
    ASSERT_TRUE(memory.release(address));
  }
}

TEST(DeviceMemory, KnowsWhatLiesInIt) {
  DeviceMemory memory(4096);
  const uint64_t address = memory.allocate(100);
  EXPECT_NE(memory.bytes(address, 100), nullptr);
  EXPECT_EQ(memory.bytes(address + 4, 96), memory.bytes(address, 1) + 4);
  EXPECT_EQ(memory.bytes(address + 1, 100), nullptr);
  EXPECT_EQ(memory.bytes(address - 1, 1), nullptr);
  memory.noteWritten(address + 10, 5);
  EXPECT_TRUE(memory.isWritten(address + 10, 5));
  EXPECT_FALSE(memory.isWritten(address + 9, 5));
  EXPECT_EQ(memory.describe(address + 104),
            "4 bytes past the end of 100 bytes at " +
                memory.describe(address).substr(memory.describe(address).find("0x")));
}

TEST(DeviceMemoryDeathTest, IsUntouchableForTheHost) {
  DeviceMemory memory(4096);
  volatile char *const address = reinterpret_cast<volatile char *>(memory.allocate(100));
  EXPECT_DEATH(*address = 1, "");
}

TEST(PtxMemory, ExtendsWhatItLoads) {
  const std::vector<uint32_t> a = {0x80ff807f};
  EXPECT_EQ(evaluate<uint32_t>("ld.global.s8 %r9, [%x30+1];", a), (std::vector<uint32_t>{0xffffff80}));
  EXPECT_EQ(evaluate<uint32_t>("ld.global.u8 %r9, [%x30+1];", a), (std::vector<uint32_t>{0x80}));
  EXPECT_EQ(evaluate<uint32_t>("ld.global.s16 %r9, [%x30+2];", a), (std::vector<uint32_t>{0xffff80ff}));
  EXPECT_EQ(evaluate<uint64_t>("ld.global.s32 %x9, [%x30];", a), (std::vector<uint64_t>{0xffffffff80ff807f}));
  EXPECT_EQ(evaluate<uint16_t>("ld.global.b8 %h9, [%x30];", a), (std::vector<uint16_t>{0x7f}));
}

TEST(PtxMemory, TakesHintsAndVectors) {
  const std::vector<uint64_t> a = {0x1111111122222222, 0x3333333344444444};
  EXPECT_EQ(evaluate<uint32_t>(
                "ld.global.nc.L1::no_allocate.L2::128B.v2.b32 {%r1, %r2}, [%x30]; sub.u32 %r9, %r1, %r2;", a),
            (std::vector<uint32_t>{0x11111111, 0x11111111}));
  EXPECT_EQ(evaluate<uint32_t>("ld.global.v4.b16 {%h1, %h2, %h3, _}, [%x30]; mov.b32 %r9, {%h3, %h1};", a),
            (std::vector<uint32_t>{0x22221111, 0x44443333}));
  EXPECT_EQ(evaluate<uint64_t>("mov.b64 {%r1, %r2}, %x0; mov.b64 %x9, {%r2, %r1};", a),
            (std::vector<uint64_t>{0x2222222211111111, 0x4444444433333333}));
}

TEST(PtxMemory, AtomicsGiveTheOldValue) {
  KernelRunner runner(kernelOf("atom.global.add.u32 %r0, [%a0], 2; atom.global.inc.u32 %r1, [%a0+4], 5; "
                               "red.global.max.s32 [%a0+8], %tid0;\n"
                               "atom.global.cas.b32 %r2, [%a0+12], 0, %tid0; mad.wide.u32 %x1, %tid0, 4, "
                               "%a1; st.global.b32 [%x1], %r0;",
                               2));
  ASSERT_EQ(runner.parseError(), "");
  const uint64_t counters = runner.upload(std::vector<uint32_t>{0, 0, 5, 9}),
                 result = runner.allocate(128 * 4);
  EXPECT_EQ(runner.fault("k", 128, {counters, result}), "");
  EXPECT_EQ(runner.download<uint32_t>(counters, 4), (std::vector<uint32_t>{256, 128 % 6, 127, 9}));
  uint64_t sum = 0;
  for (const uint32_t old : runner.download<uint32_t>(result, 128))
    sum += old;
  EXPECT_EQ(sum, 128U * 127);
}

TEST(PtxMemory, AsyncCopiesFillUpWithZeros) {
  KernelRunner runner(
      kernelOf("{ .shared .align 16 .b8 tile[32]; cp.async.cg.shared.global [tile], [%a0], 16; "
               "cp.async.commit_group;\n"
               "mov.u32 %r4, 4; cp.async.cg.shared.global [tile+16], [%a0+16], 16, %r4; cp.async.wait_all;\n"
               "ld.shared.v4.b32 {%r0, %r1, %r2, %r3}, [tile]; ld.shared.v2.b32 {%r5, %r6}, [tile+16]; "
               "st.global.v4.b32 [%a1], {%r0, %r3, %r5, %r6}; }",
               2));
  ASSERT_EQ(runner.parseError(), "");
  const uint64_t source = runner.upload(std::vector<uint32_t>{1, 2, 3, 4, 5, 6, 7, 8}),
                 result = runner.allocate(16);
  EXPECT_EQ(runner.fault("k", 1, {source, result}), "");
  EXPECT_EQ(runner.download<uint32_t>(result, 4), (std::vector<uint32_t>{1, 4, 5, 0}));
}

} // namespace
} // namespace trainc::emulator
