#include "runtime/comm/tree_sum.h"

#include "base/small_float.h"

#include <algorithm>
#include <bit>

namespace trainc {

namespace {

/// Elements per block: 4 KiB, so that one block of each tree level stays in the L1 cache.
constexpr size_t kBlock = 1024;

// Separate functions, because loops over possibly overlapping buffers are not vectorized.
void addInto(float *__restrict out, const float *__restrict x, size_t elements) {
  for (size_t i = 0; i < elements; ++i)
    out[i] += x[i];
}

void addApart(float *__restrict out, const float *__restrict x, const float *__restrict y, size_t elements) {
  for (size_t i = 0; i < elements; ++i)
    out[i] = x[i] + y[i];
}

/// out = x + y; `out` may be x or y.
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

/// Returns `x` as f32: `x` itself, or widened into `out`.
const float *widen(const float *x, float * /*out*/, size_t /*elements*/) { return x; }
template <typename Small>
const float *widen(const Small *__restrict x, float *__restrict out, size_t elements) {
  for (size_t i = 0; i < elements; ++i)
    out[i] = static_cast<float>(x[i]);
  return out;
}

/// Rounds `x` to the type of `out`; both may be the same memory.
void store(float *out, const float *x, size_t elements) {
  if (x != out)
    std::copy_n(x, elements, out);
}
template <typename Small> void store(Small *__restrict out, const float *__restrict x, size_t elements) {
  for (size_t i = 0; i < elements; ++i)
    out[i] = Small::nearest(x[i]);
}

/// Sums one block of the inputs. Returns `out`, or the input itself if there is only one. Writes to `out` and
/// the scratch blocks only after their old content is no longer needed.
template <typename Element>
const float *sumBlock(std::span<const std::byte *const> inputs, Block block, float *out, float *scratch) {
  if (inputs.size() == 1)
    return widen(reinterpret_cast<const Element *>(inputs[0]) + block.begin, out, block.elements);
  const size_t half = std::bit_floor(inputs.size() - 1);
  const float *left = sumBlock<Element>(inputs.first(half), block, scratch, scratch);
  const float *right = sumBlock<Element>(inputs.subspan(half), block, scratch + kBlock, scratch + kBlock);
  add(out, left, right, block.elements);
  return out;
}

/// Buffer for the f32 sum of a block: `out` itself if it is f32, else scratch.
float *placeOfSum(float *out, float * /*scratch*/) { return out; }
template <typename Small> float *placeOfSum(Small * /*out*/, float *scratch) { return scratch; }

template <typename Element, typename Out>
void sumAll(std::span<const std::byte *const> inputs, std::byte *out, size_t elements, float *scratch) {
  for (size_t begin = 0; begin < elements; begin += kBlock) {
    const size_t count = std::min(kBlock, elements - begin);
    Out *target = reinterpret_cast<Out *>(out) + begin;
    store(target, sumBlock<Element>(inputs, {begin, count}, placeOfSum(target, scratch), scratch), count);
  }
}

template <typename Small>
void sumSmall(std::span<const std::byte *const> inputs, fb::DType outType, std::byte *out, size_t elements,
              float *scratch) {
  if (outType == fb::DType::F32)
    sumAll<Small, float>(inputs, out, elements, scratch);
  else
    sumAll<Small, Small>(inputs, out, elements, scratch);
}

} // namespace

TreeSum::TreeSum(uint32_t inputs) : scratch_(kBlock * std::bit_width(inputs)) {}

void TreeSum::sum(fb::DType dtype, std::span<const std::byte *const> inputs, fb::DType outType,
                  std::byte *out, size_t elements) {
  if (dtype == fb::DType::BF16)
    sumSmall<BFloat16>(inputs, outType, out, elements, scratch_.data());
  else if (dtype == fb::DType::F16)
    sumSmall<Float16>(inputs, outType, out, elements, scratch_.data());
  else
    sumAll<float, float>(inputs, out, elements, scratch_.data());
}

} // namespace trainc
