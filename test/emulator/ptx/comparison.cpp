// Comparisons and selections.
#include "test/emulator/ptx/float_values.h"

#include <utility>

namespace trainc::emulator {

namespace {

/// Outcomes of a comparison of two values; a comparison operator is a set of them.
enum Outcome : unsigned { kLess = 1, kEqual = 2, kGreater = 4, kUnordered = 8 };

/// The set of a comparison operator; 0 if unknown. Integers have no unordered operators.
unsigned takeComparison(Decoding &decoding) {
  static constexpr std::pair<std::string_view, unsigned> comparisons[] = {
      {"eq", kEqual},
      {"ne", kLess | kGreater},
      {"lt", kLess},
      {"le", kLess | kEqual},
      {"gt", kGreater},
      {"ge", kGreater | kEqual},
      {"lo", kLess},
      {"ls", kLess | kEqual},
      {"hi", kGreater},
      {"hs", kGreater | kEqual},
      {"equ", kEqual | kUnordered},
      {"neu", kLess | kGreater | kUnordered},
      {"ltu", kLess | kUnordered},
      {"leu", kLess | kEqual | kUnordered},
      {"gtu", kGreater | kUnordered},
      {"geu", kGreater | kEqual | kUnordered},
      {"num", kLess | kEqual | kGreater},
      {"nan", kUnordered},
  };
  for (const auto &[name, outcomes] : comparisons)
    if (decoding.take(name))
      return outcomes;
  decoding.fail("expected a comparison, such as .lt");
  return 0;
}

// Flags in `detail` of comparison instructions, above the outcomes.
constexpr unsigned kAnd = 16, kOr = 32, kXor = 64, kNegates = 128, kFlushes = 256;

/// The lanes for which one of the outcomes holds.
template <typename Side> uint32_t compare(uint64_t detail, Side a, Side b) {
  const uint32_t less = lanesWhere([&](unsigned lane) { return a(lane) < b(lane); });
  const uint32_t equal = lanesWhere([&](unsigned lane) { return a(lane) == b(lane); });
  const uint32_t greater = lanesWhere([&](unsigned lane) { return a(lane) > b(lane); });
  return ((detail & kLess) != 0 ? less : 0) | ((detail & kEqual) != 0 ? equal : 0) |
         ((detail & kGreater) != 0 ? greater : 0) |
         ((detail & kUnordered) != 0 ? ~(less | equal | greater) : 0);
}

struct Plain {
  template <typename T> static T of(T value) { return value; }
};
struct Flushing {
  static float of(float value) { return flushed(value); }
};
template <typename Value> struct Widening {
  static double of(uint16_t bits) { return Value::widen(bits); }
};

template <typename T, typename Number> uint32_t compareRegisters(const Instruction &instruction, Warp &warp) {
  const T *const at[] = {warp.at<T>(instruction.reads[0]), warp.at<T>(instruction.reads[1])};
  const auto side = [](const T *values) {
    return [values](unsigned lane) { return Number::of(values[lane]); };
  };
  return compare(instruction.detail, side(at[0]), side(at[1]));
}

/// The predicate combined with another one, if there is one.
uint32_t combined(const Instruction &instruction, Warp &warp, uint32_t mask) {
  if (instruction.reads.size() < 3)
    return mask;
  uint32_t with = *warp.at<uint32_t>(instruction.reads[2]);
  with = (instruction.detail & kNegates) != 0 ? ~with : with;
  return (instruction.detail & kAnd) != 0  ? mask & with
         : (instruction.detail & kOr) != 0 ? mask | with
                                           : mask ^ with;
}

using Compare = uint32_t (*)(const Instruction &, Warp &);

template <Compare Compared> void setPredicates(const Instruction &instruction, Warp &warp) {
  const uint32_t mask = Compared(instruction, warp);
  const uint32_t first = combined(instruction, warp, mask), second = combined(instruction, warp, ~mask);
  setPredicate(warp, instruction.writes[0], first);
  if (instruction.writes.size() > 1)
    setPredicate(warp, instruction.writes[1], second);
}

/// Writes all ones, or 1.0, for lanes where the comparison holds.
template <Compare Compared> void setValues(const Instruction &instruction, Warp &warp) {
  const uint32_t mask = combined(instruction, warp, Compared(instruction, warp));
  const auto holds = static_cast<uint32_t>(instruction.detail >> 32);
  forLanes<uint32_t>(warp, instruction.writes[0],
                     [&](unsigned lane) { return (mask >> lane & 1) != 0 ? holds : 0; });
}

/// Writes one predicate per half.
template <typename Value> void setPackedPredicates(const Instruction &instruction, Warp &warp) {
  const uint32_t *const at[] = {warp.at<uint32_t>(instruction.reads[0]),
                                warp.at<uint32_t>(instruction.reads[1])};
  for (unsigned half = 0; half < 2; ++half) {
    const auto side = [half](const uint32_t *values) {
      return [values, half](unsigned lane) {
        return Value::widen(static_cast<uint16_t>(values[lane] >> half * 16));
      };
    };
    const uint32_t mask = compare(instruction.detail, side(at[0]), side(at[1]));
    setPredicate(warp, instruction.writes[half], combined(instruction, warp, mask));
  }
}

template <template <Compare> class Handle> Handler comparingHandler(Type type, bool flushes) {
  if (type.kind == Type::Kind::kBrainFloat)
    return Handle<compareRegisters<uint16_t, Widening<BrainFloat>>>::run;
  if (type.isFloat())
    return type.bits == 16   ? Handle<compareRegisters<uint16_t, Widening<HalfFloat>>>::run
           : type.bits == 64 ? Handle<compareRegisters<double, Plain>>::run
           : flushes         ? Handle<compareRegisters<float, Flushing>>::run
                             : Handle<compareRegisters<float, Plain>>::run;
  if (type.isSigned())
    return type.bits == 16   ? Handle<compareRegisters<int16_t, Plain>>::run
           : type.bits == 32 ? Handle<compareRegisters<int32_t, Plain>>::run
                             : Handle<compareRegisters<int64_t, Plain>>::run;
  return type.bits == 16   ? Handle<compareRegisters<uint16_t, Plain>>::run
         : type.bits == 32 ? Handle<compareRegisters<uint32_t, Plain>>::run
                           : Handle<compareRegisters<uint64_t, Plain>>::run;
}
template <Compare Compared> struct Predicates {
  static constexpr Handler run = setPredicates<Compared>;
};
template <Compare Compared> struct Values {
  static constexpr Handler run = setValues<Compared>;
};

/// Decodes the comparison, and the operation that combines its result.
uint64_t takeComparisonModifiers(Decoding &decoding) {
  uint64_t detail = takeComparison(decoding);
  detail |= decoding.take("and") ? kAnd : decoding.take("or") ? kOr : decoding.take("xor") ? kXor : 0;
  return detail | (decoding.take("ftz") ? kFlushes : 0);
}

void readCompared(Decoding &decoding, Type type, uint64_t &detail) {
  const bool isCombined = (detail & (kAnd | kOr | kXor)) != 0;
  decoding.expectOperands(isCombined ? 4 : 3, isCombined ? 4 : 3);
  decoding.read(1, type);
  decoding.read(2, type);
  if (isCombined && decoding.readPredicate(3))
    detail |= kNegates;
}

void decodeSetPredicate(Decoding &decoding) {
  uint64_t detail = takeComparisonModifiers(decoding);
  const Type type = decoding.takeType();
  decoding.writePair(0, {Type::Kind::kPredicate, 1});
  readCompared(decoding, type, detail);
  decoding.instruction.detail = detail;
  if (type.count == 2 && decoding.instruction.writes.size() != 2)
    decoding.fail("expected p|q for the two halves of {}", type.name());
  decoding.instruction.execute = type.count == 1
                                     ? comparingHandler<Predicates>(type, (detail & kFlushes) != 0)
                                 : type.kind == Type::Kind::kFloat ? setPackedPredicates<HalfFloat>
                                                                   : setPackedPredicates<BrainFloat>;
}

void decodeSet(Decoding &decoding) {
  uint64_t detail = takeComparisonModifiers(decoding);
  const Type result = decoding.takeType(), type = decoding.takeType();
  if (result.width() != 32 || result.count != 1 || type.count != 1)
    decoding.fail("the emulator knows results of 32 bits alone");
  decoding.write(0, result);
  readCompared(decoding, type, detail);
  decoding.instruction.detail = detail | uint64_t{result.isFloat() ? 0x3f800000U : ~0U} << 32;
  decoding.instruction.execute = comparingHandler<Values>(type, (detail & kFlushes) != 0);
}

template <typename T> void select(const Instruction &instruction, Warp &warp) {
  const T *const a = warp.at<T>(instruction.reads[0]), *const b = warp.at<T>(instruction.reads[1]);
  const uint32_t mask = *warp.at<uint32_t>(instruction.reads[2]);
  forLanes<T>(warp, instruction.writes[0],
              [&](unsigned lane) { return (mask >> lane & 1) != 0 ? a[lane] : b[lane]; });
}

void decodeSelect(Decoding &decoding) {
  const Type type = decoding.takeType();
  decoding.expectOperands(4, 4);
  decoding.write(0, type);
  decoding.read(1, type);
  decoding.read(2, type);
  decoding.read(3, {Type::Kind::kPredicate, 1});
  decoding.instruction.execute = type.bits == 16   ? select<uint16_t>
                                 : type.bits == 32 ? select<uint32_t>
                                                   : select<uint64_t>;
}

/// Selects the first operand where the third is nonnegative.
template <typename T, typename By> void selectBySign(const Instruction &instruction, Warp &warp) {
  const T *const a = warp.at<T>(instruction.reads[0]), *const b = warp.at<T>(instruction.reads[1]);
  const By *const by = warp.at<By>(instruction.reads[2]);
  forLanes<T>(warp, instruction.writes[0], [&](unsigned lane) { return by[lane] >= 0 ? a[lane] : b[lane]; });
}

void decodeSelectBySign(Decoding &decoding) {
  const Type type = decoding.takeType(), by = decoding.takeType();
  decoding.expectOperands(4, 4);
  decoding.write(0, type);
  decoding.read(1, type);
  decoding.read(2, type);
  decoding.read(3, by);
  if (by.isFloat())
    decoding.instruction.execute = type.bits == 16   ? selectBySign<uint16_t, float>
                                   : type.bits == 32 ? selectBySign<uint32_t, float>
                                                     : selectBySign<uint64_t, float>;
  else
    decoding.instruction.execute = type.bits == 16   ? selectBySign<uint16_t, int32_t>
                                   : type.bits == 32 ? selectBySign<uint32_t, int32_t>
                                                     : selectBySign<uint64_t, int32_t>;
}

} // namespace

void addComparisonDecoders(Decoders &decoders) {
  decoders["setp"] = decodeSetPredicate;
  decoders["set"] = decodeSet;
  decoders["selp"] = decodeSelect;
  decoders["slct"] = decodeSelectBySign;
}

} // namespace trainc::emulator
