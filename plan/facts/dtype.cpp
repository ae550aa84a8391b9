#include "plan/facts/dtype.h"

#include <iterator>

namespace trainc {

uint64_t elementBytes(fb::DType dtype) {
  switch (dtype) {
  case fb::DType::U8:
  case fb::DType::F8E4M3:
  case fb::DType::F8E5M2:
    return 1;
  case fb::DType::BF16:
  case fb::DType::F16:
    return 2;
  case fb::DType::F32:
  case fb::DType::I32:
  case fb::DType::U32:
    return 4;
  case fb::DType::F64:
  case fb::DType::I64:
  case fb::DType::U64:
    return 8;
  }
  return 1;
}

bool isF8(fb::DType dtype) { return dtype == fb::DType::F8E4M3 || dtype == fb::DType::F8E5M2; }

const char *dtypeName(fb::DType dtype) {
  static constexpr const char *names[] = {"f32", "f64",  "i32", "i64",      "u8",    "u32",
                                          "u64", "bf16", "f16", "f8E4M3FN", "f8E5M2"};
  static_assert(std::size(names) == static_cast<size_t>(fb::DType::MAX) + 1, "each value has a name");
  return dtype <= fb::DType::MAX ? names[static_cast<size_t>(dtype)] : "unknown";
}

} // namespace trainc
