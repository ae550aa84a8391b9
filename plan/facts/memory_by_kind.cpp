#include "plan/facts/memory_by_kind.h"

namespace trainc {

static int64_t BytesByKind::*kindOf(fb::Role role) {
  switch (role) {
  case fb::Role::Parameter:
    return &BytesByKind::parameters;
  case fb::Role::Gradient:
    return &BytesByKind::gradients;
  case fb::Role::Optimizer:
    return &BytesByKind::optimizer;
  default:
    return &BytesByKind::workspace;
  }
}

BytesByKind memoryByKind(const fb::Plan &plan, fb::Space space) {
  BytesByKind bytes;
  for (const fb::Arena *arena : *plan.arenas())
    if (arena->space() == space)
      (arena->persistent() ? bytes.workspace : bytes.activations) += int64_t(arena->bytes());
  for (const fb::Buffer *buffer : *plan.buffers()) {
    const fb::Arena &arena = *plan.arenas()->Get(buffer->arena());
    if (arena.space() != space || !arena.persistent())
      continue;
    bytes.workspace -= int64_t(buffer->bytes());
    bytes.*kindOf(buffer->role()) += int64_t(buffer->bytes());
  }
  return bytes;
}

BytesByKind memoryByKind(const fb::Plan &plan) {
  BytesByKind bytes = memoryByKind(plan, fb::Space::Device);
  const BytesByKind host = memoryByKind(plan, fb::Space::Host);
  for (const MemoryKind &kind : kMemoryKinds)
    bytes.*kind.bytes += host.*kind.bytes;
  return bytes;
}

} // namespace trainc
