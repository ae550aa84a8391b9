// Values of the dialects' enums and element types in the schema of plan files.
#pragma once

#include "dialects/Plan/Plan.h"
#include "plan/schema/plan_generated.h"

#include <type_traits>

namespace trainc {

/// A dialect's enum, and the schema's enum from whose cases it is made, so that both have equal values.
template <typename Own, typename Schema> struct EnumPair {
  static Schema inSchema(Own value) { return static_cast<Schema>(value); }
};

template <typename... Pairs> struct EnumPairs : Pairs... {
  using Pairs::inSchema...;
};

/// The only list of such pairs; a test compares their words.
using SchemaEnums =
    EnumPairs<EnumPair<plan::Space, fb::Space>, EnumPair<plan::Role, fb::Role>,
              EnumPair<plan::Access, fb::Access>, EnumPair<plan::KernelKind, fb::KernelKind>,
              EnumPair<plan::Stream, fb::Stream>, EnumPair<plan::AttentionPass, fb::AttentionPass>,
              EnumPair<ScalarDirection, fb::Direction>, EnumPair<BatchExtent, fb::BatchExtent>,
              EnumPair<CollectiveKind, fb::CollectiveKind>, EnumPair<Activation, fb::Activation>,
              EnumPair<SideSum, fb::SideSum>>;

template <typename Enum>
  requires std::is_enum_v<Enum>
auto inSchema(Enum value) {
  return SchemaEnums::inSchema(value);
}

/// Returns the schema's element type. Plans must support the type.
fb::DType inSchema(mlir::Type element);

} // namespace trainc
