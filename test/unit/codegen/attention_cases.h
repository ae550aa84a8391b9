// Attention and its gradient as texts: block boundaries, tails, every mask, shared key heads.
#pragma once

#include "test/unit/codegen/kernel_harness.h"

#include <gtest/gtest.h>

namespace trainc::codegen::harness {

inline std::string tensor(std::initializer_list<int64_t> shape, const char *element = "f32") {
  std::string text = "tensor<";
  for (int64_t dim : shape)
    text += std::to_string(dim) + "x";
  return text + element + ">";
}

inline const std::string kGradScale = "0.0625";

struct AttentionCase {
  const char *name;
  int64_t batch, queries, keys, heads, keyHeads, depth, valueWidth;
  bool causal, segments, limit;
  const char *element = "f32";
};

/// Element type of the log-sum-exp.
inline std::string lseElement(const AttentionCase &c) {
  return std::string_view(c.element).ends_with("f16") ? "f32" : c.element;
}

/// `scale`: as in the text, or that of the op.
inline std::string forwardText(const AttentionCase &c, const std::string &scale = "") {
  std::string q = tensor({c.batch, c.queries, c.heads * c.depth}, c.element);
  std::string k = tensor({c.batch, c.keys, c.keyHeads * c.depth}, c.element);
  std::string v = tensor({c.batch, c.keys, c.keyHeads * c.valueWidth}, c.element);
  std::string out = tensor({c.batch, c.queries, c.heads * c.valueWidth}, c.element);
  std::string lse = tensor({c.batch, c.heads, c.queries}, lseElement(c).c_str()),
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
  if (!scale.empty())
    text += " scale " + scale;
  if (c.segments)
    text += " segments %s : " + segments;
  if (c.limit)
    text += " limit %l : tensor<i32>";
  return text + " : " + q + ", " + k + ", " + v + " return %o#0, %o#1 : " + out + ", " + lse + " }";
}

/// With a scale of kGradScale.
inline std::string gradText(const AttentionCase &c) {
  std::string q = tensor({c.batch, c.queries, c.heads * c.depth}, c.element);
  std::string k = tensor({c.batch, c.keys, c.keyHeads * c.depth}, c.element);
  std::string v = tensor({c.batch, c.keys, c.keyHeads * c.valueWidth}, c.element);
  std::string out = tensor({c.batch, c.queries, c.heads * c.valueWidth}, c.element);
  std::string lse = tensor({c.batch, c.heads, c.queries}, lseElement(c).c_str()),
              segments = tensor({c.batch, c.queries}, "i32");
  std::string text = "func.func @f(%q: " + q + ", %k: " + k + ", %v: " + v + ", %o: " + out + ", %e: " + lse +
                     ", %d: " + out;
  if (c.segments)
    text += ", %s: " + segments;
  text += ") -> (" + q + ", " + k + ", " + v + ") { %g:3 = nn.attention_grad %q, %k, %v, %o, %e, %d heads " +
          std::to_string(c.heads) + " kv_heads " + std::to_string(c.keyHeads) + (c.causal ? " causal" : "") +
          " scale " + kGradScale;
  if (c.segments)
    text += " segments %s : " + segments;
  return text + " : " + q + ", " + k + ", " + v + ", " + out + ", " + lse + ", " + out +
         " return %g#0, %g#1, %g#2 : " + q + ", " + k + ", " + v + " }";
}

inline const std::vector<AttentionCase> kAttentionCases = {
    {"causal", 2, 130, 130, 3, 3, 32, 32, true, false, false},
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
inline const std::vector<AttentionCase> kLimitedAttentionCases = {
    {"decode", 1, 1, 96, 4, 2, 32, 32, false, false, true},
    {"prefill", 1, 40, 96, 4, 2, 32, 32, false, false, true}};

inline std::string nameOfCase(const ::testing::TestParamInfo<AttentionCase> &info) { return info.param.name; }

/// Random inputs of the gradient, except for `out` and `lse`, which are results of the forward's reference.
inline reference::Tensors gradientInputs(const AttentionCase &c, const ParsedOp &forward,
                                         const ParsedOp &gradient) {
  reference::Tensors inputs = gradient.randomInputs(3), primal(inputs.begin(), inputs.begin() + 3);
  if (c.segments)
    primal.push_back(inputs[6]);
  const reference::Tensors results = forward.reference(primal);
  inputs[3].reals = results[0].reals;
  inputs[4].reals = results[1].reals;
  return inputs;
}

} // namespace trainc::codegen::harness
