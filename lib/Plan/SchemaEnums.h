// Values of the dialects' enums and element types in the schema of plan files.
#pragma once

#include "dialects/Plan/Plan.h"
#include "plan/schema/plan_generated.h"

#include <type_traits>

namespace trainc {

/// The schema's enum from whose cases a dialect's enum is made, so that both have equal values.
template <typename Enum> struct SchemaEnum;
template <> struct SchemaEnum<plan::Space> : std::type_identity<fb::Space> {};
template <> struct SchemaEnum<plan::Role> : std::type_identity<fb::Role> {};
template <> struct SchemaEnum<plan::Access> : std::type_identity<fb::Access> {};
template <> struct SchemaEnum<plan::KernelKind> : std::type_identity<fb::KernelKind> {};
template <> struct SchemaEnum<plan::Stream> : std::type_identity<fb::Stream> {};
template <> struct SchemaEnum<plan::AttentionPass> : std::type_identity<fb::AttentionPass> {};
template <> struct SchemaEnum<ScalarDirection> : std::type_identity<fb::Direction> {};
template <> struct SchemaEnum<BatchExtent> : std::type_identity<fb::BatchExtent> {};
template <> struct SchemaEnum<CollectiveKind> : std::type_identity<fb::CollectiveKind> {};
template <> struct SchemaEnum<Activation> : std::type_identity<fb::Activation> {};
template <> struct SchemaEnum<SideSum> : std::type_identity<fb::SideSum> {};

template <typename Enum> typename SchemaEnum<Enum>::type inSchema(Enum value) {
  return static_cast<typename SchemaEnum<Enum>::type>(value);
}

/// Returns the schema's element type. Plans must support the type.
fb::DType inSchema(mlir::Type element);

} // namespace trainc
