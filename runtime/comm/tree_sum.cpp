#include "runtime/comm/tree_sum.h"

#include <algorithm>
#include <bit>

namespace trainc {

namespace {

/// Elements added at a time: 4 KiB, so that a block of every level stays in the first-level cache.
constexpr size_t kBlock = 1024;

// Two forms, since what may overlap is not vectorised.
void addInto(float *__restrict out, const float *__restrict x, size_t elements) {
  for (size_t i = 0; i < elements; ++i)
    out[i] += x[i];
}

void addApart(float *__restrict out, const float *__restrict x, const float *__restrict y, size_t elements) {
  for (size_t i = 0; i < elements; ++i)
    out[i] = x[i] + y[i];
}

/// out = x + y, where `out` may be either.
void add(float *out, const float *x, const float *y, size_t elements) {
  if (out == x)
    addInto(out, y, elements);
  else if (out == y)
    addInto(out, x, elements);
  else
    addApart(out, x, y, elements);
}

struct Block {
  size_t begin, elements;
};

/// The sum of a block of the inputs: in `out`, or where it already is if there is one input. `out` and the
/// scratch blocks are written only when nothing of what they hold is needed any more.
const float *sumBlock(std::span<const float *const> inputs, Block block, float *out, float *scratch) {
  if (inputs.size() == 1)
    return inputs[0] + block.begin;
  const size_t half = std::bit_floor(inputs.size() - 1);
  const float *left = sumBlock(inputs.first(half), block, scratch, scratch);
  const float *right = sumBlock(inputs.subspan(half), block, scratch + kBlock, scratch + kBlock);
  add(out, left, right, block.elements);
  return out;
}

} // namespace

TreeSum::TreeSum(uint32_t inputs) : scratch_(kBlock * std::bit_width(inputs)) {}

void TreeSum::sum(std::span<const float *const> inputs, float *out, size_t elements) {
  for (size_t begin = 0; begin < elements; begin += kBlock) {
    const size_t count = std::min(kBlock, elements - begin);
    const float *total = sumBlock(inputs, {begin, count}, out + begin, scratch_.data());
    if (total != out + begin)
      std::copy_n(total, count, out + begin);
  }
}

} // namespace trainc
