// PTX texts: LLVM's output is accepted, errors are reported with their line.
#include "test/unit/emulator/kernel_runner.h"

#include <fstream>
#include <gmock/gmock.h>
#include <numeric>
#include <sstream>

namespace trainc::emulator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string sample(const std::string &name) {
  std::ifstream file(std::string(TRAINC_PTX_SAMPLES) + "/" + name);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_FALSE(text.str().empty()) << name;
  return text.str();
}

std::string errorOf(const std::string &body, const std::string &declarations = "") {
  return KernelRunner(kernelOf(body, 1, declarations)).parseError();
}

TEST(PtxModule, ReadsWhatLlvmWrites) {
  for (const char *const name : {"clang_block_sum.ptx", "clang_sm_80.ptx", "llc_sm_90.ptx"})
    EXPECT_EQ(KernelRunner(sample(name)).parseError(), "") << name;
}

TEST(PtxModule, RunsWhatLlvmWrites) {
  KernelRunner runner(sample("clang_block_sum.ptx"));
  ASSERT_EQ(runner.parseError(), "");
  std::vector<float> values;
  for (int index = 0; index < 1000; ++index)
    values.push_back(static_cast<float>(index % 17) - 3);
  const uint64_t input = runner.upload(values), result = runner.allocate(3 * sizeof(float));
  for (uint64_t seed = 0; seed < 5; ++seed) {
    const Status status = runner.launch("sum", {3, 1, 1}, {256, 1, 1}, {input, result, values.size()}, seed);
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(runner.download<float>(result, 3),
              std::vector<float>(3, std::accumulate(values.begin(), values.end(), 0.0F)));
  }
}

TEST(PtxModule, KnowsWhatALaunchNeeds) {
  const Result<PtxModule> module = PtxModule::parse(sample("llc_sm_90.ptx"));
  ASSERT_TRUE(module.ok()) << module.status().message();
  EXPECT_EQ(module->find("nothing"), nullptr);
  const PtxFunction *const function = module->find("m");
  ASSERT_NE(function, nullptr);
  ASSERT_EQ(function->parameters.size(), 4U);
  EXPECT_EQ(function->parameters[1].offset, 8U);
  EXPECT_EQ(function->parameters[1].bytes, 4U);
  EXPECT_EQ(function->parameters[2].offset, 16U);
  EXPECT_EQ(function->parameters[3].offset, 24U);
  EXPECT_EQ(function->parameters[3].bytes, 48U);
  EXPECT_EQ(function->parameterBytes, 72U);
  EXPECT_EQ(function->sharedBytes, 4096U);
  EXPECT_EQ(function->maxThreads, 1024U);
}

TEST(PtxModule, RefusesWhatItDoesNotKnow) {
  EXPECT_THAT(errorOf("frob.u32 %r0, %r1;"), AllOf(StartsWith("PTX line 18 `frob.u32 %r0, %r1;`: "),
                                                   HasSubstr("knows no instruction 'frob'")));
  EXPECT_THAT(errorOf("add.frob.u32 %r0, %r1, %r2;"), HasSubstr("the emulator knows no '.frob' of 'add'"));
  EXPECT_THAT(errorOf("add.u32 %r0, %r1;"), HasSubstr("expected 3 operands, found 2"));
  EXPECT_THAT(errorOf("add.u32 %r0, %r1, %x1;"), HasSubstr("'%x1' has 64 bits, expected the 32 of .u32"));
  EXPECT_THAT(errorOf("add.u32 %x0, %r1, %r2;"), HasSubstr("'%x0' has 64 bits, expected the 32 of .u32"));
  EXPECT_THAT(errorOf("add.u32 %r0, %r1, %q2;"), HasSubstr("nothing is called '%q2'"));
  EXPECT_THAT(errorOf("bra NOWHERE;"), HasSubstr("function 'k' has no label 'NOWHERE'"));
  EXPECT_THAT(errorOf("@%r1 bra L; L:"), HasSubstr("'%r1' is not a predicate"));
  EXPECT_THAT(errorOf("cvt.s32.f32 %r0, %r1;"), HasSubstr("expected how to round"));
  EXPECT_THAT(errorOf("add.rz.f64 %x0, %x1, %x2;"), HasSubstr("rounds .f64 to nearest alone"));
  EXPECT_THAT(errorOf("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%r0}, {%r1}, {%r2}, {%r3};"),
              HasSubstr("the emulator knows .m16n8k16"));
  EXPECT_THAT(errorOf("shfl.bfly.b32 %r0, %r1, 1, 31;"), HasSubstr("expected 5 operands"));
  EXPECT_THAT(errorOf("call vprintf, ();"), HasSubstr("no body of a function 'vprintf'"));
  EXPECT_THAT(errorOf("call f, ();", ".func f() { call f, (); ret; }"), HasSubstr("'f' calls itself"));
  EXPECT_THAT(errorOf("", ".extern .global .b32 there;"), HasSubstr("variable 'there' is in another module"));
}

TEST(PtxModule, RefusesWhatIsNoPtx) {
  EXPECT_THAT(errorOf("add.u32 %r0, %r1, %r2"), HasSubstr("PTX line 19: expected ';', found 'ret'"));
  EXPECT_THAT(errorOf("mov.u32 %r0, 0xzz;"), HasSubstr("'0xzz' is not a number"));
  EXPECT_THAT(errorOf(".reg .b32 %t; .reg .b32 %t;"), HasSubstr("'%t' is declared twice"));
  EXPECT_THAT(errorOf("L: L:"), HasSubstr("label 'L' stands twice"));
  EXPECT_THAT(errorOf("", ".global .align 3 .b8 g[4];"),
              HasSubstr("an alignment of 3 is not a power of two"));
  EXPECT_THAT(errorOf("", ".global .b32 g[4294967297];"), HasSubstr("'g' has more than"));
  EXPECT_THAT(errorOf("", ".global .b8 g[2] = {1, 2, 3};"),
              HasSubstr("'g' has 2 bytes, and more are given for it"));
  EXPECT_THAT(KernelRunner(".version 8.0\nnonsense\n").parseError(),
              StartsWith("PTX line 2: expected a directive"));
  EXPECT_THAT(KernelRunner(".entry k() { ret;").parseError(), HasSubstr("function 'k' has no end"));
}

TEST(PtxModule, VariablesHaveTheirFirstValuesAndKeepOthers) {
  KernelRunner runner(kernelOf(
      "ld.global.b32 %r0, [list+4]; ld.const.f32 %r1, [half]; ld.global.u64 %x0, [where]; ld.b32 %r2, "
      "[%x0];\n"
      "st.global.v4.b32 [%a0], {%r0, %r1, %r2, 0}; add.u32 %r0, %r0, 1; st.global.b32 [list+4], %r0;",
      1,
      ".global .align 4 .u32 list[3] = {5, 6};\n.const .f32 half = 0f3F000000;\n.global .u64 where = "
      "generic(list);\n"));
  ASSERT_EQ(runner.parseError(), "");
  const uint64_t result = runner.allocate(16);
  EXPECT_EQ(runner.fault("k", 1, {result}), "");
  EXPECT_EQ(runner.download<uint32_t>(result, 4), (std::vector<uint32_t>{6, 0x3f000000, 5, 0}));
  EXPECT_EQ(runner.fault("k", 1, {result}), "");
  EXPECT_EQ(runner.download<uint32_t>(result, 1)[0], 7U);
}

TEST(PtxModule, GenericAddressesReachEverySpace) {
  KernelRunner runner(
      kernelOf("{ .shared .align 8 .b8 tile[8]; .local .align 8 .b8 stack[8]; mov.u64 %x0, tile; "
               "cvta.shared.u64 %x1, %x0; mov.u64 %x2, stack; cvta.local.u64 %x3, %x2;\n"
               "st.b32 [%x1], 3; st.b32 [%x3+4], 4; ld.shared.b32 %r0, [tile]; ld.local.b32 %r1, [stack+4]; "
               "cvta.to.shared.u64 %x4, %x1; ld.shared.b32 %r2, [%x4];\n"
               "isspacep.shared %p0, %x1; isspacep.global %p1, %x1; selp.b32 %r3, 1, 0, %p0; selp.b32 %r3, "
               "9, %r3, %p1; st.v4.b32 [%a0], {%r0, %r1, %r2, %r3}; }",
               1));
  ASSERT_EQ(runner.parseError(), "");
  const uint64_t result = runner.allocate(16);
  EXPECT_EQ(runner.fault("k", 1, {result}), "");
  EXPECT_EQ(runner.download<uint32_t>(result, 4), (std::vector<uint32_t>{3, 4, 3, 1}));
}

TEST(PtxModule, DynamicSharedMemoryFollowsTheStaticOne) {
  KernelRunner runner(
      kernelOf("{ .shared .align 4 .b8 tile[4]; mov.u64 %x0, dynamic; st.shared.b32 "
               "[%x0+12], 5; st.shared.b32 [tile], 5; cvt.u32.u64 %r0, %x0; st.global.b32 [%a0], %r0; }",
               1, ".extern .shared .align 16 .b8 dynamic[];"));
  ASSERT_EQ(runner.parseError(), "");
  const uint64_t result = runner.allocate(4);
  EXPECT_TRUE(runner.launch("k", {1, 1, 1}, {1, 1, 1}, {result}, 1, 16).ok());
  EXPECT_EQ(runner.download<uint32_t>(result, 1)[0], 16U);
  EXPECT_FALSE(runner.launch("k", {1, 1, 1}, {1, 1, 1}, {result}, 1, 12).ok());
}

} // namespace
} // namespace trainc::emulator
