// Sizes and names of the schema's element types.
#pragma once

#include "plan/schema/plan_generated.h"

#include <cstdint>

namespace trainc {

/// Bytes of one element.
uint64_t elementBytes(fb::DType dtype);

/// Whether it is a floating-point type of one byte.
bool isF8(fb::DType dtype);

/// "f32", "i64", ...: as MLIR and safetensors headers of the project spell them in messages.
const char *dtypeName(fb::DType dtype);

} // namespace trainc
