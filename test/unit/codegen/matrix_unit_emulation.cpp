#include "test/unit/codegen/matrix_unit_emulation.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringMap.h"
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

using namespace mlir;

namespace trainc::codegen::harness {

namespace {

constexpr int64_t kTiles = 8, kMaxRows = 16, kMaxRowBytes = 64;

struct Tile {
  int64_t rows = 0, rowBytes = 0; ///< as configured; 0 before that
  unsigned char bytes[kMaxRows][kMaxRowBytes] = {};

  /// A written row is zero-filled after its bytes, and so are the rows after the last one.
  void clear() { std::memset(bytes, 0, sizeof(bytes)); }

  template <typename Number> Number at(int64_t row, int64_t index) const {
    Number number;
    std::memcpy(&number, &bytes[row][index * int64_t(sizeof(Number))], sizeof(Number));
    return number;
  }
};

thread_local std::array<Tile, kTiles> tiles;

Tile &tile(int64_t number) {
  Tile &found = tiles.at(size_t(number));
  EXPECT_GT(found.rows, 0) << "tile " << number << " is used before it is configured";
  return found;
}

/// The zero that the unit takes for numbers below 2^-126.
[[gnu::always_inline]] inline float flushed(float x) {
  return std::abs(x) < 0x1p-126F ? std::copysign(0.0F, x) : x;
}

float wide(uint16_t bf16) { return flushed(std::bit_cast<float>(uint32_t(bf16) << 16)); }

// --- Instructions ---

void configure(const unsigned char *configuration) {
  EXPECT_EQ(configuration[0], 1) << "palette";
  EXPECT_FALSE(isMatrixUnitInUse()) << "configured twice";
  for (int64_t i = 0; i < kTiles; ++i) {
    tiles[i] = {.rows = configuration[48 + i],
                .rowBytes = configuration[16 + 2 * i] + 256 * configuration[17 + 2 * i]};
    EXPECT_LE(tiles[i].rows, kMaxRows);
    EXPECT_LE(tiles[i].rowBytes, kMaxRowBytes);
  }
}

void release() {
  EXPECT_TRUE(isMatrixUnitInUse()) << "released twice";
  for (Tile &each : tiles)
    each = {};
}

void zero(int64_t to) { tile(to).clear(); }

void load(int64_t number, const unsigned char *from, int64_t stride) {
  Tile &to = tile(number);
  to.clear();
  for (int64_t row = 0; row < to.rows; ++row)
    std::memcpy(to.bytes[row], from + row * stride, to.rowBytes);
}

void store(int64_t number, unsigned char *to, int64_t stride) {
  const Tile &from = tile(number);
  for (int64_t row = 0; row < from.rows; ++row)
    std::memcpy(to + row * stride, from.bytes[row], from.rowBytes);
}

/// Terms of one kind, even or odd, of each pair and column of B.
struct Terms {
  float of[2][kMaxRows][kMaxRowBytes / 4];

  explicit Terms(const Tile &b) {
    for (int64_t kind = 0; kind < 2; ++kind)
      for (int64_t pair = 0; pair < b.rows; ++pair)
        for (int64_t column = 0; column < b.rowBytes / 4; ++column)
          of[kind][pair][column] = wide(b.at<uint16_t>(pair, 2 * column + kind));
  }
};

/// tdpbf16ps. Code for the unit takes CPUs that have multiply-adds; without them a test takes minutes.
[[gnu::target("fma")]] void multiplyAdd(int64_t sums, int64_t numberA, int64_t numberB) {
  Tile &to = tile(sums);
  const Tile &a = tile(numberA), &b = tile(numberB);
  EXPECT_TRUE(to.rows == a.rows && to.rowBytes == b.rowBytes && a.rowBytes == 4 * b.rows);
  const Terms terms(b);
  const int64_t columns = to.rowBytes / 4;
  for (int64_t row = 0; row < to.rows; ++row) {
    float kinds[2][kMaxRowBytes / 4] = {};
    for (int64_t term = 0; term < 2 * b.rows; ++term) {
      const float factor = wide(a.at<uint16_t>(row, term));
      for (int64_t column = 0; column < columns; ++column) {
        float &sum = kinds[term % 2][column];
        sum = flushed(std::fma(factor, terms.of[term % 2][term / 2][column], sum));
      }
    }
    for (int64_t column = 0; column < columns; ++column) {
      const float added = flushed(kinds[0][column] + kinds[1][column]),
                  sum = flushed(flushed(to.at<float>(row, column)) + added);
      std::memcpy(&to.bytes[row][4 * column], &sum, sizeof(sum));
    }
  }
}

/// The function for an LLVM intrinsic; null for intrinsics other than AMX.
const void *emulated(StringRef intrinsic) {
  static const llvm::StringMap<const void *> functions = {
      {"llvm.x86.ldtilecfg", reinterpret_cast<const void *>(&configure)},
      {"llvm.x86.tilerelease", reinterpret_cast<const void *>(&release)},
      {"llvm.x86.tilezero", reinterpret_cast<const void *>(&zero)},
      {"llvm.x86.tileloadd64", reinterpret_cast<const void *>(&load)},
      {"llvm.x86.tilestored64", reinterpret_cast<const void *>(&store)},
      {"llvm.x86.tdpbf16ps", reinterpret_cast<const void *>(&multiplyAdd)},
  };
  return functions.lookup(intrinsic);
}

} // namespace

bool isMatrixUnitInUse() {
  return std::ranges::any_of(tiles, [](const Tile &each) { return each.rows > 0; });
}

void emulateMatrixUnit(ModuleOp kernels) {
  kernels.walk([](LLVM::CallIntrinsicOp call) {
    const void *function = emulated(call.getIntrin());
    if (!function)
      return;
    OpBuilder builder(call);
    Type wide = builder.getI64Type(), pointer = LLVM::LLVMPointerType::get(call.getContext());
    Value address =
        LLVM::ConstantOp::create(builder, call.getLoc(), wide, int64_t(reinterpret_cast<intptr_t>(function)));
    SmallVector<Value> callee = {LLVM::IntToPtrOp::create(builder, call.getLoc(), pointer, address)};
    SmallVector<Type> types;
    for (Value arg : call.getArgs()) {
      if (arg.getType().isInteger(8)) // a tile's number, which the functions take as they take all integers
        arg = arith::ExtUIOp::create(builder, call.getLoc(), wide, arg);
      callee.push_back(arg);
      types.push_back(arg.getType());
    }
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(call.getContext()), types);
    LLVM::CallOp::create(builder, call.getLoc(), type, callee);
    call.erase();
  });
}

} // namespace trainc::codegen::harness
