#include "runtime/state/float_rounding.h"

#include "base/non_finite.h"
#include "base/units.h"

#include <cmath>
#include <cstring>

namespace trainc {

namespace {

template <typename To> To nearest(double value) { return To::nearest(value); }
template <> float nearest(double value) { return static_cast<float>(value); }

/// Through double, which represents all source values exactly, so there is a single rounding.
template <typename From, typename To>
std::optional<BadElement> roundAll(std::span<const std::byte> source, std::byte *destination) {
  for (size_t i = 0; i < source.size() / sizeof(From); ++i) {
    From from;
    std::memcpy(&from, source.data() + i * sizeof(From), sizeof(From));
    const auto value = static_cast<double>(from);
    const To to = nearest<To>(value);
    std::memcpy(destination + i * sizeof(To), &to, sizeof(To));
    if (std::isinf(static_cast<float>(to)) && !std::isinf(value))
      return BadElement{i, value};
  }
  return std::nullopt;
}

template <typename From>
std::optional<BadElement> roundFrom(std::span<const std::byte> source, SafetensorsDType to,
                                    std::byte *destination) {
  if (to == SafetensorsDType::kBF16)
    return roundAll<From, BFloat16>(source, destination);
  if (to == SafetensorsDType::kF16)
    return roundAll<From, Float16>(source, destination);
  return roundAll<From, float>(source, destination);
}

template <typename Number> std::optional<BadElement> findIn(std::span<const std::byte> elements) {
  const std::optional<size_t> index = firstNonFinite<Number>(elements);
  if (!index)
    return std::nullopt;
  Number number;
  std::memcpy(&number, elements.data() + *index * sizeof(Number), sizeof(Number));
  return BadElement{*index, withoutNanSign(static_cast<double>(number))};
}

} // namespace

std::optional<BadElement> findNonFinite(SafetensorsDType dtype, std::span<const std::byte> elements) {
  switch (dtype) {
  case SafetensorsDType::kF64:
    return findIn<double>(elements);
  case SafetensorsDType::kF32:
    return findIn<float>(elements);
  case SafetensorsDType::kF16:
    return findIn<Float16>(elements);
  case SafetensorsDType::kBF16:
    return findIn<BFloat16>(elements);
  case SafetensorsDType::kF8E4M3:
    return findIn<Float8E4M3>(elements);
  case SafetensorsDType::kF8E5M2:
    return findIn<Float8E5M2>(elements);
  default:
    return std::nullopt;
  }
}

bool isRoundable(SafetensorsDType dtype) {
  return dtype == SafetensorsDType::kF64 || dtype == SafetensorsDType::kF32 ||
         dtype == SafetensorsDType::kF16 || dtype == SafetensorsDType::kBF16;
}

bool isRoundingTarget(SafetensorsDType dtype) {
  return dtype == SafetensorsDType::kF32 || dtype == SafetensorsDType::kF16 ||
         dtype == SafetensorsDType::kBF16;
}

double largestFinite(SafetensorsDType dtype) {
  if (dtype == SafetensorsDType::kF16)
    return 0x1.ffcp15;
  return dtype == SafetensorsDType::kBF16 ? 0x1.fep127 : 0x1.fffffep127;
}

std::optional<BadElement> roundElements(SafetensorsDType from, std::span<const std::byte> source,
                                        SafetensorsDType to, std::byte *destination) {
  switch (from) {
  case SafetensorsDType::kF64:
    return roundFrom<double>(source, to, destination);
  case SafetensorsDType::kBF16:
    return roundFrom<BFloat16>(source, to, destination);
  case SafetensorsDType::kF16:
    return roundFrom<Float16>(source, to, destination);
  default:
    return roundFrom<float>(source, to, destination);
  }
}

std::optional<std::string> describeNonFinite(const StateTensor &parameter, uint64_t begin,
                                             std::span<const std::byte> piece) {
  const std::optional<SafetensorsDType> dtype = dtypeNamed(fb::EnumNameDType(parameter.dtype));
  const std::optional<BadElement> found = dtype ? findNonFinite(*dtype, piece) : std::nullopt;
  if (!found)
    return std::nullopt;
  return fmt::format("parameter '{}' holds {} in element {}", parameter.name, found->value,
                     begin / elementBytes(*dtype) + found->element);
}

} // namespace trainc
