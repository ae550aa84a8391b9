// Matrix instructions against a product of whole matrices.
#include "test/unit/emulator/kernel_runner.h"

#include "base/small_float.h"

#include <bit>
#include <fmt/format.h>
#include <random>

namespace trainc::emulator {
namespace {

constexpr size_t kRows = 16, kColumns = 8;

/// Numbers of few digits, so that every sum is exact; row-major A, column-major B.
struct Matrices {
  size_t depth;
  std::vector<float> a, b, c;
  explicit Matrices(size_t depth) : depth(depth) {
    std::mt19937 random(4);
    const auto fill = [&](std::vector<float> &values, size_t count) {
      for (size_t index = 0; index < count; ++index)
        values.push_back(static_cast<float>(static_cast<int>(random() % 31) - 15) / 4);
    };
    fill(a, kRows * depth);
    fill(b, kColumns * depth);
    fill(c, kRows * kColumns);
  }
  std::vector<float> product() const {
    std::vector<float> d = c;
    for (size_t row = 0; row < kRows; ++row)
      for (size_t column = 0; column < kColumns; ++column)
        for (size_t k = 0; k < depth; ++k)
          d[row * kColumns + column] += a[row * depth + k] * b[column * depth + k];
    return d;
  }
};

template <typename T> std::vector<T> converted(const std::vector<float> &values) {
  std::vector<T> result;
  for (const float value : values) {
    if constexpr (std::is_same_v<T, float>)
      result.push_back(value);
    else
      result.push_back(T::nearest(value));
  }
  return result;
}

/// Loads fragments of A (%a0), B (%a1) and C (%a2) as the PTX manual lays them out, and stores D (%a3).
/// `bytes` of an element of A and B; a register holds 4 / bytes of them.
std::string productKernel(const std::string &instruction, size_t depth, size_t bytes, size_t bytesOfC) {
  const size_t inRegister = 4 / bytes, steps = depth / (4 * inRegister), registersOfC = bytesOfC == 4 ? 4 : 2;
  std::string text = "shr.u32 %r40, %tid0, 2; and.b32 %r41, %tid0, 3;\n";
  std::string a, b, c, d;
  const auto load = [&](std::string &list, unsigned reg, const std::string &row, size_t addedRows,
                        size_t pitch, size_t added, size_t scale, unsigned base) {
    // address = base + ((row + addedRows) * pitch + lane % 4 * scale + added)
    text += fmt::format("add.u32 %r42, {}, {}; mul.lo.u32 %r42, %r42, {}; mad.lo.u32 %r42, %r41, {}, %r42; "
                        "add.u32 %r42, %r42, {};\n"
                        "cvt.u64.u32 %x1, %r42; add.u64 %x1, %x1, %a{}; ld.global.b32 %r{}, [%x1];\n",
                        row, addedRows, pitch, scale, added, base, reg);
    list += fmt::format("{}%r{}", list.empty() ? "" : ", ", reg);
  };
  for (unsigned step = 0; step < steps; ++step) {
    load(a, step * 2, "%r40", 0, depth * bytes, step * 16, 4, 0);
    load(a, step * 2 + 1, "%r40", 8, depth * bytes, step * 16, 4, 0);
    load(b, 8 + step, "%r40", 0, depth * bytes, step * 16, 4, 1);
  }
  for (unsigned reg = 0; reg < registersOfC; ++reg) {
    const size_t elementsBefore = bytesOfC == 4 ? reg % 2 : 0;
    load(c, 12 + reg, "%r40", (bytesOfC == 4 ? reg / 2 : reg) * 8, kColumns * bytesOfC, elementsBefore * 4,
         2 * bytesOfC, 2);
    d += fmt::format("{}%r{}", d.empty() ? "" : ", ", 16 + reg);
  }
  text += fmt::format("{} {{{}}}, {{{}}}, {{{}}}, {{{}}};\n", instruction, d, a, b, c);
  for (unsigned reg = 0; reg < registersOfC; ++reg) {
    const size_t rows = (bytesOfC == 4 ? reg / 2 : reg) * 8, elementsBefore = bytesOfC == 4 ? reg % 2 : 0;
    text +=
        fmt::format("add.u32 %r42, %r40, {}; mul.lo.u32 %r42, %r42, {}; mad.lo.u32 %r42, %r41, {}, %r42;\n"
                    "cvt.u64.u32 %x1, %r42; add.u64 %x1, %x1, %a3; st.global.b32 [%x1+{}], %r{};\n",
                    rows, kColumns * bytesOfC, 2 * bytesOfC, elementsBefore * 4, 16 + reg);
  }
  return kernelOf(text, 4);
}

template <typename T, typename Sum>
std::vector<Sum> multiply(const std::string &instruction, const Matrices &matrices) {
  KernelRunner runner(productKernel(instruction, matrices.depth, sizeof(T), sizeof(Sum)));
  EXPECT_EQ(runner.parseError(), "");
  const uint64_t result = runner.allocate(kRows * kColumns * sizeof(Sum));
  EXPECT_EQ(runner.fault("k", 32,
                         {runner.upload(converted<T>(matrices.a)), runner.upload(converted<T>(matrices.b)),
                          runner.upload(converted<Sum>(matrices.c)), result}),
            "");
  return runner.download<Sum>(result, kRows * kColumns);
}

TEST(PtxMatrix, MultipliesFragments) {
  const Matrices deep(16), flat(8), shallow(4);
  EXPECT_EQ((multiply<BFloat16, float>("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", deep)),
            deep.product());
  EXPECT_EQ((multiply<Float16, float>("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", deep)),
            deep.product());
  EXPECT_EQ((multiply<BFloat16, float>("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", flat)),
            flat.product());
  EXPECT_EQ((multiply<float, float>("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", flat)),
            flat.product());
  EXPECT_EQ((multiply<float, float>("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", shallow)),
            shallow.product());
  const std::vector<Float16> halves =
      multiply<Float16, Float16>("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", deep);
  for (size_t index = 0; index < halves.size(); ++index)
    EXPECT_EQ(halves[index].bits, Float16::nearest(deep.product()[index]).bits);
}

TEST(PtxMatrix, TensorFloatsLoseTheirLowBits) {
  Matrices matrices(8);
  const std::vector<float> expected = matrices.product();
  for (float &value : matrices.a)
    value = std::bit_cast<float>(std::bit_cast<uint32_t>(value) | 0x1fff);
  EXPECT_EQ((multiply<float, float>("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", matrices)),
            expected);
}

TEST(PtxMatrix, LoadsFragmentsOfSharedMemory) {
  for (const bool isTransposed : {false, true}) {
    // Four matrices of 8 x 8 elements, one after the other; each lane copies a row there.
    const std::string body = std::string("{ .shared .align 16 .b8 tile[512]; mov.u64 %x3, tile; mad.wide.u32 "
                                         "%x2, %tid0, 16, %x3; mad.wide.u32 %x1, %tid0, 16, %a0;\n"
                                         "ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%x1]; st.shared.v4.b32 "
                                         "[%x2], {%r0, %r1, %r2, %r3}; bar.warp.sync -1;\n"
                                         "ldmatrix.sync.aligned.m8n8.x4") +
                             (isTransposed ? ".trans" : "") +
                             ".shared.b16 {%r4, %r5, %r6, %r7}, [%x2]; mad.wide.u32 %x1, %tid0, 16, %a1; "
                             "st.global.v4.b32 [%x1], {%r4, %r5, %r6, %r7}; }";
    KernelRunner runner(kernelOf(body, 2));
    ASSERT_EQ(runner.parseError(), "");
    std::vector<uint16_t> elements(256);
    for (size_t index = 0; index < elements.size(); ++index)
      elements[index] = static_cast<uint16_t>(index);
    const uint64_t result = runner.allocate(512);
    EXPECT_EQ(runner.fault("k", 32, {runner.upload(elements), result}), "");
    const std::vector<uint16_t> found = runner.download<uint16_t>(result, 256);
    for (size_t lane = 0; lane < 32; ++lane)
      for (size_t matrix = 0; matrix < 4; ++matrix)
        for (size_t half = 0; half < 2; ++half) {
          const size_t row = isTransposed ? lane % 4 * 2 + half : lane / 4,
                       column = isTransposed ? lane / 4 : lane % 4 * 2 + half;
          EXPECT_EQ(found[lane * 8 + matrix * 2 + half], matrix * 64 + row * 8 + column);
        }
  }
}

TEST(PtxMatrix, StoresWhatItLoaded) {
  const std::string body = "{ .shared .align 16 .b8 tile[128]; .shared .align 16 .b8 copy[128]; mov.u64 %x3, "
                           "tile; mov.u64 %x5, copy; and.b32 %r0, %tid0, 7;\n"
                           "mad.wide.u32 %x2, %r0, 16, %x3; mad.wide.u32 %x6, %r0, 16, %x5; mad.wide.u32 "
                           "%x4, %tid0, 4, %x3; st.shared.b32 [%x4], %tid0; bar.warp.sync -1;\n"
                           "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r4}, [%x2]; "
                           "stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%x6], {%r4}; bar.warp.sync -1;\n"
                           "mad.wide.u32 %x4, %tid0, 4, %x5; ld.shared.b32 %r5, [%x4]; mad.wide.u32 %x1, "
                           "%tid0, 4, %a0; st.global.b32 [%x1], %r5; }";
  KernelRunner runner(kernelOf(body, 1));
  ASSERT_EQ(runner.parseError(), "");
  const uint64_t result = runner.allocate(128);
  EXPECT_EQ(runner.fault("k", 32, {result}), "");
  const std::vector<uint32_t> found = runner.download<uint32_t>(result, 32);
  for (uint32_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(found[lane], lane);
}

} // namespace
} // namespace trainc::emulator
