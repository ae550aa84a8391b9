// Search space: the open settings of a program as dimensions, each with its values in order.
#pragma once

#include "lib/Planner/Evaluate.h"
#include "plan/facts/offload_kinds.h"
#include "plan/settings/settings.h"

#include <array>

namespace trainc {

/// Dimensions of the space. Along each but the first, every next value takes fewer bytes and at least as many
/// seconds as the one before, except that recomputation may save time if activations are copied. In the order
/// of strategies, those that differ only in kRecomputation are adjacent.
enum Dimension : size_t {
  kSharding,      ///< how states are sharded: ZeRO stage, and groups of ranks
  kMicroBatches,  ///< the largest micro-batch first
  kStates,        ///< offloaded states: the first N of kOffloadStates
  kActivations,   ///< offloaded activations: none, those whose copies are hidden, or all
  kRecomputation, ///< checkpointing levels
  kDimensions
};

/// One value of each dimension, by its index in SearchSpace::values.
struct Strategy : std::array<size_t, kDimensions> {
  Strategy with(Dimension dimension, size_t value) const {
    Strategy changed = *this;
    changed[dimension] = value;
    return changed;
  }
  /// Returns the strategy with the first level of recomputation and otherwise equal values.
  Strategy unrecomputed() const { return with(kRecomputation, 0); }
};

/// Values of all dimensions. A dimension without open settings has one value without settings.
struct SearchSpace {
  struct Value {
    Settings settings;
    /// Whether the value shards states within groups of ranks. It saves less memory than the value before it,
    /// which shards over larger groups, so it is of use only if the states of the value before fit.
    bool isPart = false;
    /// Whether parameters can be gathered ahead, so that a last level without that exists.
    bool gathersAhead = true;
  };
  std::array<std::vector<Value>, kDimensions> values;
  /// Whether the last level of recomputation equals the one before it, but gathers no parameters ahead.
  bool lastGathersNothing = false;
  bool copiesAnyway = false;            ///< whether the given settings offload tensors
  bool copiesActivationsAnyway = false; ///< whether the given settings offload activations

  SearchSpace();
  size_t size(Dimension dimension) const { return values[dimension].size(); }
  /// Whether there is more than one strategy.
  bool hasChoice() const;
  /// Whether a step of the strategy copies offloaded tensors.
  bool copies(const Strategy &strategy) const;
  bool isPart(const Strategy &strategy) const { return values[kSharding][strategy[kSharding]].isPart; }
  /// Returns the index of the strategy's last level, the one with the most recomputation.
  size_t lastLevel(const Strategy &strategy) const;
  /// Returns all settings of a strategy. If several dimensions set one setting, commas join its values.
  Settings settingsOf(const Strategy &strategy) const;
};

/// Returns each of `ways` with each of `values` appended. All `values` are of one setting.
std::vector<Settings> combine(const std::vector<Settings> &ways, llvm::ArrayRef<train::GivenSetting> values);

} // namespace trainc
