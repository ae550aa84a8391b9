#include "runtime/data/formats/columns.h"

#include "base/non_finite.h"
#include "base/small_float.h"
#include "plan/facts/dtype.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>

namespace trainc {

uint64_t ColumnSpec::elements() const {
  return std::accumulate(shape.begin(), shape.end(), uint64_t{1}, std::multiplies<>());
}

uint64_t ColumnSpec::bytes() const { return elements() * elementBytes(dtype); }

ColumnSpec columnSpec(const fb::Input &input) {
  ColumnSpec spec;
  spec.name = input.column()->str();
  spec.dtype = input.dtype();
  for (flatbuffers::uoffset_t i = 1; i < input.shape()->size(); ++i)
    spec.shape.push_back(input.shape()->Get(i));
  spec.limit = input.limit();
  spec.ignore = input.ignore();
  spec.pads = input.pads();
  return spec;
}

std::vector<ColumnSpec> distinctColumns(const std::vector<const fb::Input *> &inputs) {
  std::vector<ColumnSpec> columns;
  for (const fb::Input *input : inputs)
    if (ColumnSpec spec = columnSpec(*input); std::ranges::find(columns, spec) == columns.end())
      columns.push_back(std::move(spec));
  return columns;
}

namespace {

template <typename T> T load(const std::byte *address) {
  T value;
  std::memcpy(&value, address, sizeof(T));
  return value;
}

/// Represents values of u64 beyond i64; no column allows it.
constexpr int64_t kTooLarge = std::numeric_limits<int64_t>::max();

template <typename T> int64_t widen(T value) {
  if constexpr (std::is_same_v<T, uint64_t>)
    if (value > static_cast<uint64_t>(kTooLarge))
      return kTooLarge;
  return static_cast<int64_t>(value);
}

template <typename From, typename To>
size_t convertIntegers(const std::byte *source, size_t count, std::byte *destination,
                       const IntegerBounds &bounds) {
  bool good = true; // no early exit, so that the loop vectorises
  for (size_t i = 0; i < count; ++i) {
    const int64_t value = widen(load<From>(source + i * sizeof(From)));
    const To narrow = static_cast<To>(value);
    std::memcpy(destination + i * sizeof(To), &narrow, sizeof(To));
    good &= bounds.allows(value);
  }
  if (good)
    return count;
  size_t bad = 0;
  while (bounds.allows(widen(load<From>(source + bad * sizeof(From)))))
    ++bad;
  return bad;
}

template <typename From, typename To>
size_t convertFloats(const std::byte *source, size_t count, std::byte *destination, const IntegerBounds &) {
  for (size_t i = 0; i < count; ++i) {
    const To value = static_cast<To>(load<From>(source + i * sizeof(From)));
    std::memcpy(destination + i * sizeof(To), &value, sizeof(To));
  }
  return count;
}

template <size_t Bytes>
size_t copyElements(const std::byte *source, size_t count, std::byte *destination, const IntegerBounds &) {
  std::memcpy(destination, source, count * Bytes);
  return count;
}

template <typename From> ConvertElements integerConversion(fb::DType to) {
  switch (to) {
  case fb::DType::I32:
    return convertIntegers<From, int32_t>;
  case fb::DType::I64:
    return convertIntegers<From, int64_t>;
  case fb::DType::U8:
    return convertIntegers<From, uint8_t>;
  case fb::DType::U32:
    return convertIntegers<From, uint32_t>;
  case fb::DType::U64:
    return convertIntegers<From, uint64_t>;
  default:
    return nullptr;
  }
}

template <typename From> ConvertElements floatConversion(fb::DType to) {
  switch (to) {
  case fb::DType::F32:
    return convertFloats<From, float>;
  case fb::DType::F64:
    return convertFloats<From, double>;
  default:
    return nullptr;
  }
}

template <typename T> void fillWith(int64_t value, size_t count, std::byte *destination) {
  const T narrow = static_cast<T>(value);
  for (size_t i = 0; i < count; ++i)
    std::memcpy(destination + i * sizeof(T), &narrow, sizeof(T));
}

int64_t largest(fb::DType dtype) {
  switch (dtype) {
  case fb::DType::U8:
    return std::numeric_limits<uint8_t>::max();
  case fb::DType::I32:
    return std::numeric_limits<int32_t>::max();
  case fb::DType::U32:
    return std::numeric_limits<uint32_t>::max();
  default:
    return kTooLarge - 1;
  }
}

int64_t smallest(fb::DType dtype) {
  switch (dtype) {
  case fb::DType::I32:
    return std::numeric_limits<int32_t>::min();
  case fb::DType::I64:
    return std::numeric_limits<int64_t>::min();
  default:
    return 0;
  }
}

} // namespace

IntegerBounds integerBounds(const ColumnSpec &spec) {
  IntegerBounds bounds{smallest(spec.dtype), largest(spec.dtype), spec.ignore, false};
  if (spec.limit == 0)
    return bounds;
  bounds.lower = 0;
  if (spec.limit - 1 < static_cast<uint64_t>(bounds.upper))
    bounds.upper = static_cast<int64_t>(spec.limit - 1);
  const bool isFurtherValue = spec.ignore < bounds.lower || spec.ignore > bounds.upper;
  bounds.ignores = isFurtherValue && spec.name != "tokens" && spec.ignore >= smallest(spec.dtype) &&
                   spec.ignore <= largest(spec.dtype);
  return bounds;
}

ConvertElements findConversion(SafetensorsDType from, fb::DType to) {
  switch (from) {
  case SafetensorsDType::kU8:
  case SafetensorsDType::kBool:
    return integerConversion<uint8_t>(to);
  case SafetensorsDType::kI8:
    return integerConversion<int8_t>(to);
  case SafetensorsDType::kU16:
    return integerConversion<uint16_t>(to);
  case SafetensorsDType::kI16:
    return integerConversion<int16_t>(to);
  case SafetensorsDType::kU32:
    return integerConversion<uint32_t>(to);
  case SafetensorsDType::kI32:
    return integerConversion<int32_t>(to);
  case SafetensorsDType::kU64:
    return integerConversion<uint64_t>(to);
  case SafetensorsDType::kI64:
    return integerConversion<int64_t>(to);
  case SafetensorsDType::kF64:
    return floatConversion<double>(to);
  case SafetensorsDType::kF32:
    return floatConversion<float>(to);
  case SafetensorsDType::kBF16:
    return to == fb::DType::BF16 ? copyElements<2> : floatConversion<BFloat16>(to);
  case SafetensorsDType::kF16:
    return to == fb::DType::F16 ? copyElements<2> : floatConversion<Float16>(to);
  case SafetensorsDType::kF8E4M3:
  case SafetensorsDType::kF8E5M2:
    return nullptr;
  }
  return nullptr;
}

void fillIntegers(int64_t value, size_t count, fb::DType to, std::byte *destination) {
  switch (elementBytes(to)) {
  case 1:
    return fillWith<int8_t>(value, count, destination);
  case 4:
    return fillWith<int32_t>(value, count, destination);
  default:
    return fillWith<int64_t>(value, count, destination);
  }
}

std::string integerText(SafetensorsDType from, const std::byte *source) {
  if (from == SafetensorsDType::kU64)
    return fmt::to_string(load<uint64_t>(source));
  int64_t value = 0;
  const IntegerBounds any{std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max(), 0, false};
  findConversion(from, fb::DType::I64)(source, 1, reinterpret_cast<std::byte *>(&value), any);
  return fmt::to_string(value);
}

std::string floatText(SafetensorsDType from, const std::byte *source) {
  double value = 0;
  findConversion(from, fb::DType::F64)(source, 1, reinterpret_cast<std::byte *>(&value), {});
  return std::isnan(value) ? "nan" : fmt::to_string(value);
}

std::optional<size_t> findNonFinite(fb::DType dtype, std::span<const std::byte> row) {
  switch (dtype) {
  case fb::DType::F32:
    return firstNonFinite<float>(row);
  case fb::DType::F64:
    return firstNonFinite<double>(row);
  case fb::DType::F16:
    return firstNonFinite<Float16>(row);
  case fb::DType::BF16:
    return firstNonFinite<BFloat16>(row);
  default:
    return std::nullopt;
  }
}

bool isInteger(fb::DType dtype) { return integerConversion<int32_t>(dtype) != nullptr; }

} // namespace trainc
