#include "runtime/data/formats/token_width.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <set>
#include <vector>

namespace trainc {

namespace {

/// Halves are numbers of 16 bits. Groups of them are larger numbers, at most of 64 bits.
constexpr size_t kHalves = 4;
/// Minimum numbers of 64 bits: fewer prove nothing.
constexpr size_t kMinGroups = 32;
/// Maximum upper half of an id of 32 bits: no vocabulary has a million ids.
constexpr uint16_t kMaxUpperHalf = 15;
/// Upper half of a small negative number.
constexpr uint16_t kNegative = 0xffff;
/// Minimum different numbers: fewer may be tokens of 16 bits that alternate with others.
constexpr size_t kMinDifferent = 16;
/// Minimum different numbers where zeros between them tell their width: a file of one number may be padding.
constexpr size_t kMinDifferentAmongZeros = 2;
/// Minimum lowest halves other than 0 of numbers of 64 bits, and half the minimum of 32 bits: as many tokens
/// of 16 bits are at such offsets by chance with a probability of 2^-32.
constexpr size_t kMinTokens = 16;

constexpr std::string_view kIfWhole = "if its numbers are whole, ";
constexpr std::string_view kTakeOut = "tokens are not negative: take such numbers out, and ";

constexpr OtherNumbers kUint8 = {"uint8", {}, {}, true}, kUint16 = {"uint16", {}, {}, true},
                       kUint32 = {"uint32", {}, {}, true}, kInt64 = {"int64", "int64"};
constexpr OtherNumbers kNegative32 = {"int32 with negative numbers", "int32", kTakeOut},
                       kNegative64 = {"int64 with negative numbers", "int64", kTakeOut};
constexpr OtherNumbers kBigUint16 = {"uint16 in big-endian order, or text in UTF-16", ">u2"};
constexpr OtherNumbers kFloat16 = {"float16", "float16", kIfWhole}, kBFloat16 = {"bfloat16"};

/// Bits of floats of common magnitudes, without the sign, in their highest half.
struct FloatFormat {
  size_t halves;
  uint16_t min, max;
  OtherNumbers numbers, bigEndian;
};
/// From 2^-32 to 2^32.
constexpr std::array<FloatFormat, 2> kFloats = {
    {{4, 0x3df0, 0x41ff, {"float64", "float64", kIfWhole}, {"float64 in big-endian order", ">f8", kIfWhole}},
     {2,
      0x2f80,
      0x4fff,
      {"float32", "float32", kIfWhole},
      {"float32 in big-endian order", ">f4", kIfWhole}}}};

/// Evidence of what numbers a file holds, from the first of them.
class NumberEvidence {
public:
  explicit NumberEvidence(std::vector<uint16_t> halves) : halves_(std::move(halves)) {}

  /// The same bytes in reverse, of which big-endian numbers are little-endian ones.
  NumberEvidence reversed() const {
    std::vector<uint16_t> halves(halves_.rbegin(), halves_.rend());
    for (uint16_t &half : halves)
      half = static_cast<uint16_t>(half << 8 | half >> 8);
    return NumberEvidence(std::move(halves));
  }

  bool isShort() const { return halves_.size() < kMinGroups * kHalves; }

  /// Upper halves are small or those of a few negative numbers, and at least `minDifferent` lower ones
  /// differ. Upper halves other than 0 may be tokens of 16 bits, too: ids of 32 bits have all upper halves
  /// from 0 to their maximum, and many lower ones.
  std::optional<OtherNumbers> find32Bits(size_t minDifferent) const {
    size_t negative = 0;
    std::set<uint16_t> upper;
    for (size_t i = 1; i < halves_.size(); i += 2) {
      if (halves_[i] > kMaxUpperHalf && halves_[i] != kNegative)
        return std::nullopt;
      if (halves_[i] == kNegative)
        ++negative;
      else
        upper.insert(halves_[i]);
    }
    if (upper.empty() || *upper.rbegin() + size_t{1} != upper.size() || !hasTokensAt(2) ||
        differentLowerHalves(2) < (upper.size() == 1 ? minDifferent : kMinDifferent * kMaxUpperHalf))
      return std::nullopt;
    return chosen(kUint32, kNegative32, negative, halves_.size() / 2);
  }

  std::optional<OtherNumbers> find64Bits(size_t minDifferent) const {
    size_t negative = 0;
    for (size_t i = 0; i < halves_.size(); i += kHalves) {
      const bool isNegative = std::ranges::all_of(std::span(halves_).subspan(i + 1, kHalves - 1),
                                                  [](uint16_t half) { return half == kNegative; });
      if (!isNegative && (halves_[i + 1] > kMaxUpperHalf || halves_[i + 2] != 0 || halves_[i + 3] != 0))
        return std::nullopt;
      negative += isNegative;
    }
    if (!hasTokensAt(kHalves) || differentLowerHalves(kHalves) < minDifferent)
      return std::nullopt;
    return chosen(kInt64, kNegative64, negative, halves_.size() / kHalves);
  }

  /// Whether all halves are ids of the vocabulary, but some numbers of 32 bits are not. A vocabulary of all
  /// numbers of 16 bits tells nothing.
  bool fitsOnly16Bits(uint64_t vocabulary) const {
    return vocabulary != 0 && vocabulary <= UINT16_MAX && areBelow(vocabulary) &&
           idsOf32BitsBeyond(vocabulary) > 0;
  }

  /// Whether nearly all highest halves are those of floats of common magnitudes or of 0, and the lowest ones
  /// are either spread as those of fractions are, or end in zeros as those of small whole numbers do.
  bool hasFloats(const FloatFormat &format) const {
    const size_t groups = halves_.size() / format.halves;
    size_t zeros = 0, outliers = 0, round = 0, low = 0, high = 0;
    std::set<std::pair<uint16_t, uint16_t>> different;
    for (size_t i = 0; i < halves_.size(); i += format.halves) {
      const std::span<const uint16_t> rest = std::span(halves_).subspan(i, format.halves - 1);
      const uint16_t top = halves_[i + format.halves - 1], magnitude = top & 0x7fff;
      const bool isZero =
          magnitude == 0 && std::ranges::all_of(rest, [](uint16_t half) { return half == 0; });
      zeros += isZero;
      if (isZero)
        continue;
      outliers += magnitude < format.min || magnitude > format.max;
      round += rest.front() % 64 == 0;
      low += rest.front() < 0x4000;
      high += rest.front() >= 0xc000;
      different.emplace(top, format.halves == 2 ? rest.front() : rest.back());
    }
    const size_t others = groups - zeros;
    return others >= kMinGroups && outliers <= others / 64 && different.size() >= kMinDifferent &&
           (round == others || std::min(low, high) >= others / 8);
  }

  /// Whether nearly all halves are floats of 16 bits of common magnitudes, about half of them negative. A
  /// file of tokens has most of its ids below these.
  bool hasSmallFloats(uint16_t min, uint16_t max) const {
    size_t outliers = 0, negative = 0;
    std::set<uint16_t> different;
    for (const uint16_t half : halves_) {
      const uint16_t magnitude = half & 0x7fff;
      outliers += magnitude < min || magnitude > max;
      negative += half >= 0x8000;
      different.insert(half);
    }
    return outliers <= halves_.size() / 16 && different.size() >= 4 * kMinDifferent &&
           std::min(negative, halves_.size() - negative) >= halves_.size() / 8 * 3;
  }

  /// Whether the halves are floats of 16 bits, of `bits` bits of mantissa, that are uniform from 0 to 1,
  /// whose bits are `one`: nearly all are above 2^-7, half above 1/2, and a quarter from 1/4 to 1/2.
  bool hasFractions(uint16_t one, int bits) const {
    const int octave = 1 << bits;
    size_t outliers = 0, top = 0, next = 0;
    std::set<uint16_t> different;
    for (const uint16_t half : halves_) {
      outliers += half < one - 7 * octave || half > one;
      top += half >= one - octave;
      next += half >= one - 2 * octave && half < one - octave;
      different.insert(half);
    }
    const auto isAbout = [&](size_t count, size_t expected) {
      return count >= expected / 4 * 3 && count <= expected / 4 * 5;
    };
    return outliers <= halves_.size() / 32 && isAbout(top, halves_.size() / 2) &&
           isAbout(next, halves_.size() / 4) && different.size() >= 4 * kMinDifferent;
  }

  /// Many ids of 32 bits are beyond the vocabulary, which holds all of 16 bits.
  bool has16Bits(uint64_t vocabulary) const {
    return vocabulary != 0 && areBelow(vocabulary) && idsOf32BitsBeyond(vocabulary) > halves_.size() / 4;
  }

  /// All low bytes are 0, high ones differ.
  bool hasBig16Bits() const {
    return std::ranges::all_of(halves_, [](uint16_t half) { return (half & 0xff) == 0; }) &&
           differentLowerHalves(1) >= kMinDifferent;
  }

  /// Whether low bytes are as small as high bytes of frequent tokens are: tokenizers give these the first
  /// ids.
  bool hasSwapped16Bits() const {
    constexpr int kMaxHighByte = 3;
    const std::vector<uint16_t> varied = withoutMostFrequent();
    size_t low = 0, high = 0;
    for (const uint16_t half : varied) {
      low += (half & 0xff) <= kMaxHighByte;
      high += half >> 8 <= kMaxHighByte;
    }
    return hasManyDifferent(varied) && low >= varied.size() / 4 && low >= 4 * high;
  }

  /// Whether even and odd bytes have the same frequencies, which are far from uniform: each byte is a number.
  bool hasSameEvenAndOddBytes() const {
    constexpr size_t kMinCount = 4096;
    constexpr double kMaxDistance = 0.1, kMinSquares = 2.0 / 256;
    const std::vector<uint16_t> varied = withoutMostFrequent();
    if (varied.size() < kMinCount || !hasManyDifferent(varied))
      return false;
    std::array<double, 256> even = {}, odd = {};
    for (const uint16_t half : varied) {
      even[half & 0xff] += 1.0 / static_cast<double>(varied.size());
      odd[half >> 8] += 1.0 / static_cast<double>(varied.size());
    }
    double distance = 0, squares = 0;
    for (size_t byte = 0; byte < even.size(); ++byte) {
      distance += std::abs(even[byte] - odd[byte]) / 2;
      squares += even[byte] * even[byte];
    }
    return distance < kMaxDistance && squares >= kMinSquares;
  }

  /// Whether nearly all halves are characters of ASCII that texts have.
  bool hasAscii() const {
    const auto isInText = [](uint16_t half) {
      return (half >= 0x20 && half < 0x7f) || half == '\t' || half == '\n' || half == '\r';
    };
    return static_cast<size_t>(std::ranges::count_if(halves_, isInText)) >= halves_.size() / 16 * 15;
  }

  /// Most ids of 16 bits are beyond the vocabulary, which holds all bytes of the file. A vocabulary of 256
  /// holds those of any file.
  bool has8Bits(uint64_t vocabulary) const {
    if (vocabulary >= 256)
      return false;
    size_t beyond = 0;
    for (const uint16_t half : halves_) {
      if (std::max<uint64_t>(half & 0xff, half >> 8) >= vocabulary)
        return false;
      beyond += half >= vocabulary;
    }
    return beyond > halves_.size() / 2;
  }

private:
  /// The halves without the most frequent one, which may be padding.
  std::vector<uint16_t> withoutMostFrequent() const {
    std::vector<size_t> counts(size_t{UINT16_MAX} + 1);
    for (const uint16_t half : halves_)
      ++counts[half];
    const auto mostFrequent = static_cast<uint16_t>(std::ranges::max_element(counts) - counts.begin());
    std::vector<uint16_t> others = halves_;
    std::erase(others, mostFrequent);
    return others;
  }

  static bool hasManyDifferent(const std::vector<uint16_t> &halves) {
    return std::set(halves.begin(), halves.end()).size() >= 4 * kMinDifferent;
  }

  bool areBelow(uint64_t vocabulary) const {
    return std::ranges::all_of(halves_, [&](uint16_t half) { return half < vocabulary; });
  }

  size_t idsOf32BitsBeyond(uint64_t vocabulary) const {
    size_t beyond = 0;
    for (size_t i = 0; i < halves_.size(); i += 2)
      beyond += (uint64_t{halves_[i + 1]} << 16 | halves_[i]) >= vocabulary;
    return beyond;
  }

  /// Whether so many lowest halves of numbers of `stride` halves are not 0 that they are at such offsets not
  /// by chance.
  bool hasTokensAt(size_t stride) const {
    size_t count = 0;
    for (size_t i = 0; i < halves_.size(); i += stride)
      count += halves_[i] != 0;
    return count >= kMinTokens * kHalves / stride;
  }

  /// The number of different values among every `stride`-th half.
  size_t differentLowerHalves(size_t stride) const {
    std::set<uint16_t> lower;
    for (size_t i = 0; i < halves_.size(); i += stride)
      lower.insert(halves_[i]);
    return lower.size();
  }

  static std::optional<OtherNumbers> chosen(const OtherNumbers &plain, const OtherNumbers &signedOnes,
                                            size_t negative, size_t count) {
    if (negative > count / 4)
      return std::nullopt;
    return negative == 0 ? plain : signedOnes;
  }

  std::vector<uint16_t> halves_; ///< a multiple of kHalves
};

std::optional<OtherNumbers> inBigEndianOrder(const NumberEvidence &evidence) {
  if (evidence.find64Bits(kMinDifferent))
    return OtherNumbers{"int64 in big-endian order", ">i8"};
  for (const FloatFormat &format : kFloats)
    if (evidence.hasFloats(format))
      return format.bigEndian;
  return evidence.find32Bits(kMinDifferent) ? std::optional(OtherNumbers{"uint32 in big-endian order", ">u4"})
                                            : std::nullopt;
}

std::optional<OtherNumbers> insteadOf16Bits(const NumberEvidence &evidence, uint64_t vocabulary) {
  if (const std::optional<OtherNumbers> found = evidence.find32Bits(kMinDifferentAmongZeros);
      found && !evidence.fitsOnly16Bits(vocabulary))
    return found;
  if (const std::optional<OtherNumbers> found = inBigEndianOrder(evidence.reversed()))
    return found;
  if (evidence.hasBig16Bits())
    return kBigUint16;
  // From 2^-16 to 2^8, whose bits float16 has for other numbers.
  if (evidence.hasSmallFloats(0x3780, 0x437f) || evidence.hasFractions(0x3f80, 7))
    return kBFloat16;
  // From 2^-10 to 2^6.
  if (evidence.hasSmallFloats(0x1400, 0x53ff) || evidence.hasFractions(0x3c00, 10))
    return kFloat16;
  if (evidence.hasSwapped16Bits())
    return kBigUint16;
  return evidence.has8Bits(vocabulary) || evidence.hasSameEvenAndOddBytes() ? std::optional(kUint8)
                                                                            : std::nullopt;
}

/// The first numbers of 16 bits, in groups of 64 bits.
NumberEvidence evidenceOf(std::span<const std::byte> head) {
  std::vector<uint16_t> halves(head.size() / sizeof(uint64_t) * kHalves);
  if (!halves.empty())
    std::memcpy(halves.data(), head.data(), halves.size() * sizeof(uint16_t));
  return NumberEvidence(std::move(halves));
}

} // namespace

std::optional<OtherNumbers> findOtherNumbers(std::span<const std::byte> head, SafetensorsDType dtype,
                                             uint64_t vocabulary) {
  const NumberEvidence evidence = evidenceOf(head);
  if (evidence.isShort() || (dtype != SafetensorsDType::kU16 && dtype != SafetensorsDType::kU32))
    return std::nullopt;
  if (const std::optional<OtherNumbers> found = evidence.find64Bits(kMinDifferentAmongZeros))
    return found;
  for (const FloatFormat &format : kFloats)
    if (evidence.hasFloats(format))
      return format.numbers;
  if (dtype == SafetensorsDType::kU16)
    return insteadOf16Bits(evidence, vocabulary);
  if (const std::optional<OtherNumbers> found = inBigEndianOrder(evidence.reversed()))
    return found;
  return evidence.has16Bits(vocabulary) ? std::optional(kUint16) : std::nullopt;
}

bool mayBeUtf16(std::span<const std::byte> head, uint64_t vocabulary) {
  constexpr uint64_t kMaxVocabularyOfCharacters = 1024;
  const NumberEvidence evidence = evidenceOf(head);
  return vocabulary > kMaxVocabularyOfCharacters && !evidence.isShort() && evidence.hasAscii();
}

} // namespace trainc
