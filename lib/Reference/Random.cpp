// nn.random and nn.stochastic_round, by Philox.
#include "lib/Reference/Random.h"

#include "dialects/NN/NN.h"
#include "lib/Reference/Registry.h"

#include <bit>
#include <cmath>
#include <numbers>

using namespace mlir;
using namespace trainc::reference;
using namespace trainc;

namespace trainc::reference {

static std::array<uint32_t, 4> philoxRound(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  uint64_t first = uint64_t(0xD2511F53) * counter[0], second = uint64_t(0xCD9E8D57) * counter[2];
  return {uint32_t(second >> 32) ^ counter[1] ^ key[0], uint32_t(second),
          uint32_t(first >> 32) ^ counter[3] ^ key[1], uint32_t(first)};
}

std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    counter = philoxRound(counter, key);
    key = {key[0] + 0x9E3779B9, key[1] + 0xBB67AE85};
  }
  return counter;
}

} // namespace trainc::reference

namespace {

uint32_t low(uint64_t word) { return uint32_t(word); }
uint32_t high(uint64_t word) { return uint32_t(word >> 32); }

/// Converts the upper 24 bits to a number in [0, 1).
double unit(uint32_t word) { return double(word >> 8) * 0x1p-24; }

/// Box-Muller, the cosine branch; 2^-24 keeps the logarithm's argument in (0, 1].
double normal(uint32_t first, uint32_t second) {
  return std::sqrt(-2 * std::log(unit(first) + 0x1p-24)) * std::cos(2 * std::numbers::pi * unit(second));
}

Tensor drawRandom(nn::RandomOp op, Frame &frame) {
  Tensor result(op.getResult());
  uint64_t seed = frame[op.getSeed()].integers[0], step = frame[op.getStep()].integers[0];
  uint64_t offset = frame[op.getOffset()].integers[0], stream = op.getStream();
  for (int64_t i = 0; i < result.elements(); ++i) {
    uint64_t position = offset * result.elements() + i;
    auto words = philox4x32({low(position), high(position), low(step), high(step)},
                            {low(seed) ^ low(stream), high(seed) ^ high(stream)});
    result.reals[i] = op.getNormal() ? normal(words[0], words[1]) : unit(words[0]);
  }
  return result;
}

/// Returns the bf16 number after `x`, away from zero; `x` must be a bf16 number.
float nextShort(float x) { return std::bit_cast<float>(std::bit_cast<uint32_t>(x) + 0x10000); }

/// Rounds towards zero to bf16.
float cutShort(float x) { return std::bit_cast<float>(std::bit_cast<uint32_t>(x) & 0xFFFF0000); }

/// `random` is an integer below 2^16.
double roundAtRandom(float x, uint32_t random) {
  if (std::isnan(x) || cutShort(x) == x)
    return x;
  const float near = cutShort(x), far = nextShort(near);
  if (std::isinf(far)) // rounds to infinity from halfway to the next number that exponents would allow
    return std::abs(double(x) - double(near)) >= 0x1p119 ? far : near;
  const double share = (double(x) - double(near)) / (double(far) - double(near));
  return double(random) + share * 0x1p16 >= 0x1p16 ? far : near;
}

Tensor stochasticRound(nn::StochasticRoundOp op, Frame &frame) {
  Tensor result(op.getResult());
  const Tensor &x = frame[op.getX()], &chunks = frame[op.getChunks()];
  const uint64_t seed = frame[op.getSeed()].integers[0], step = frame[op.getStep()].integers[0];
  for (int64_t i = 0; i < result.elements(); ++i) {
    const uint64_t position = uint64_t(chunks.integers[i]) * 256 + uint64_t(i % 256);
    const auto words =
        philox4x32({low(position), high(position), low(step), high(step)}, {low(seed), high(seed)});
    const uint32_t word = words[op.getDraw() / 2];
    result.reals[i] = roundAtRandom(float(x.reals[i]), op.getDraw() % 2 ? word >> 16 : word & 0xFFFF);
  }
  return result;
}

} // namespace

void trainc::reference::registerRandom(Registry &registry) {
  registry.add<nn::RandomOp>(drawRandom);
  registry.add<nn::StochasticRoundOp>(stochasticRound);
}
