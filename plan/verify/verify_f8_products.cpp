// Additional requirements of tensor cores and cuBLASLt on matrix products of fp8 factors.
#include "plan/facts/dtype.h"
#include "plan/facts/library_calls.h"
#include "plan/schema/enum_words.h"
#include "plan/verify/verify.h"

#include <utility>

namespace trainc::verify {

namespace {

constexpr const char *kName = "matrix product";

/// Alignment of k and n, and of row and matrix strides, in elements; of loop strides, in bytes.
constexpr uint64_t kF8Alignment = 16;

Status types(const fb::MatrixProduct &call) {
  using enum fb::DType;
  const fb::DType a = call.factors(), b = factorsOfB(call);
  if (!isF8(a) || !isF8(b) || (a == F8E5M2 && b == F8E5M2))
    return invalidInput(
        "{}: expected factors of f8E4M3FN, or one of f8E4M3FN and one of f8E5M2, found {} and {}", kName,
        dtypeName(a), dtypeName(b));
  if ((call.product() != F32 && call.product() != BF16) || call.sum() != F32)
    return invalidInput(
        "{}: expected of factors of {} and {} a result of f32 or bf16 and sums of f32, found {} and {}",
        kName, dtypeName(a), dtypeName(b), dtypeName(call.product()), dtypeName(call.sum()));
  if (call.tf32())
    return invalidInput("{}: expected factors of f32 to round to TF32, found {}", kName, dtypeName(a));
  return {};
}

Status layout(const fb::MatrixProduct &call) {
  if (call.transpose_a() || !call.transpose_b())
    return invalidInput("{}: expected fp8 factors with a as it is and b transposed, found a {}, b {}", kName,
                        call.transpose_a() ? "transposed" : "as it is",
                        call.transpose_b() ? "transposed" : "as it is");
  const std::pair<const char *, uint64_t> sizes[] = {{"n", call.n()},
                                                     {"k", call.k()},
                                                     {"row_a", call.row_a()},
                                                     {"row_b", call.row_b()},
                                                     {"row_result", call.row_result()},
                                                     {"matrix_a", call.matrix_a()},
                                                     {"matrix_b", call.matrix_b()},
                                                     {"matrix_result", call.matrix_result()}};
  for (const auto &[name, size] : sizes)
    if (size % kF8Alignment != 0)
      return invalidInput("{}: expected {} of fp8 factors in multiples of {} elements, found {}", kName, name,
                          kF8Alignment, size);
  for (const fb::Operand *each : {call.a(), call.b(), call.result()})
    if (each && each->loop_stride() % int64_t{kF8Alignment} != 0)
      return invalidInput("{}: expected iterations of fp8 factors in multiples of {} bytes apart, found {}",
                          kName, kF8Alignment, each->loop_stride());
  return {};
}

/// Rejects epilogues: their support in cuBLASLt differs between GPUs, and the next kernel reads the result
/// anyway.
Status steps(const fb::MatrixProduct &call) {
  if (!call.bias() && call.activation() == fb::Activation::None && call.side_sum() == fb::SideSum::None)
    return {};
  return invalidInput("{}: expected no bias, activation and side sums with fp8 factors, found {}, {} and {}",
                      kName, call.bias() ? "a bias" : "none", wordOf(call.activation()),
                      wordOf(call.side_sum()));
}

} // namespace

Status f8Product(const fb::MatrixProduct &call, const TargetTraits &target) {
  if (!target.librariesTakeShort)
    return invalidInput("{}: expected factors of f32 on a {}, found {} and {}, which GPUs multiply", kName,
                        target.processor(), dtypeName(call.factors()), dtypeName(factorsOfB(call)));
  TRAINC_RETURN_IF_ERROR(types(call));
  TRAINC_RETURN_IF_ERROR(layout(call));
  return steps(call);
}

} // namespace trainc::verify
