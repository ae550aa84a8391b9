// Numbers of bf16, f16 and fp8 in the operands of library calls.
#pragma once

#include "base/float8.h"
#include "base/small_float.h"
#include "plan/facts/dtype.h"
#include "test/unit/runtime/device/one_call.h"

namespace trainc::test {

inline uint16_t shortBits(fb::DType dtype, float value) {
  return dtype == fb::DType::BF16     ? BFloat16::nearest(value).bits
         : dtype == fb::DType::F8E4M3 ? Float8E4M3::nearest(value).bits
         : dtype == fb::DType::F8E5M2 ? Float8E5M2::nearest(value).bits
                                      : Float16::nearest(value).bits;
}
inline float wideOf(fb::DType dtype, uint16_t bits) {
  const auto byte = static_cast<uint8_t>(bits);
  return dtype == fb::DType::BF16     ? static_cast<float>(BFloat16{bits})
         : dtype == fb::DType::F8E4M3 ? static_cast<float>(Float8E4M3{byte})
         : dtype == fb::DType::F8E5M2 ? static_cast<float>(Float8E5M2{byte})
                                      : static_cast<float>(Float16{bits});
}

/// One operand's numbers as a type has them.
inline Numbers roundedTo(fb::DType dtype, Numbers numbers) {
  if (dtype != fb::DType::F32)
    for (float &each : numbers)
      each = wideOf(dtype, shortBits(dtype, each));
  return numbers;
}

inline std::unique_ptr<fb::Operand> holdAs(OneCall &call, fb::DType dtype, const Numbers &numbers) {
  if (dtype == fb::DType::F32)
    return call.hold(numbers);
  if (isF8(dtype)) {
    std::vector<uint8_t> bytes;
    for (const float each : numbers)
      bytes.push_back(static_cast<uint8_t>(shortBits(dtype, each)));
    return call.hold(bytes);
  }
  std::vector<uint16_t> halves;
  for (const float each : numbers)
    halves.push_back(shortBits(dtype, each));
  return call.hold(halves);
}

/// Content of a buffer of `count` elements.
inline Numbers readAs(const OneCall &call, fb::DType dtype, uint32_t buffer, size_t count) {
  if (dtype == fb::DType::F32)
    return call.read(buffer);
  std::vector<uint16_t> halves(count);
  const Numbers raw = call.read(buffer);
  std::memcpy(halves.data(), raw.data(), std::min(count * sizeof(uint16_t), raw.size() * sizeof(float)));
  Numbers numbers;
  for (const uint16_t each : halves)
    numbers.push_back(wideOf(dtype, each));
  return numbers;
}

} // namespace trainc::test
