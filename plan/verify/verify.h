// Parts of the semantic verifier; each assumes that the earlier parts have passed. Internal to plan/verify.
#pragma once

#include "base/plain_text.h"
#include "base/status.h"
#include "plan/facts/mesh.h"
#include "plan/facts/target.h"
#include "plan/schema/plan_generated.h"

#include <string_view>

namespace trainc::facts {}

namespace trainc::verify {

using namespace facts;

/// Maximum elements of an operand, so that its bytes are counted without overflow.
inline constexpr uint64_t kMaxElements = uint64_t{1} << 46;

/// Checks arenas and buffers.
Status memory(const fb::Plan &plan);
/// Checks kernels and objects.
Status code(const fb::Plan &plan);
/// Checks each instruction of each entry on its own.
Status instructions(const fb::Plan &plan);
/// Checks that the arguments of a checked launch do not overlap.
Status argumentsApart(const fb::Plan &plan, const fb::Launch &launch, uint64_t iterations);
/// Checks that the operands of a checked library call do not overlap.
Status operandsApart(const fb::Plan &plan, const fb::Instruction &call, uint64_t iterations);
/// Checks a library call's element types, sizes, and the presence of operands.
Status librarySizes(const fb::Plan &plan, const fb::Instruction &call);
/// Checks that there is at least one axis, and that the mesh has all of `axes`. `what` is for messages.
Status axes(const fb::Plan &plan, Axes axes, std::string_view what);
/// Checks a collective on its own.
Status collective(const fb::Plan &plan, const fb::Collective &collective);
/// Checks the ordering between streams; see verify_order.cpp.
Status order(const fb::Plan &plan);
/// Checks reads against earlier writes; see verify_flow.cpp. Assumes checked entry inputs.
Status flow(const fb::Plan &plan);
/// Checks copies of offloaded states; see verify_spaces.cpp.
Status spaces(const fb::Plan &plan);
/// Checks copies between spaces against the locations in buffers; see verify_places.cpp.
Status places(const fb::Plan &plan);
/// Checks entries' names and inputs.
Status entries(const fb::Plan &plan);
/// Checks scalars, training, generation, exports.
Status interface(const fb::Plan &plan);
/// Checks states.
Status states(const fb::Plan &plan);

/// Prefixes an error with the instruction and its source op; returns any other status unchanged.
Status located(const fb::Plan &plan, const fb::Entry &entry, std::string_view index,
               const fb::Instruction &instruction, Status status);
/// "3.1": instruction 1 of the loop that is instruction 3.
inline std::string loopIndex(uint32_t loop, uint32_t index) { return fmt::format("{}.{}", loop, index); }

/// Fails if a name is empty, not UTF-8 or contains control or invisible characters, because messages and
/// files quote names.
Status name(std::string_view name, std::string_view what);

/// Checks that plan.buffers[index] exists and holds a tensor of `elements` and `dtype`.
Status tensorBuffer(const fb::Plan &plan, uint32_t index, fb::DType dtype, uint64_t elements,
                    std::string_view what);

/// Checks a matrix product with an fp8 factor: types, layout, and epilogue. Sizes and the presence of
/// operands are checked as for all products.
Status f8Product(const fb::MatrixProduct &call, const TargetTraits &target);

/// Checks that plan.buffers[buffer], which exists, is in the persistent arena.
Status persistent(const fb::Plan &plan, uint32_t buffer, std::string_view what);

/// Whether a vector of 8-byte elements is aligned to 8 bytes; FlatBuffers' verifier checks the alignment of
/// its length field only.
bool isAligned(const void *data);

/// Product of the dimensions; 0 if a dimension is 0, if the product exceeds 2^48, or if the vector is
/// misaligned.
uint64_t elements(const flatbuffers::Vector<uint64_t> &shape);

} // namespace trainc::verify
