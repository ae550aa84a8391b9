// Kinds of tensors that can be offloaded, and how often a training step copies them.
#pragma once

#include "plan/facts/memory_by_kind.h"
#include "plan/settings/settings.h"

#include <span>

namespace trainc {

/// Number of copies of each byte per step.
struct CopiesPerStep {
  uint64_t fetches, stores;
};

struct OffloadKind {
  train::Offloaded kind;
  fb::Role role;
  int64_t BytesByKind::*bytes;
  /// Copies in a step of that many micro-batches.
  CopiesPerStep (*copies)(uint64_t microBatches);
};

/// States, then activations. Kinds of states that are fetched more often per step come later. The update
/// fetches the optimizer's moments. Gradients begin as zeros, and are read for their norm and by the update.
/// Forward, backward and update read parameters.
inline constexpr OffloadKind kOffloadKinds[] = {
    {train::Offloaded::optimizer, fb::Role::Optimizer, &BytesByKind::optimizer,
     [](uint64_t) { return CopiesPerStep{1, 1}; }},
    {train::Offloaded::gradients, fb::Role::Gradient, &BytesByKind::gradients,
     [](uint64_t microBatches) { return CopiesPerStep{microBatches + 2, microBatches + 1}; }},
    {train::Offloaded::parameters, fb::Role::Parameter, &BytesByKind::parameters,
     [](uint64_t microBatches) { return CopiesPerStep{2 * microBatches + 1, 1}; }},
    {train::Offloaded::activations, fb::Role::Activation, &BytesByKind::activations,
     [](uint64_t microBatches) { return CopiesPerStep{microBatches, microBatches}; }}};

/// Kinds of states.
inline constexpr std::span<const OffloadKind> kOffloadStates = std::span(kOffloadKinds).first(3);

} // namespace trainc
