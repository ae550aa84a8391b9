// Library calls: each rule of the verifier rejects a plan that breaks it, with a message that says where; and
// bytes between the rows of a matrix are not its own, except for padding, which holds no numbers.
#include "test/unit/plan/verify/verifier_support.h"

#include <cmath>
#include <functional>
#include <gmock/gmock.h>

namespace trainc::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// Instructions of libraryPlan().
constexpr size_t kUp = 0, kDown = 2, kLeft = 3, kRight = 4, kForward = 7, kBackward = 8, kSlope = 9,
                 kWeight = 10;

fb::MatrixProductT &product(PlanBuilder &b, size_t index) {
  return operation<fb::MatrixProductT>(b, 0, index);
}
fb::AttentionT &attention(PlanBuilder &b, size_t index) { return operation<fb::AttentionT>(b, 0, index); }

struct LibraryRule {
  const char *name;
  std::function<void(PlanBuilder &)> breakIt;
  const char *message;
};

const LibraryRule kLibraryRules[] = {
    {"stream", [](auto &b) { b.plan.entries[0]->instructions[kUp]->stream = fb::Stream::Disk; },
     "expected the stream compute for it, found disk"},
    {"space", [](auto &b) { b.plan.arenas[1]->space = fb::Space::Host; },
     "matrix product, operand result: expected memory of the device, found host"},
    {"factors", [](auto &b) { product(b, kUp).factors = fb::DType::BF16; },
     "matrix product: expected values and sums of f32, found dtypes 7, 0 and 0"},
    {"sum", [](auto &b) { attention(b, kForward).sum = fb::DType::F64; },
     "attention: expected values and sums of f32, found dtypes 0, 0 and 1"},
    {"bufferType", [](auto &b) { b.plan.buffers[6]->dtype = fb::DType::I32; }, "'y' of i32"},
    {"zeroSize", [](auto &b) { product(b, kUp).k = 0; },
     "expected a batch, m, n and k above 0, of at most 70368744177664 elements each operand, found 1, 6, 32 "
     "and 0"},
    {"hugeSize", [](auto &b) { product(b, kUp).m = uint64_t{1} << 60; },
     "of at most 70368744177664 elements"},
    {"rows", [](auto &b) { product(b, kUp).row_a = 15; },
     "matrix product, operand a: expected rows at least 16 elements apart, found 6 rows 15 apart"},
    {"transposedRows", [](auto &b) { product(b, kUp).transpose_b = true; },
     "operand b: expected it within the 2048 bytes of buffer 1 ('w'), found 4032 bytes at 0"},
    {"extent", [](auto &b) { product(b, kUp).row_result = 33; },
     "operand result: expected it within the 768 bytes of buffer 4 ('hidden'), found 792 bytes at 0"},
    {"needlessStride", [](auto &b) { product(b, kUp).matrix_a = 96; },
     "operand a: expected 1 matrices at least 96 elements apart, or 0 for one, found 96"},
    {"sharedResult", [](auto &b) { product(b, kUp).batch = 2; },
     "operand result: expected 2 matrices at least 192 elements apart, found 0"},
    {"hugeBatch",
     [](auto &b) {
       fb::MatrixProductT &huge = product(b, kUp);
       huge.batch = uint64_t{1} << 31;
       huge.m = huge.n = huge.k = 1;
     },
     "matrix product: expected a batch of at most 2147483647, found 2147483648"},
    {"alignment", [](auto &b) { product(b, kUp).bias = some(at(0, 4)); }, "an offset in multiples of 64"},
    {"missing", [](auto &b) { product(b, kUp).result.reset(); }, "operand result: expected one, found none"},
    {"needless", [](auto &b) { product(b, kLeft).auxiliary = some(at(5)); },
     "operand auxiliary: expected none, found one"},
    {"gradientWithoutAuxiliary", [](auto &b) { product(b, kSlope).auxiliary.reset(); },
     "operand auxiliary: expected one, found none"},
    {"gradientWithBias", [](auto &b) { product(b, kSlope).bias = some(at(2)); },
     "operand bias: expected none, found one"},
    {"activation", [](auto &b) { product(b, kUp).activation = fb::Activation(9); },
     "unknown activation 9 or side sum 0"},
    {"sideSum", [](auto &b) { product(b, kWeight).side_sum = fb::SideSum::Result; },
     "found side sum result with activation none and 1 matrices"},
    {"sideSumWithoutOperand", [](auto &b) { product(b, kWeight).side.reset(); },
     "operand side: expected one, found none"},
    {"workspace", [](auto &b) { product(b, kDown).workspace_bytes += 1; },
     "operand workspace: expected it within the 2048 bytes of buffer 16 ('workspace'), found 2049 bytes at "
     "0"},
    {"workspaceWithoutBytes", [](auto &b) { product(b, kDown).workspace_bytes = 0; },
     "operand workspace: expected none, found one"},
    {"sharedWorkspace",
     [](auto &b) {
       product(b, kDown).workspace = some(at(6));
       product(b, kDown).workspace_bytes = 64;
     },
     "matrix product, operand result and workspace: expected bytes apart, found shared bytes of 'y' and 'y'"},
    {"sharedFactor",
     [](auto &b) {
       product(b, kUp).result = some(at(0));
       product(b, kUp).m = 3;
     },
     "matrix product, operand a and result: expected bytes apart, found shared bytes of 'x' and 'x'"},
    {"rowsWithGaps",
     [](auto &b) {
       fb::MatrixProductT &many = product(b, kUp);
       many.m = 4097;
       many.row_result = 64;
     },
     "operand result: expected at most 4096 rows or matrices with gaps between them, found 4097"},
    {"pass", [](auto &b) { attention(b, kForward).pass = fb::AttentionPass(2); },
     "attention: unknown pass 2"},
    {"scale", [](auto &b) { attention(b, kForward).scale = NAN; },
     "attention: expected a finite scale, found nan"},
    {"keyHeads", [](auto &b) { attention(b, kForward).key_heads = 3; },
     "attention: expected key heads that divide its 2 heads, found 3"},
    {"attentionSize", [](auto &b) { attention(b, kForward).keys = 0; },
     "3 queries, 0 keys, 2 heads of 8 and 8"},
    {"attentionExtent", [](auto &b) { attention(b, kForward).value_size = 9; },
     "attention, operand value: expected it within"},
    {"segments",
     [](auto &b) {
       attention(b, kForward).keys = 2;
       attention(b, kForward).segments = some(at(0));
     },
     "expected as many keys as its 3 queries, which have segments, found 2"},
    {"segmentType", [](auto &b) { attention(b, kForward).segments = some(at(0)); },
     "attention, operand segments: expected a buffer of i32, found 'x' of f32"},
    {"limitBackward", [](auto &b) { attention(b, kBackward).limit = some(at(0)); },
     "attention, operand limit: expected none, found one"},
    {"gradientForward", [](auto &b) { attention(b, kForward).query_gradient = some(at(12)); },
     "attention, operand query_gradient: expected none, found one"},
    {"gradientMissing", [](auto &b) { attention(b, kBackward).out_gradient.reset(); },
     "attention, operand out_gradient: expected one, found none"},
    {"sharedGradients", [](auto &b) { attention(b, kBackward).value_gradient = some(at(13)); },
     "gradient of attention, operand key_gradient and value_gradient: expected bytes apart, found shared "
     "bytes of "
     "'key_gradient' and 'key_gradient'"},
    {"half", [](auto &b) { product(b, kRight).n = 8; },
     "expected bytes written as 'sides', found some that nothing in the entry has written before"},
};

class LibraryRules : public testing::TestWithParam<LibraryRule> {};

TEST_P(LibraryRules, AreKept) {
  PlanBuilder builder = libraryPlan();
  GetParam().breakIt(builder);
  EXPECT_THAT(messageOf(builder), AllOf(HasSubstr(GetParam().message)));
}

INSTANTIATE_TEST_SUITE_P(Rules, LibraryRules, testing::ValuesIn(kLibraryRules),
                         [](const auto &info) { return info.param.name; });

TEST(LibraryCalls, AreAccepted) { EXPECT_EQ(messageOf(libraryPlan()), "accepted"); }

TEST(LibraryCalls, AnErrorNamesTheInstruction) {
  PlanBuilder builder = libraryPlan();
  product(builder, kUp).k = 0;
  EXPECT_THAT(messageOf(builder),
              HasSubstr("entry init, instruction 0 (test.op at test.mlir:1): matrix product"));
}

constexpr const char *kPadding = "expected rows of 'hidden' as a library call has written them, found others";

/// Gaps of less than 16 bytes after a row are padding, not numbers.
TEST(LibraryCalls, HavePaddingAfterRows) {
  PlanBuilder builder = libraryPlan();
  product(builder, kUp).n = 29; // of 32, all of which the next product reads
  EXPECT_THAT(messageOf(builder), HasSubstr(kPadding));
  product(builder, kUp).n = 28;
  EXPECT_THAT(messageOf(builder), HasSubstr("found some that nothing in the entry has written before"));
}

/// Kernels cover padding and leave it alone. Products read the rows that there are.
TEST(LibraryCalls, ReadRowsWithoutPadding) {
  PlanBuilder builder;
  const auto buffer = [&](const char *name, uint32_t arena, uint64_t elements) {
    return builder.buffer(name, arena, fb::DType::F32, elements);
  };
  const uint32_t x = buffer("x", PlanBuilder::kPersistent, 6 * 16),
                 w = buffer("w", PlanBuilder::kPersistent, 16 * 32),
                 hidden = buffer("hidden", PlanBuilder::kScratch, 6 * 32),
                 y = buffer("y", PlanBuilder::kScratch, 6 * 16);
  PlanBuilder::Body &body = builder.entry("init").instructions;
  const auto multiply = [&](fb::MatrixProductT call, uint32_t a, uint32_t result) {
    call.a = some(at(a));
    call.b = some(at(w));
    call.result = some(at(result));
    builder.product(body, std::move(call));
  };
  fb::MatrixProductT up = denseProduct(6, 29, 16), down = denseProduct(6, 16, 29, false, true);
  up.row_result = down.row_a = 32;
  multiply(std::move(up), x, hidden);
  multiply(std::move(down), hidden, y);
  builder.launch(body, builder.kernel("reads", 1, {{fb::Access::Read, fb::DType::F32, 6 * 32 * 4}}),
                 {at(hidden)});
  EXPECT_EQ(messageOf(builder), "accepted");
  fb::MatrixProductT &reader = product(builder, 1);
  for (const uint64_t distance : {29, 31}) {
    reader.row_a = distance;
    EXPECT_THAT(messageOf(builder), HasSubstr(kPadding)) << distance;
  }
  reader.row_a = 32;
  reader.k = reader.row_b = 30;
  EXPECT_THAT(messageOf(builder), HasSubstr(kPadding));
}

/// Larger gaps between the rows of a result may hold other data.
TEST(LibraryCalls, LeaveWhatLiesBetweenRows) {
  PlanBuilder builder = libraryPlan();
  product(builder, kRight).result = some(at(7, 0)); // over the left half: nothing writes the right one
  EXPECT_THAT(messageOf(builder), HasSubstr("found some that nothing in the entry has written before"));
}

} // namespace
} // namespace trainc::test
