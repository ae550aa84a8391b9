// Plans with fp8 products: rules of the verifier.
#include "test/unit/plan/verify/verifier_support.h"

#include <functional>
#include <gmock/gmock.h>

namespace trainc::test {
namespace {

using testing::HasSubstr;

/// A plan of one product of fp8 numbers, of a 16 x 32 by b 48 x 32 transposed.
struct F8Plan {
  explicit F8Plan(fb::DType ofA = fb::DType::F8E4M3, fb::DType ofB = fb::DType::F8E4M3,
                  fb::DType result = fb::DType::BF16, bool adds = false) {
    builder.plan.target = "cuda";
    builder.plan.objects.clear();
    const auto scratch = [&](const char *name, fb::DType dtype, uint64_t elements) {
      return builder.buffer(name, PlanBuilder::kScratch, dtype, elements);
    };
    const uint32_t a = scratch("a", ofA, 2 * 16 * 32), b = scratch("b", ofB, 2 * 48 * 32),
                   c = scratch("c", result, 2 * 16 * 48), scaleA = scratch("scale of a", fb::DType::F32, 1),
                   scaleB = scratch("scale of b", fb::DType::F32, 1);
    auto &body = builder.entry("init").instructions;
    for (const uint32_t buffer : {a, b, scaleA, scaleB})
      builder.zero(body, at(buffer), builder.plan.buffers[buffer]->bytes);
    if (adds)
      builder.zero(body, at(c), builder.plan.buffers[c]->bytes);
    fb::MatrixProductT made = denseProduct(16, 48, 32, false, true);
    made.adds = adds;
    made.a = some(at(a));
    made.b = some(at(b));
    made.result = some(at(c));
    made.a_scale = some(at(scaleA));
    made.b_scale = some(at(scaleB));
    made.factors = ofA;
    if (ofB != ofA)
      made.factors_b = ofB;
    made.product = result;
    builder.product(body, std::move(made));
  }
  fb::MatrixProductT &product() { return operation<fb::MatrixProductT>(builder, 0, 4); }
  std::string message() const { return messageOf(builder); }

  PlanBuilder builder;
};

TEST(F8Plans, MayHaveScaledFactorsOfAByte) {
  using enum fb::DType;
  for (const fb::DType result : {F32, BF16}) {
    EXPECT_EQ(F8Plan(F8E4M3, F8E4M3, result).message(), "accepted");
    EXPECT_EQ(F8Plan(F8E4M3, F8E5M2, result).message(), "accepted");
    EXPECT_EQ(F8Plan(F8E5M2, F8E4M3, result).message(), "accepted");
  }
  EXPECT_EQ(F8Plan(F8E4M3, F8E4M3, F32, /*adds=*/true).message(), "accepted");
  EXPECT_THAT(
      F8Plan(F8E5M2, F8E5M2).message(),
      HasSubstr(
          "expected factors of f8E4M3FN, or one of f8E4M3FN and one of f8E5M2, found f8E5M2 and f8E5M2"));
  EXPECT_THAT(F8Plan(F8E4M3, BF16).message(), HasSubstr("found f8E4M3FN and bf16"));
  EXPECT_THAT(F8Plan(BF16, F8E4M3).message(), HasSubstr("found bf16 and f8E4M3FN"));
  EXPECT_THAT(F8Plan(BF16, F16).message(), HasSubstr("expected factors of one type, found bf16 and f16"));
  EXPECT_THAT(F8Plan(F8E4M3, F8E5M2, F16).message(),
              HasSubstr("expected of factors of f8E4M3FN and f8E5M2 a result of f32 or bf16 and sums of f32, "
                        "found f16 and f32"));
}

struct F8Rule {
  const char *name;
  std::function<void(F8Plan &)> breakIt;
  const char *message;
};

const F8Rule kF8Rules[] = {
    {"target", [](auto &p) { p.builder.plan.target = "cpu"; },
     "expected factors of f32 on a CPU, found f8E4M3FN and f8E4M3FN, which GPUs multiply"},
    {"scaleOfA", [](auto &p) { p.product().a_scale.reset(); }, "operand a_scale: expected one, found none"},
    {"scaleOfB", [](auto &p) { p.product().b_scale.reset(); }, "operand b_scale: expected one, found none"},
    {"typeOfAScale", [](auto &p) { p.builder.plan.buffers[3]->dtype = fb::DType::I32; },
     "operand a_scale: expected a buffer of f32, found 'scale of a' of i32"},
    {"aTransposed", [](auto &p) { p.product().transpose_a = true; },
     "expected fp8 factors with a as it is and b transposed, found a transposed, b transposed"},
    {"bAsItIs", [](auto &p) { p.product().transpose_b = false; }, "found a as it is, b as it is"},
    {"k", [](auto &p) { p.product().k = 24; },
     "expected k of fp8 factors in multiples of 16 elements, found 24"},
    {"n", [](auto &p) { p.product().n = 40; },
     "expected n of fp8 factors in multiples of 16 elements, found 40"},
    {"rows", [](auto &p) { p.product().row_b = 40; },
     "expected row_b of fp8 factors in multiples of 16 elements, found 40"},
    {"bias", [](auto &p) { p.product().bias = std::make_unique<fb::Operand>(*p.product().b_scale); },
     "expected no bias, activation and side sums with fp8 factors, found a bias, none and none"},
    {"activation", [](auto &p) { p.product().activation = fb::Activation::GeluTanh; },
     "found none, gelu_tanh and none"},
    {"sideSums", [](auto &p) { p.product().side_sum = fb::SideSum::A; }, "found none, none and a"},
    {"tf32", [](auto &p) { p.product().tf32 = true; },
     "expected factors of f32 to round to TF32, found f8E4M3FN"},
    {"scaleOfWideFactors",
     [](auto &p) {
       p.product().factors = fb::DType::BF16;
       p.builder.plan.buffers[0]->dtype = p.builder.plan.buffers[1]->dtype = fb::DType::BF16;
       p.product().m = 8;
     },
     "operand a_scale: expected none, found one"},
};

class F8Rules : public testing::TestWithParam<F8Rule> {};

TEST_P(F8Rules, AreKept) {
  F8Plan plan;
  GetParam().breakIt(plan);
  EXPECT_THAT(plan.message(), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(Rules, F8Rules, testing::ValuesIn(kF8Rules),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace trainc::test
