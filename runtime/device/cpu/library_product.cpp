// Matrix products in plain code. One thread computes a tile of the result; its sums are accumulated in blocks
// of terms, one after the other.
#include "plan/facts/library_calls.h"
#include "plan/schema/cpu_workspace.h"
#include "runtime/device/cpu/library_call.h"
#include "runtime/device/cpu/library_math.h"

#include <array>

namespace trainc {

namespace {

/// Size of a result tile, and terms per block of a sum.
constexpr uint64_t kRows = 4, kColumns = 64, kTerms = 256;

uint64_t blocksOf(uint64_t count, uint64_t size) { return (count + size - 1) / size; }

/// op(matrix): element (row, column) of the matrix as used in the product.
struct Factor {
  const float *data;
  uint64_t row;
  bool transposed;

  float operator()(uint64_t i, uint64_t j) const { return data[transposed ? j * row + i : i * row + j]; }
};

/// Sum of term(0) to term(count - 1), in blocks.
template <typename Term> float blockedSum(uint64_t count, const Term &term) {
  float sum = 0;
  for (uint64_t begin = 0; begin < count; begin += kTerms) {
    float part = 0;
    for (uint64_t i = begin; i < std::min(begin + kTerms, count); ++i)
      part += term(i);
    sum += part;
  }
  return sum;
}

class Product {
public:
  Product(const fb::MatrixProduct &call, void *const *args, const TileRunner &tiles)
      : call_(call), args_(args), tiles_(tiles) {}

  void run() const {
    const uint64_t width = call_.transpose_b() ? std::min(call_.n(), kPackedColumns) : call_.n();
    for (uint64_t matrix = 0; matrix < call_.batch(); ++matrix)
      for (uint64_t first = 0; first < call_.n(); first += width)
        multiply(matrix, first, std::min(width, call_.n() - first));
    sumAside();
  }

private:
  using Sums = std::array<std::array<float, kColumns>, kRows>;

  /// Columns of op(b), contiguous for each term.
  struct Columns {
    const float *data;
    uint64_t stride; ///< distance between terms
  };

  float *floats(ProductOperand operand) const { return static_cast<float *>(args_[operand]); }
  Factor a(uint64_t matrix) const {
    return {floats(kFactorA) + matrix * call_.matrix_a(), call_.row_a(), call_.transpose_a()};
  }
  Factor b(uint64_t matrix) const {
    return {floats(kFactorB) + matrix * call_.matrix_b(), call_.row_b(), call_.transpose_b()};
  }

  /// Computes columns [first, first + width) of one product.
  void multiply(uint64_t matrix, uint64_t first, uint64_t width) const {
    const Columns columns = inOrder(b(matrix), first, width);
    const uint64_t across = blocksOf(width, kColumns), down = blocksOf(call_.m(), kRows);
    tiles_.run(down * across, [&](uint64_t begin, uint64_t end) {
      for (uint64_t tile = begin; tile < end; ++tile) {
        const uint64_t column = tile % across * kColumns;
        multiplyTile(matrix, tile / across * kRows, first + column, std::min(kColumns, width - column),
                     {columns.data + column, columns.stride});
      }
    });
  }

  /// The columns of b in place, or a transposed copy in the workspace.
  Columns inOrder(const Factor &b, uint64_t first, uint64_t width) const {
    if (!b.transposed)
      return {b.data + first, b.row};
    float *copy = floats(kProductWorkspace);
    tiles_.run(call_.k(), [&](uint64_t begin, uint64_t end) {
      for (uint64_t column = 0; column < width; ++column)
        for (uint64_t p = begin; p < end; ++p)
          copy[p * width + column] = b(p, first + column);
    });
    return {copy, width};
  }

  void multiplyTile(uint64_t matrix, uint64_t row, uint64_t column, uint64_t width,
                    const Columns &columns) const {
    const uint64_t height = std::min(kRows, call_.m() - row);
    const Factor factor = a(matrix);
    Sums sums{};
    for (uint64_t begin = 0; begin < call_.k(); begin += kTerms) {
      Sums part{};
      for (uint64_t p = begin; p < std::min(begin + kTerms, call_.k()); ++p)
        for (uint64_t i = 0; i < height; ++i) {
          const float left = factor(row + i, p);
          const float *right = columns.data + p * columns.stride;
          for (uint64_t j = 0; j < width; ++j)
            part[i][j] += left * right[j];
        }
      for (uint64_t i = 0; i < height; ++i)
        for (uint64_t j = 0; j < width; ++j)
          sums[i][j] += part[i][j];
    }
    for (uint64_t i = 0; i < height; ++i)
      finish(matrix * call_.matrix_result() + (row + i) * call_.row_result() + column, column, width,
             sums[i].data());
  }

  /// Applies the epilogue to the sums and stores the result's elements from `at` on.
  void finish(uint64_t at, uint64_t column, uint64_t width, const float *sums) const {
    float *result = floats(kProduct) + at;
    const float *bias = call_.bias() ? floats(kBias) + column : nullptr;
    float *auxiliary = call_.auxiliary() ? floats(kAuxiliary) + at : nullptr;
    for (uint64_t j = 0; j < width; ++j) {
      float x = sums[j];
      if (call_.adds())
        x += result[j];
      if (bias)
        x += bias[j];
      result[j] = activate(x, auxiliary ? auxiliary + j : nullptr);
    }
  }

  float activate(float x, float *auxiliary) const {
    switch (call_.activation()) {
    case fb::Activation::None:
      break;
    case fb::Activation::Gelu:
    case fb::Activation::GeluTanh:
      if (auxiliary)
        *auxiliary = x;
      return plain::gelu(x, call_.activation() == fb::Activation::GeluTanh);
    case fb::Activation::GeluGradient:
    case fb::Activation::GeluTanhGradient:
      return x * plain::geluSlope(*auxiliary, call_.activation() == fb::Activation::GeluTanhGradient);
    }
    return x;
  }

  void sumAside() const {
    const Factor result{floats(kProduct), call_.row_result(), false};
    switch (call_.side_sum()) {
    case fb::SideSum::None:
      return;
    case fb::SideSum::Result:
      return sumAside(call_.n(), call_.m(),
                      [&](uint64_t column, uint64_t row) { return result(row, column); });
    case fb::SideSum::A:
      return sumAside(call_.m(), call_.k(), a(0));
    case fb::SideSum::B:
      return sumAside(call_.n(), call_.k(), [b = b(0)](uint64_t column, uint64_t p) { return b(p, column); });
    }
  }

  /// Computes side[i] = sum of term(i, 0) to term(i, terms - 1).
  template <typename Term> void sumAside(uint64_t count, uint64_t terms, const Term &term) const {
    float *side = floats(kSideSums);
    tiles_.run(count, [&](uint64_t begin, uint64_t end) {
      for (uint64_t i = begin; i < end; ++i)
        side[i] = blockedSum(terms, [&](uint64_t j) { return term(i, j); });
    });
  }

  const fb::MatrixProduct &call_;
  void *const *args_;
  const TileRunner &tiles_;
};

} // namespace

void runMatrixProduct(const fb::MatrixProduct &call, void *const *args, const TileRunner &tiles) {
  Product(call, args, tiles).run();
}

} // namespace trainc
