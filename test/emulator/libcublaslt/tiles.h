// Inner loops of a product.
#pragma once

#include <cstddef>
#include <vector>

namespace trainc::emulator {

/// A tile of a product, whose sums are kept in registers.
constexpr size_t kTileRows = 16, kTileColumns = 6;
using Tile = float[kTileColumns][kTileRows];

/// A factor's elements in the order in which tiles read them: panels of `width` lines, zero-padded,
/// interleaved by line.
class Panels {
public:
  Panels(size_t width, size_t lines, size_t depth)
      : width_(width), depth_(depth), numbers_((lines + width - 1) / width * width * depth) {}

  float &at(size_t line, size_t step) {
    return numbers_[(line / width_ * depth_ + step) * width_ + line % width_];
  }
  const float *panel(size_t index) const { return numbers_.data() + index * width_ * depth_; }
  size_t depth() const { return depth_; }

private:
  size_t width_, depth_;
  std::vector<float> numbers_;
};

/// Each sum has `depth` products in order, with one rounding each (FMA).
void multiplyTile(const float *rows, const float *columns, size_t depth, Tile &sums);

} // namespace trainc::emulator
