// Attention and its gradient against the reference: block borders, tails, every mask, shared key heads.
#include "test/unit/codegen/kernel_harness.h"

#include <gtest/gtest.h>

using namespace trainc::codegen;
using namespace trainc::codegen::testing;
using trainc::reference::Tensors;

namespace {

std::string tensor(std::initializer_list<int64_t> shape, const char *element = "f32") {
  std::string text = "tensor<";
  for (int64_t dim : shape)
    text += std::to_string(dim) + "x";
  return text + element + ">";
}

struct Case {
  const char *name;
  int64_t batch, queries, keys, heads, keyHeads, depth, valueWidth;
  bool causal, segments, limit;
  const char *element = "f32";
};

std::string forwardText(const Case &c) {
  std::string q = tensor({c.batch, c.queries, c.heads * c.depth}, c.element);
  std::string k = tensor({c.batch, c.keys, c.keyHeads * c.depth}, c.element);
  std::string v = tensor({c.batch, c.keys, c.keyHeads * c.valueWidth}, c.element);
  std::string out = tensor({c.batch, c.queries, c.heads * c.valueWidth}, c.element);
  std::string lse = tensor({c.batch, c.heads, c.queries}, c.element),
              segments = tensor({c.batch, c.queries}, "i32");
  std::string text = "func.func @f(%q: " + q + ", %k: " + k + ", %v: " + v;
  if (c.segments)
    text += ", %s: " + segments;
  if (c.limit)
    text += ", %l: tensor<i32>";
  text += ") -> (" + out + ", " + lse + ") { %o:2 = nn.attention %q, %k, %v heads " +
          std::to_string(c.heads) + " kv_heads " + std::to_string(c.keyHeads);
  if (c.causal)
    text += " causal";
  if (c.segments)
    text += " segments %s : " + segments;
  if (c.limit)
    text += " limit %l : tensor<i32>";
  return text + " : " + q + ", " + k + ", " + v + " return %o#0, %o#1 : " + out + ", " + lse + " }";
}

std::string gradText(const Case &c) {
  std::string q = tensor({c.batch, c.queries, c.heads * c.depth}, c.element);
  std::string k = tensor({c.batch, c.keys, c.keyHeads * c.depth}, c.element);
  std::string v = tensor({c.batch, c.keys, c.keyHeads * c.valueWidth}, c.element);
  std::string out = tensor({c.batch, c.queries, c.heads * c.valueWidth}, c.element);
  std::string lse = tensor({c.batch, c.heads, c.queries}, c.element),
              segments = tensor({c.batch, c.queries}, "i32");
  std::string text = "func.func @f(%q: " + q + ", %k: " + k + ", %v: " + v + ", %o: " + out + ", %e: " + lse +
                     ", %d: " + out;
  if (c.segments)
    text += ", %s: " + segments;
  text += ") -> (" + q + ", " + k + ", " + v + ") { %g:3 = nn.attention_grad %q, %k, %v, %o, %e, %d heads " +
          std::to_string(c.heads) + " kv_heads " + std::to_string(c.keyHeads) + (c.causal ? " causal" : "") +
          " scale 0.0625";
  if (c.segments)
    text += " segments %s : " + segments;
  return text + " : " + q + ", " + k + ", " + v + ", " + out + ", " + lse + ", " + out +
         " return %g#0, %g#1, %g#2 : " + q + ", " + k + ", " + v + " }";
}

const std::vector<Case> kCases = {{"causal", 2, 130, 130, 3, 3, 32, 32, true, false, false},
                                  {"bidirectional", 1, 70, 100, 2, 2, 16, 24, false, false, false},
                                  {"grouped", 1, 50, 50, 6, 2, 64, 64, true, false, false},
                                  {"segments", 2, 65, 65, 2, 2, 16, 16, true, true, false},
                                  {"segments_only", 1, 49, 49, 2, 1, 20, 20, false, true, false},
                                  {"odd_width", 1, 37, 37, 2, 2, 13, 7, true, false, false},
                                  {"wide_head", 1, 60, 60, 1, 1, 200, 160, true, false, false},
                                  {"more_keys", 1, 20, 90, 2, 2, 16, 16, true, false, false},
                                  {"fewer_keys", 1, 90, 20, 2, 2, 16, 16, true, false, false},
                                  {"float64", 1, 40, 40, 2, 2, 16, 16, true, false, false, "f64"}};

/// Generation's: keys up to a position alone; they have no gradient.
const std::vector<Case> kLimitedCases = {{"decode", 1, 1, 96, 4, 2, 32, 32, false, false, true},
                                         {"prefill", 1, 40, 96, 4, 2, 32, 32, false, false, true}};

std::string nameOf(const ::testing::TestParamInfo<Case> &info) { return info.param.name; }

class AttentionTest : public ::testing::TestWithParam<Case> {};
class AttentionGradTest : public ::testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(Shapes, AttentionTest, ::testing::ValuesIn(kCases), nameOf);
INSTANTIATE_TEST_SUITE_P(Limited, AttentionTest, ::testing::ValuesIn(kLimitedCases), nameOf);
INSTANTIATE_TEST_SUITE_P(Shapes, AttentionGradTest, ::testing::ValuesIn(kCases), nameOf);

TEST_P(AttentionTest, MatchesReference) {
  CompiledOp op(forwardText(GetParam()));
  ASSERT_TRUE(op);
  expectMatchesReference(op, op.randomInputs(GetParam().limit ? GetParam().keys / 2 : 3), 1e-5);
}

/// The gradient's own inputs `out` and `lse` come from the forward reference, with the gradient's scale.
TEST_P(AttentionGradTest, MatchesReference) {
  const Case &c = GetParam();
  std::string text = forwardText(c);
  text.insert(text.find(c.causal     ? " causal"
                        : c.segments ? " segments"
                                     : " : tensor") +
                  (c.causal ? 7 : 0),
              " scale 0.0625");
  CompiledOp forward(text), op(gradText(c));
  ASSERT_TRUE(forward && op);
  Tensors inputs = op.randomInputs(3), primal(inputs.begin(), inputs.begin() + 3);
  if (c.segments)
    primal.push_back(inputs[6]);
  Tensors results = forward.reference(primal);
  inputs[3] = inputs[3], inputs[3].reals = results[0].reals, inputs[4].reals = results[1].reals;
  expectMatchesReference(op, inputs, 2e-5);
}

} // namespace
