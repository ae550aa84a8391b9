// Execution of a product on the device.
#pragma once

#include "test/emulator/libcublaslt/problem.h"

#include <optional>
#include <string>

namespace trainc::emulator {

/// Device addresses of a product's matrices; those of bias and auxiliary matrix are in the operation.
struct Addresses {
  uint64_t a, b, c, d;
};

/// D = epilogue(alpha op(A) op(B) + beta C), in f32, each sum in depth order. Fails if memory is not live, or
/// if a byte that it reads was never written.
std::optional<std::string> multiply(const Problem &problem, const Addresses &addresses, float alpha,
                                    float beta);

} // namespace trainc::emulator
