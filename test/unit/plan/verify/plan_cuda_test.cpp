// Plans for GPUs: additional rules of the verifier.
#include "plan/schema/cuda_levels.h"
#include "test/unit/plan/plans/cuda_plan.h"
#include "test/unit/plan/verify/verifier_support.h"

#include <functional>
#include <gmock/gmock.h>

namespace trainc::test {
namespace {

using testing::HasSubstr;

struct CudaRule {
  const char *name;
  std::function<void(PlanBuilder &)> breakIt;
  const char *message;
};

const CudaRule kCudaRules[] = {
    {"grid", [](auto &b) { b.plan.kernels[0]->grid = uint64_t{1} << 31; },
     "kernel test_add: expected a grid of 1 to 2147483647 tiles, found 2147483648"},
    {"threads", [](auto &b) { b.plan.kernels[0]->threads = 1025; },
     "kernel test_add: expected blocks of 1 to 1024 threads that share at most 232448 bytes, found 1025 and "
     "0"},
    {"shared", [](auto &b) { b.plan.kernels[0]->shared_bytes = kCudaSharedBytes + 1; },
     "found 256 and 232449"},
    {"levelOfACpu", [](auto &b) { b.plan.objects[0]->level = "x86-64-v3"; },
     "object level: expected sm_80, sm_90, sm_100, compute_80 or compute_89, found '"},
    {"endOfPtx", [](auto &b) { b.plan.objects[0]->image.pop_back(); },
     "object compute_80: expected PTX with a zero byte at its end, found none"},
    {"loopUnalignedAccess",
     [](auto &b) { operation<fb::LoopT>(b, 3, 0).body[0]->operation.AsLaunch()->args[0] = at(0, 0, 1016); },
     "argument 0: expected a loop stride in multiples of 16, because a GPU reads 1024 bytes, found 1016"},
    {"levelOfAGpu", [](auto &b) { b.plan.target = "cpu"; }, "object level: expected x86-64-v3"},
};

class CudaRules : public testing::TestWithParam<CudaRule> {};

TEST_P(CudaRules, AreKept) {
  PlanBuilder builder = forCuda(fullPlan());
  GetParam().breakIt(builder);
  EXPECT_THAT(messageOf(builder), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(Rules, CudaRules, testing::ValuesIn(kCudaRules),
                         [](const auto &info) { return info.param.name; });

TEST(CudaPlans, AreAccepted) {
  EXPECT_EQ(messageOf(forCuda(fullPlan())), "accepted");
  EXPECT_EQ(messageOf(forCuda(spacesPlan())), "accepted");
  PlanBuilder builder = forCuda(fullPlan());
  builder.plan.kernels[0]->shared_bytes = kCudaSharedBytes;
  builder.plan.kernels[0]->threads = kCudaThreads;
  builder.plan.objects.push_back(std::make_unique<fb::ObjectT>(*builder.plan.objects[0]));
  builder.plan.objects[1]->level = "sm_90";
  builder.plan.objects[1]->image.back() = 1;
  EXPECT_EQ(messageOf(builder), "accepted");
}

fb::InstructionT &launchOfHost(PlanBuilder &b) { return *b.plan.entries[0]->instructions[2]; }

const CudaRule kHostRules[] = {
    {"inAPlanForCpus", [](auto &b) { b.plan.target = "cpu"; },
     "kernel test_add: expected no kernel for the host in a plan for CPUs, found one"},
    {"grid", [](auto &b) { b.plan.kernels[1]->grid = (uint64_t{1} << 40) + 1; },
     "kernel test_add: expected a grid of 1 to 1099511627776 tiles, found 1099511627777"},
    {"noCode", [](auto &b) { b.plan.objects.pop_back(); },
     "kernel test_add: expected machine code for CPUs, found no object"},
    {"noCodeOfTheGpu", [](auto &b) { b.plan.objects.erase(b.plan.objects.begin()); },
     "kernel test_reciprocal: expected machine code for GPUs, found no object"},
    {"stream", [](auto &b) { launchOfHost(b).stream = fb::Stream::Compute; },
     "expected the stream host_compute for it, found compute"},
    {"ofTheGpu", [](auto &b) { b.plan.kernels[1]->on_host = false, b.plan.objects.pop_back(); },
     "kernel test_add, argument 0: expected memory of the device, found host"},
    {"memoryOfTheGpu", [](auto &b) { launchOfHost(b).operation.AsLaunch()->args[0] = at(1); },
     "kernel test_add, argument 0: expected memory of the host, found device"},
    {"beforeItsCopy", [](auto &b) { launchOfHost(b).after.clear(); }, "on the stream copy_out"},
};

class HostRules : public testing::TestWithParam<CudaRule> {};

TEST_P(HostRules, AreKept) {
  PlanBuilder builder = hostKernelsPlan();
  EXPECT_EQ(messageOf(builder), "accepted");
  GetParam().breakIt(builder);
  EXPECT_THAT(messageOf(builder), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(Rules, HostRules, testing::ValuesIn(kHostRules),
                         [](const auto &info) { return info.param.name; });

/// A plan of one product over buffers of zeros.
struct ProductPlan {
  ProductPlan(fb::DType factors, fb::DType result, const char *target = "cuda") {
    builder.plan.target = target;
    builder.plan.objects.clear();
    const uint32_t a = builder.buffer("a", PlanBuilder::kScratch, factors, 16 * 32),
                   b = builder.buffer("b", PlanBuilder::kScratch, factors, 32 * 8),
                   c = builder.buffer("c", PlanBuilder::kScratch, result, 16 * 8);
    auto &body = builder.entry("init").instructions;
    for (const uint32_t buffer : {a, b})
      builder.zero(body, at(buffer), builder.plan.buffers[buffer]->bytes);
    fb::MatrixProductT made = denseProduct(16, 8, 32);
    made.a = some(at(a));
    made.b = some(at(b));
    made.result = some(at(c));
    made.factors = factors;
    made.product = result;
    builder.product(body, std::move(made));
  }
  fb::MatrixProductT &product() { return operation<fb::MatrixProductT>(builder, 0, 2); }
  std::string message() const { return messageOf(builder); }

  PlanBuilder builder;
};

/// A plan of attention over buffers of zeros; the log-sum-exp is of f32, if nothing else is said.
std::string attentionMessage(fb::DType values, const char *target = "cuda",
                             fb::DType logSumExp = fb::DType::F32, fb::DType sum = fb::DType::F32) {
  PlanBuilder builder;
  builder.plan.target = target;
  builder.plan.objects.clear();
  const auto tensor = [&](const char *name, fb::DType dtype, uint64_t elements) {
    return builder.buffer(name, PlanBuilder::kScratch, dtype, elements);
  };
  const uint32_t query = tensor("query", values, 2 * 3 * 16), key = tensor("key", values, 2 * 3 * 16),
                 out = tensor("out", values, 2 * 3 * 16), lse = tensor("lse", logSumExp, 2 * (2 * 2 * 3));
  auto &body = builder.entry("init").instructions;
  for (const uint32_t buffer : {query, key})
    builder.zero(body, at(buffer), builder.plan.buffers[buffer]->bytes);
  fb::AttentionT made;
  made.batch = 2;
  made.queries = made.keys = 3;
  made.heads = made.key_heads = 2;
  made.head_size = made.value_size = 8;
  made.values = values;
  made.sum = sum;
  made.query = some(at(query));
  made.key = some(at(key));
  made.value = some(at(key));
  made.out = some(at(out));
  made.log_sum_exp = some(at(lse));
  builder.attention(body, std::move(made));
  return messageOf(builder);
}

TEST(CudaPlans, MayHaveShortAttention) {
  using enum fb::DType;
  for (const fb::DType values : {F32, BF16, F16})
    EXPECT_EQ(attentionMessage(values), "accepted");
  EXPECT_THAT(attentionMessage(BF16, "cuda", BF16),
              HasSubstr("operand log_sum_exp: expected a buffer of f32, found 'lse' of bf16"));
  EXPECT_THAT(
      attentionMessage(F64),
      HasSubstr("attention: expected values of f32, bf16 or f16 and sums of f32, found dtypes 1 and 0"));
  EXPECT_THAT(attentionMessage(BF16, "cuda", F32, BF16), HasSubstr("found dtypes 7 and 7"));
  EXPECT_THAT(attentionMessage(BF16, "cpu"),
              HasSubstr("attention: expected values and sums of f32, found dtypes 7, 0 and 0"));
}

TEST(CudaPlans, MayHaveShortFactors) {
  using enum fb::DType;
  EXPECT_EQ(ProductPlan(BF16, F32).message(), "accepted");
  EXPECT_EQ(ProductPlan(BF16, BF16).message(), "accepted");
  EXPECT_EQ(ProductPlan(F16, F16).message(), "accepted");
  EXPECT_EQ(ProductPlan(F32, F32).message(), "accepted");
  EXPECT_THAT(ProductPlan(BF16, F16).message(),
              HasSubstr("expected factors of f32, bf16 or f16, results of f32 or as the factors, and sums of "
                        "f32, found dtypes 7, 8 and 0"));
  EXPECT_THAT(ProductPlan(F32, BF16).message(), HasSubstr("found dtypes 0, 7 and 0"));
  EXPECT_THAT(ProductPlan(F64, F64).message(), HasSubstr("found dtypes 1, 1 and 0"));
  EXPECT_THAT(ProductPlan(BF16, F32, "cpu").message(),
              HasSubstr("expected values and sums of f32, found dtypes 7, 0 and 0"));
}

TEST(CudaPlans, RoundToTf32WhatIsF32) {
  using enum fb::DType;
  ProductPlan plan(F32, F32), shorter(BF16, F32), cpu(F32, F32, "cpu");
  for (ProductPlan *each : {&plan, &shorter, &cpu})
    each->product().tf32 = true;
  EXPECT_EQ(plan.message(), "accepted");
  EXPECT_THAT(shorter.message(), HasSubstr("expected factors of f32 to round to TF32, found dtype 7"));
  EXPECT_THAT(cpu.message(), HasSubstr("expected factors as they are on a CPU, found ones rounded to TF32"));
}

} // namespace
} // namespace trainc::test
