// The parts of the semantic verifier; each assumes that the parts before it have passed. Internal to
// runtime/plan.
#pragma once

#include "runtime/base/status.h"
#include "runtime/plan/view.h"
#include "runtime/schema/plain_text.h"
#include "runtime/schema/plan_generated.h"

#include <string_view>

namespace trainc::verify {

/// Elements of an operand at most, so that its bytes are counted without overflow.
inline constexpr uint64_t kMaximumElements = uint64_t{1} << 46;

/// Arenas and buffers.
Status memory(const fb::Plan &plan);
/// Kernels and objects.
Status code(const fb::Plan &plan);
/// Every instruction of every entry by itself.
Status instructions(const fb::Plan &plan);
/// The arguments of a checked launch against each other.
Status argumentsApart(const fb::Plan &plan, const fb::Launch &launch, uint64_t iterations);
/// The operands of a checked library call against each other.
Status operandsApart(const fb::Plan &plan, const fb::Instruction &call, uint64_t iterations);
/// A library call's element types, sizes, and which operands it has.
Status librarySizes(const fb::Plan &plan, const fb::Instruction &call);
/// Whether a plan is for GPUs of NVIDIA's.
bool isForCuda(const fb::Plan &plan);
/// A collective by itself.
Status collective(const fb::Plan &plan, const fb::Collective &collective);
/// Streams beside each other; see verify_order.cpp.
Status order(const fb::Plan &plan);
/// What is read against what was written before; see verify_flow.cpp. Entries' inputs have passed.
Status flow(const fb::Plan &plan);
/// Copies of states outside the device's memory; see verify_spaces.cpp.
Status spaces(const fb::Plan &plan);
/// Where copies between spaces lead against what buffers say; see verify_places.cpp.
Status places(const fb::Plan &plan);
/// Entries' names and inputs.
Status entries(const fb::Plan &plan);
/// Scalars, training, generation, exports.
Status interface(const fb::Plan &plan);
/// States.
Status states(const fb::Plan &plan);

/// An error with the instruction's place and source before it; other statuses as they are.
Status located(const fb::Plan &plan, const fb::Entry &entry, std::string_view index,
               const fb::Instruction &instruction, Status status);
/// "3.1": instruction 1 of the loop that is instruction 3.
inline std::string loopIndex(uint32_t loop, uint32_t index) { return fmt::format("{}.{}", loop, index); }

/// Refuses names that are empty, not UTF-8 or hold control characters: messages and files will quote them.
Status name(std::string_view name, std::string_view what);

/// The tensor of `elements` and `dtype` in plan.buffers[index]: the index, the dtype and the size.
Status tensorBuffer(const fb::Plan &plan, uint32_t index, fb::DType dtype, uint64_t elements,
                    std::string_view what);

/// A matrix product one of whose factors is of one byte: types, layout, and what is done to the sums. Its
/// sizes and whether it has its operands are checked as of all products.
Status f8Product(const fb::MatrixProduct &call, bool isForCuda);

/// That plan.buffers[buffer], which exists, lies in the persistent arena.
Status persistent(const fb::Plan &plan, uint32_t buffer, std::string_view what);

/// Whether a vector of 8-byte elements lies on an 8-byte border; FlatBuffers' verifier checks only its length
/// field.
bool isAligned(const void *data);

/// Product of the dimensions; 0 when one is zero, the product exceeds 2^48, or the vector is misaligned.
uint64_t elements(const flatbuffers::Vector<uint64_t> &shape);

/// A sum or product of unsigned or signed 64-bit numbers that remembers overflow.
inline bool add(int64_t a, int64_t b, int64_t &sum) { return !__builtin_add_overflow(a, b, &sum); }
inline bool multiply(int64_t a, int64_t b, int64_t &product) {
  return !__builtin_mul_overflow(a, b, &product);
}

} // namespace trainc::verify
