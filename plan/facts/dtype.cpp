#include "plan/facts/dtype.h"

namespace trainc {

/// Name of `value` in a table with one name per value of its enum, or "unknown".
template <typename Enum, size_t count>
static const char *nameOf(const char *const (&names)[count], Enum value) {
  static_assert(count == static_cast<size_t>(Enum::MAX) + 1, "each value has a name");
  return value <= Enum::MAX ? names[static_cast<size_t>(value)] : "unknown";
}

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
  return nameOf(names, dtype);
}

const char *roleName(fb::Role role) {
  static constexpr const char *names[] = {"parameter", "gradient", "optimizer", "activation",
                                          "workspace", "input",    "cache"};
  return nameOf(names, role);
}

const char *kernelKindName(fb::KernelKind kind) {
  static constexpr const char *names[] = {"rows", "copy", "scatter", "attention", "gemm", "rank_sum"};
  return nameOf(names, kind);
}

} // namespace trainc
