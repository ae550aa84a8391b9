// Values of the plan dialect in the enums of the plan file. Both number their values alike, which a test
// checks by name.
#pragma once

#include "dialects/Plan/Plan.h"
#include "plan/schema/plan_generated.h"

namespace trainc {

inline fb::Space inSchema(plan::Space value) {
  static_assert(uint32_t(fb::Space::MAX) == plan::getMaxEnumValForSpace());
  return static_cast<fb::Space>(value);
}
inline fb::Role inSchema(plan::Role value) {
  static_assert(uint32_t(fb::Role::MAX) == plan::getMaxEnumValForRole());
  return static_cast<fb::Role>(value);
}
inline fb::Access inSchema(plan::Access value) {
  static_assert(uint32_t(fb::Access::MAX) == plan::getMaxEnumValForAccess());
  return static_cast<fb::Access>(value);
}
inline fb::KernelKind inSchema(plan::KernelKind value) {
  static_assert(uint32_t(fb::KernelKind::MAX) == plan::getMaxEnumValForKernelKind());
  return static_cast<fb::KernelKind>(value);
}
inline fb::Stream inSchema(plan::Stream value) {
  static_assert(uint32_t(fb::Stream::MAX) == plan::getMaxEnumValForStream());
  return static_cast<fb::Stream>(value);
}
inline fb::AttentionPass inSchema(plan::AttentionPass value) {
  static_assert(uint32_t(fb::AttentionPass::MAX) == plan::getMaxEnumValForAttentionPass());
  return static_cast<fb::AttentionPass>(value);
}
inline fb::Direction inSchema(ScalarDirection value) {
  static_assert(uint32_t(fb::Direction::MAX) == getMaxEnumValForScalarDirection());
  return static_cast<fb::Direction>(value);
}
inline fb::BatchExtent inSchema(BatchExtent value) {
  static_assert(uint32_t(fb::BatchExtent::MAX) == getMaxEnumValForBatchExtent());
  return static_cast<fb::BatchExtent>(value);
}
inline fb::CollectiveKind inSchema(CollectiveKind value) {
  static_assert(uint32_t(fb::CollectiveKind::MAX) == getMaxEnumValForCollectiveKind());
  return static_cast<fb::CollectiveKind>(value);
}
inline fb::Group inSchema(RankGroup value) {
  static_assert(uint32_t(fb::Group::MAX) == getMaxEnumValForRankGroup());
  return static_cast<fb::Group>(value);
}
inline fb::Activation inSchema(Activation value) {
  static_assert(uint32_t(fb::Activation::MAX) == getMaxEnumValForActivation());
  return static_cast<fb::Activation>(value);
}
inline fb::SideSum inSchema(SideSum value) {
  static_assert(uint32_t(fb::SideSum::MAX) == getMaxEnumValForSideSum());
  return static_cast<fb::SideSum>(value);
}

/// Returns the schema's element type. Plans must support the type.
fb::DType inSchema(mlir::Type element);

} // namespace trainc
