// Types of the numbers that a plan exchanges with the host, for the compiler and the verifier.
#pragma once

#include "plan/schema/plan_generated.h"

#include <iterator>

namespace trainc {

/// Type of a scalar, and who writes it.
struct ScalarTraits {
  fb::DType dtype;
  fb::Direction direction;
};

/// Traits of all scalars, in the order of fb::HostScalar.
inline constexpr ScalarTraits kScalarTraits[] = {
    {fb::DType::F32, fb::Direction::ToDevice},   // lr
    {fb::DType::I64, fb::Direction::ToDevice},   // seed
    {fb::DType::I64, fb::Direction::ToDevice},   // step
    {fb::DType::I64, fb::Direction::ToDevice},   // micro
    {fb::DType::I32, fb::Direction::ToDevice},   // position
    {fb::DType::I32, fb::Direction::ToDevice},   // slot
    {fb::DType::F32, fb::Direction::FromDevice}, // loss
    {fb::DType::F32, fb::Direction::FromDevice}, // grad_norm
    {fb::DType::F32, fb::Direction::FromDevice}, // finite
    {fb::DType::F32, fb::Direction::FromDevice}, // targets
    {fb::DType::F32, fb::Direction::FromDevice}, // eval_loss
    {fb::DType::F32, fb::Direction::FromDevice}, // eval_targets
    {fb::DType::F32, fb::Direction::FromDevice}, // step_loss_scale
    {fb::DType::F32, fb::Direction::FromDevice}, // overflow
};
static_assert(std::size(kScalarTraits) == static_cast<size_t>(fb::HostScalar::MAX) + 1);

} // namespace trainc
