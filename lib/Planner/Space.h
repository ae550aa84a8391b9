// Search space: the open settings of a program as dimensions, each with its values in order.
#pragma once

#include "lib/Planner/Evaluate.h"
#include "plan/facts/offload_kinds.h"
#include "plan/settings/settings.h"

#include <array>

namespace trainc {

/// Dimensions of the space. Along each but the first, every next value takes fewer bytes and at least as many
/// seconds as the one before, except that recomputation may save time if activations are copied. Strategies
/// that differ only in `recomputation` are neighbours in the order of strategies.
enum Dimension : size_t {
  kSharding,      ///< of states: ZeRO stage, and groups of ranks
  kMicroBatches,  ///< the largest micro-batch first
  kStates,        ///< offloaded states: the first N of kOffloadStates
  kActivations,   ///< offloaded activations: none, those whose copies are hidden, or all
  kRecomputation, ///< checkpointing levels
  kDimensions
};

/// One value of each dimension, by its number.
struct Strategy : std::array<size_t, kDimensions> {
  Strategy with(Dimension dimension, size_t value) const {
    Strategy changed = *this;
    changed[dimension] = value;
    return changed;
  }
  /// The first level of recomputation, of the strategy with otherwise equal values.
  Strategy unrecomputed() const { return with(kRecomputation, 0); }
};

/// A dimension without open settings has one value without settings.
struct SearchSpace {
  struct Value {
    Settings settings;
    /// Whether the value saves less than the one before it, so that it is of use only if that one's states
    /// fit: groups of ranks, after larger groups.
    bool isPart = false;
    /// Whether parameters can be gathered ahead, so that the last level of recomputation exists.
    bool gathersAhead = true;
  };
  std::array<std::vector<Value>, kDimensions> values;
  /// Whether the last level of recomputation is the one before it without gathering ahead.
  bool lastGathersNothing = false;
  bool copiesAnyway = false;            ///< whether offloading was given
  bool copiesActivationsAnyway = false; ///< whether the given offloading includes activations

  SearchSpace();
  size_t size(Dimension dimension) const { return values[dimension].size(); }
  /// Whether there is more than one strategy.
  bool hasChoice() const;
  /// Whether a step of the strategy copies offloaded tensors.
  bool copies(const Strategy &strategy) const;
  bool isPart(const Strategy &strategy) const { return values[kSharding][strategy[kSharding]].isPart; }
  /// Number of the strategy's level with the most recomputation.
  size_t lastLevel(const Strategy &strategy) const;
  /// All settings of a strategy. Values of one setting from several dimensions are listed with commas.
  Settings settingsOf(const Strategy &strategy) const;
};

/// Returns each of `ways` combined with each of `values`, which are values of one setting.
std::vector<Settings> combine(const std::vector<Settings> &ways, llvm::ArrayRef<train::GivenSetting> values);

} // namespace trainc
