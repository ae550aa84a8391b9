// Search space under a memory limit: for each open setting, the values to choose among.
#pragma once

#include "lib/Pipelines/Strategies.h"

namespace trainc {

/// A point of the search space before recomputation: the sharding of states and the micro-batches (as numbers
/// of choices), and what is offloaded.
struct Cell {
  size_t division = 0, split = 0,
         offload = 0;     ///< offload is the number of kinds in kOffloadKinds that are offloaded
  size_t activations = 0; ///< activations are offloaded as kActivationWords says
  auto operator<=>(const Cell &) const = default;
};

/// Kinds of states that can be offloaded, in this order. Kinds that are fetched more often per step come
/// later.
struct OffloadKind {
  llvm::StringLiteral word;
  int64_t BytesByKind::*bytes;
};
inline constexpr OffloadKind kOffloadKinds[] = {{"optimizer", &BytesByKind::optimizer},
                                                {"gradients", &BytesByKind::gradients},
                                                {"parameters", &BytesByKind::parameters}};

/// Offloaded activations: none, those whose copies are hidden, or all.
inline constexpr llvm::StringLiteral kActivationWords[] = {"", "hidden_activations", "activations"};

/// Open settings of a program (phase `model`).
struct Choices {
  explicit Choices(train::ProgramOp program);

  /// Fills `levels`: with `blocks`, which are checkpointLevels(), if the program may recompute, else with one
  /// level without settings. Settings that were given are removed.
  void addLevels(const std::vector<TriedSettings> &blocks);

  /// Whether there is more than one strategy.
  bool any() const { return mayOffload || divisions.size() * splits.size() * levels.size() > 1; }
  /// Whether states are sharded within groups of ranks, while an earlier choice shards them over all ranks.
  bool isGroup(size_t division) const;
  /// Whether a step of the strategy copies offloaded tensors.
  bool copies(Cell cell) const { return copiesAnyway || cell.offload > 0 || cell.activations > 0; }
  /// All settings that a strategy decides, before activation checkpointing.
  TriedSettings decided(Cell cell) const;
  /// The settings of a strategy about offloading.
  TriedSettings offloaded(Cell cell) const;

  std::vector<TriedSettings> divisions; ///< for each ZeRO stage: all ranks, then ever smaller groups
  std::vector<TriedSettings> splits;    ///< the largest micro-batches first
  std::vector<TriedSettings> levels;    ///< the least recomputation first
  bool mayOffload;                      ///< whether offloading is open
  bool mayRecompute;                    ///< whether activation checkpointing is open
  bool mayChooseKept, mayChooseRest;    ///< whether checkpoint_keep and checkpoint_rest are open
  bool copiesAnyway;                    ///< whether offloading was given
  bool copiesActivationsAnyway;         ///< whether the given offloading includes activations
  bool mayGatherLate; ///< whether there is one more level, the last, that gathers no parameters ahead

private:
  bool mayChoose(const train::GivenSetting &ofBlocks) const;
};

} // namespace trainc
