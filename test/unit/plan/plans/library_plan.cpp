#include "test/unit/plan/plans/plan_builder.h"

namespace trainc::test {

namespace {

constexpr uint64_t kRows = 6, kWidth = 16, kHidden = 32;

/// The buffers of the plan, and its calls one by one.
class LibraryPlan {
public:
  PlanBuilder build() {
    b_.state("x", x_, {kRows, kWidth}, fb::Role::Parameter);
    b_.state("w", w_, {kWidth, kHidden}, fb::Role::Parameter);
    b_.state("bias", bias_, {kHidden}, fb::Role::Parameter);
    b_.state("u", u_, {kWidth, kHidden}, fb::Role::Parameter);
    PlanBuilder::Body &body = b_.entry("init").instructions;
    forward(body);
    halves(body);
    batches(body);
    attention(body);
    backward(body);
    return std::move(b_);
  }

private:
  uint32_t persistent(const char *name, uint64_t elements) {
    return b_.buffer(name, PlanBuilder::kPersistent, fb::DType::F32, elements, fb::Role::Parameter);
  }
  uint32_t scratch(const char *name, uint64_t elements) {
    return b_.buffer(name, PlanBuilder::kScratch, fb::DType::F32, elements);
  }

  /// hidden = gelu_tanh(x w + bias), and y = x + hidden u^T in a buffer of its own.
  void forward(PlanBuilder::Body &body) {
    fb::MatrixProductT up = denseProduct(kRows, kHidden, kWidth);
    up.a = some(at(x_));
    up.b = some(at(w_));
    up.result = some(at(hidden_));
    up.bias = some(at(bias_));
    up.auxiliary = some(at(before_));
    up.activation = fb::Activation::GeluTanh;
    b_.product(body, std::move(up));
    b_.copy(body, at(x_), at(y_), kRows * kWidth * 4);
    fb::MatrixProductT down = denseProduct(kRows, kWidth, kHidden, false, true);
    down.a = some(at(hidden_));
    down.b = some(at(u_));
    down.result = some(at(y_));
    down.adds = true;
    down.workspace = some(at(workspace_));
    down.workspace_bytes = kWidth * kHidden * 4;
    b_.product(body, std::move(down));
  }

  /// Two products side by side, in rows with gaps, and one that reads both.
  void halves(PlanBuilder::Body &body) {
    for (const uint64_t half : {0, 1}) {
      fb::MatrixProductT product = denseProduct(kRows, kWidth, kWidth);
      product.a = some(at(y_));
      product.b = some(at(w_, half * kWidth * 4));
      product.result = some(at(sides_, half * kWidth * 4));
      product.row_b = product.row_result = kHidden;
      b_.product(body, std::move(product));
    }
    fb::MatrixProductT joined = denseProduct(kRows, kWidth, kHidden, false, true);
    joined.a = some(at(sides_));
    joined.b = some(at(u_));
    joined.result = some(at(query_));
    joined.workspace = some(at(workspace_));
    joined.workspace_bytes = kWidth * kHidden * 4;
    b_.product(body, std::move(joined));
  }

  /// Two products of three matrices of 2 x 16 each, with one factor for all, in a loop over halves of 8
  /// columns.
  void batches(PlanBuilder::Body &body) {
    PlanBuilder::Body &loop = b_.loop(body, 2);
    fb::MatrixProductT product = denseProduct(2, 4, kWidth);
    product.batch = 3;
    product.a = some(at(y_));
    product.matrix_a = 2 * kWidth;
    product.b = some(at(w_, 0, 4 * 4));
    product.row_b = kHidden;
    product.result = some(at(key_, 0, 4 * 4));
    product.row_result = 8;
    product.matrix_result = 2 * 8;
    b_.product(loop, std::move(product));
  }

  static fb::AttentionT sizes(fb::AttentionPass pass) {
    fb::AttentionT attention;
    attention.pass = pass;
    attention.batch = 2;
    attention.queries = attention.keys = 3;
    attention.heads = 2;
    attention.key_heads = 1;
    attention.head_size = attention.value_size = 8;
    attention.causal = true;
    attention.scale = 0.25F;
    return attention;
  }

  void attention(PlanBuilder::Body &body) {
    fb::AttentionT call = sizes(fb::AttentionPass::Forward);
    call.query = some(at(query_));
    call.key = some(at(key_));
    call.value = some(at(key_));
    call.out = some(at(out_));
    call.log_sum_exp = some(at(lse_));
    b_.attention(body, std::move(call));
  }

  /// Gradients where y's is one of attention, and gradients of w and of biases.
  void backward(PlanBuilder::Body &body) {
    fb::AttentionT call = sizes(fb::AttentionPass::Backward);
    call.query = some(at(query_));
    call.key = some(at(key_));
    call.value = some(at(key_));
    call.out = some(at(out_));
    call.log_sum_exp = some(at(lse_));
    call.out_gradient = some(at(y_));
    call.query_gradient = some(at(queryGradient_));
    call.key_gradient = some(at(keyGradient_));
    call.value_gradient = some(at(valueGradient_));
    call.workspace = some(at(workspace_));
    call.workspace_bytes = 2 * 2 * 3 * 4;
    b_.attention(body, std::move(call));

    fb::MatrixProductT slope = denseProduct(kRows, kHidden, kWidth);
    slope.a = some(at(queryGradient_));
    slope.b = some(at(u_));
    slope.result = some(at(hidden_));
    slope.auxiliary = some(at(before_));
    slope.activation = fb::Activation::GeluTanhGradient;
    slope.side_sum = fb::SideSum::Result;
    slope.side = some(at(bias_));
    b_.product(body, std::move(slope));

    fb::MatrixProductT weight = denseProduct(kWidth, kHidden, kRows, true);
    weight.a = some(at(x_));
    weight.b = some(at(hidden_));
    weight.result = some(at(w_));
    weight.adds = true;
    weight.side_sum = fb::SideSum::A;
    weight.side = some(at(sums_));
    b_.product(body, std::move(weight));
    b_.copy(body, at(sums_), at(x_), kWidth * 4);
    b_.copy(body, at(keyGradient_), at(x_, kWidth * 4), kRows * 8 * 4);
    b_.copy(body, at(valueGradient_), at(u_), kRows * 8 * 4);
  }

  PlanBuilder b_;
  uint32_t x_ = persistent("x", kRows *kWidth), w_ = persistent("w", kWidth *kHidden),
           bias_ = persistent("bias", kHidden), u_ = persistent("u", kWidth *kHidden);
  uint32_t hidden_ = scratch("hidden", kRows *kHidden), before_ = scratch("before", kRows *kHidden),
           y_ = scratch("y", kRows *kWidth), sides_ = scratch("sides", kRows *kHidden),
           query_ = scratch("query", kRows *kWidth), key_ = scratch("key", kRows * 8),
           out_ = scratch("out", kRows *kWidth), lse_ = scratch("lse", 12),
           queryGradient_ = scratch("query_gradient", kRows *kWidth),
           keyGradient_ = scratch("key_gradient", kRows * 8),
           valueGradient_ = scratch("value_gradient", kRows * 8), sums_ = scratch("sums", kWidth),
           workspace_ = scratch("workspace", kWidth *kHidden);
};

} // namespace

PlanBuilder libraryPlan() { return LibraryPlan().build(); }

} // namespace trainc::test
