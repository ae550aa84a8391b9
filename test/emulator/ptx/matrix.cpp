// Warp-level matrix products, and loads and stores of their fragments.
//
// An element of D is the sum of C and all products, in the order of k, in double, where products are exact;
// it is rounded once. Tensor cores sum in another order with fewer digits, so results differ in the last
// bits.
#include "test/emulator/ptx/access.h"
#include "test/emulator/ptx/decoding.h"
#include "test/emulator/ptx/float_values.h"

#include <algorithm>
#include <bit>

namespace trainc::emulator {

namespace {

constexpr unsigned kRows = 16, kColumns = 8, kMaxDepth = 16;

/// A register of a lane holds one tf32 element, or two 16-bit elements adjacent along k.
struct WordElements {
  static constexpr unsigned inRegister = 1;
  static double read(uint32_t bits, unsigned) {
    return std::bit_cast<float>(bits & 0xffffe000U); // tensor cores ignore lower bits
  }
};
template <typename Value> struct HalfElements {
  static constexpr unsigned inRegister = 2;
  static double read(uint32_t bits, unsigned index) {
    return Value::widen(static_cast<uint16_t>(bits >> index * 16));
  }
};

/// Accumulators: f32, one per register, or f16, two per register.
struct SingleSums {
  static constexpr unsigned inRegister = 1;
  static double read(uint32_t bits, unsigned) { return std::bit_cast<float>(bits); }
  static uint32_t write(double value, unsigned) {
    return std::bit_cast<uint32_t>(canonical(static_cast<float>(value)));
  }
};
struct HalfSums {
  static constexpr unsigned inRegister = 2;
  static double read(uint32_t bits, unsigned index) {
    return HalfFloat::widen(static_cast<uint16_t>(bits >> index * 16));
  }
  static uint32_t write(double value, unsigned index) {
    return uint32_t{HalfFloat::narrow(value)} << index * 16;
  }
};

/// reads: A, B, C. Lanes hold rows lane / 4 and lane / 4 + 8 of A, C and D, and column lane / 4 of B.
template <typename Elements, typename Sums, unsigned Depth>
void multiply(const Instruction &instruction, Warp &warp) {
  constexpr unsigned width = Elements::inRegister, stepsOfK = Depth / (4 * width); // 4 lanes share a row
  constexpr unsigned registersOfA = 2 * stepsOfK, registersOfB = stepsOfK,
                     registersOfC = 4 / Sums::inRegister;
  double a[kRows][kMaxDepth], b[kMaxDepth][kColumns];
  for (unsigned lane = 0; lane < kLanes; ++lane)
    for (unsigned index = 0; index < width; ++index)
      for (unsigned step = 0; step < stepsOfK; ++step) {
        const unsigned k = step * 4 * width + lane % 4 * width + index;
        for (unsigned half = 0; half < 2; ++half)
          a[lane / 4 + half * 8][k] =
              Elements::read(warp.at<uint32_t>(instruction.reads[step * 2 + half])[lane], index);
        b[k][lane / 4] =
            Elements::read(warp.at<uint32_t>(instruction.reads[registersOfA + step])[lane], index);
      }
  std::array<std::array<uint32_t, kLanes>, 4> results = {};
  for (unsigned lane = 0; lane < kLanes; ++lane)
    for (unsigned element = 0; element < 4; ++element) {
      const unsigned row = lane / 4 + element / 2 * 8, column = lane % 4 * 2 + element % 2;
      const unsigned reg = element / Sums::inRegister, index = element % Sums::inRegister;
      double sum =
          Sums::read(warp.at<uint32_t>(instruction.reads[registersOfA + registersOfB + reg])[lane], index);
      for (unsigned k = 0; k < Depth; ++k)
        sum += a[row][k] * b[k][column];
      results[reg][lane] |= Sums::write(sum, index);
    }
  for (unsigned reg = 0; reg < registersOfC; ++reg)
    forLanes<uint32_t>(warp, instruction.writes[reg], [&](unsigned lane) { return results[reg][lane]; });
}

template <typename Elements, unsigned Depth> Handler multiplyingHandler(bool isHalfSum) {
  return isHalfSum ? multiply<Elements, HalfSums, Depth> : multiply<Elements, SingleSums, Depth>;
}

void readVector(Decoding &decoding, size_t index, size_t count, bool writes) {
  const Operand &operand = decoding.operand(index);
  const Type word = {Type::Kind::kBits, 32};
  const std::vector<Operand> elements =
      operand.kind == Operand::Kind::kVector ? operand.elements : std::vector{operand};
  if (elements.size() != count)
    decoding.fail("expected {} registers as operand {}, found {}", count, index + 1, elements.size());
  for (const Operand &element : elements)
    if (writes)
      decoding.writeOperand(element, word);
    else
      decoding.readOperand(element, word);
}

void takeAligned(Decoding &decoding) {
  if (!decoding.take("sync") || !decoding.take("aligned"))
    decoding.fail("expected .sync.aligned");
  decoding.instruction.flow = Flow::kCollective;
}

void decodeMultiply(Decoding &decoding) {
  takeAligned(decoding);
  const std::string_view shape = decoding.takeOneOf({"m16n8k16", "m16n8k8", "m16n8k4"});
  if (shape.empty() || !decoding.take("row") || !decoding.take("col"))
    decoding.fail("the emulator knows .m16n8k16, .m16n8k8 and .m16n8k4 with .row.col");
  const Type d = decoding.takeType(), a = decoding.takeType(), b = decoding.takeType(),
             c = decoding.takeType();
  const Type half = {Type::Kind::kFloat, 16}, single = {Type::Kind::kFloat, 32};
  const bool isWord = a.kind == Type::Kind::kTensorFloat, isBrain = a.kind == Type::Kind::kBrainFloat;
  const bool isHalfSum = d == half;
  const unsigned depth = shape == "m16n8k16" ? 16 : shape == "m16n8k8" ? 8 : 4;
  const bool isKnown = a == b && c == d && (isWord ? depth <= 8 : depth >= 8) &&
                       (a == half || isBrain || isWord) && (d == single || (isHalfSum && a == half));
  if (!isKnown)
    decoding.fail("the emulator knows no {} of {} and {} with sums of {} and {}", shape, a.name(), b.name(),
                  c.name(), d.name());
  const size_t stepsOfK = depth / (isWord ? 4 : 8), sums = isHalfSum ? 2 : 4;
  decoding.expectOperands(4, 4);
  readVector(decoding, 0, sums, /*writes=*/true);
  readVector(decoding, 1, stepsOfK * 2, /*writes=*/false);
  readVector(decoding, 2, stepsOfK, /*writes=*/false);
  readVector(decoding, 3, sums, /*writes=*/false);
  decoding.instruction.execute = isWord       ? depth == 8 ? multiplyingHandler<WordElements, 8>(false)
                                                           : multiplyingHandler<WordElements, 4>(false)
                                 : isBrain    ? depth == 8
                                                    ? multiplyingHandler<HalfElements<BrainFloat>, 8>(false)
                                                    : multiplyingHandler<HalfElements<BrainFloat>, 16>(false)
                                 : depth == 8 ? multiplyingHandler<HalfElements<HalfFloat>, 8>(isHalfSum)
                                              : multiplyingHandler<HalfElements<HalfFloat>, 16>(isHalfSum);
}

constexpr unsigned kRowBytes = 16; ///< eight 16-bit elements

/// The row of an 8-row matrix whose address a lane provides.
Place rowAt(const Instruction &instruction, Warp &warp, unsigned matrix, unsigned row, Access access) {
  const unsigned lane = matrix * 8 + row;
  return accessed(warp, lane, instruction.space, addressOf(instruction, warp, lane), kRowBytes, access);
}

/// Position of a lane's element in a matrix: the lane has two adjacent elements of a row, or of a column.
std::pair<unsigned, unsigned> placeOf(unsigned lane, unsigned index, bool isTransposed) {
  const unsigned along = lane % 4 * 2 + index, across = lane / 4;
  return isTransposed ? std::pair{along, across} : std::pair{across, along};
}

void loadMatrices(const Instruction &instruction, Warp &warp) {
  for (unsigned matrix = 0; matrix < instruction.writes.size(); ++matrix) {
    std::array<std::array<uint16_t, 8>, 8> rows;
    for (unsigned row = 0; row < 8; ++row) {
      const Place place = rowAt(instruction, warp, matrix, row, Access::kRead);
      if (!place.bytes)
        return;
      std::memcpy(rows[row].data(), place.bytes, kRowBytes);
    }
    forLanes<uint32_t>(warp, instruction.writes[matrix], [&](unsigned lane) {
      const auto element = [&](unsigned index) {
        const auto [row, column] = placeOf(lane, index, instruction.detail != 0);
        return uint32_t{rows[row][column]};
      };
      return element(0) | element(1) << 16;
    });
  }
}

void storeMatrices(const Instruction &instruction, Warp &warp) {
  for (unsigned matrix = 0; matrix + 1 < instruction.reads.size(); ++matrix) {
    std::array<std::array<uint16_t, 8>, 8> rows;
    const uint32_t *const values = warp.at<uint32_t>(instruction.reads[matrix + 1]);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      for (unsigned index = 0; index < 2; ++index) {
        const auto [row, column] = placeOf(lane, index, instruction.detail != 0);
        rows[row][column] = static_cast<uint16_t>(values[lane] >> index * 16);
      }
    for (unsigned row = 0; row < 8; ++row) {
      const Place place = rowAt(instruction, warp, matrix, row, Access::kWrite);
      if (!place.bytes)
        return;
      std::memcpy(place.bytes, rows[row].data(), kRowBytes);
    }
  }
}

template <bool Writes> void decodeFragments(Decoding &decoding) {
  takeAligned(decoding);
  if (!decoding.take("m8n8"))
    decoding.fail("the emulator knows .m8n8 alone");
  const std::string_view count = decoding.takeOneOf({"x1", "x2", "x4"});
  decoding.instruction.detail = decoding.take("trans");
  const bool isShared = decoding.take("shared") || decoding.take("shared::cta");
  decoding.instruction.space = isShared ? Space::kShared : Space::kGeneric;
  if (count.empty() || decoding.takeType() != Type{Type::Kind::kBits, 16})
    decoding.fail("expected .x1, .x2 or .x4, and .b16");
  const size_t matrices = count.empty() ? 1 : static_cast<size_t>(count[1] - '0');
  decoding.expectOperands(2, 2);
  decoding.readAddress(Writes ? 0 : 1);
  readVector(decoding, Writes ? 1 : 0, matrices, /*writes=*/!Writes);
  decoding.instruction.execute = Writes ? storeMatrices : loadMatrices;
}

} // namespace

void addMatrixDecoders(Decoders &decoders) {
  decoders["mma"] = decodeMultiply;
  decoders["ldmatrix"] = decodeFragments</*Writes=*/false>;
  decoders["stmatrix"] = decodeFragments</*Writes=*/true>;
}

} // namespace trainc::emulator
