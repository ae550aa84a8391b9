// What a memory limit leaves open: for each question the answers to choose among.
#pragma once

#include "lib/Pipelines/Strategies.h"

namespace trainc {

/// How ranks divide states, into which micro-batches a step is cut (numbers of choices), and what is
/// offloaded.
struct Cell {
  size_t division = 0, split = 0, offload = 0; ///< offload: so many of kOffloadKinds
  size_t activations = 0;                      ///< go outside as kActivationWords says
  auto operator<=>(const Cell &) const = default;
};

/// States that may go outside the device's memory, in this order: a kind goes after those before it. What is
/// fetched more often in a step comes later.
struct OffloadKind {
  llvm::StringLiteral word;
  int64_t BytesByKind::*bytes;
};
inline constexpr OffloadKind kOffloadKinds[] = {{"optimizer", &BytesByKind::optimizer},
                                                {"gradients", &BytesByKind::gradients},
                                                {"parameters", &BytesByKind::parameters}};

/// Which activations go outside: none, those whose copies hide, or all.
inline constexpr llvm::StringLiteral kActivationWords[] = {"", "hidden_activations", "activations"};

/// What a program (phase `model`) leaves open.
struct Choices {
  explicit Choices(train::ProgramOp program);

  /// Fills `levels`: `blocks` are checkpointLevels() if the program may recompute, else one of no settings.
  /// Of these, what somebody gave stays.
  void addLevels(const std::vector<TriedSettings> &blocks);

  /// Whether there is a choice.
  bool any() const { return mayOffload || divisions.size() * splits.size() * levels.size() > 1; }
  /// Whether ranks divide states in groups, in place of all together as an earlier division says.
  bool isGroup(size_t division) const;
  /// Whether a step of the cell copies what is offloaded.
  bool copies(Cell cell) const { return copiesAnyway || cell.offload > 0 || cell.activations > 0; }
  /// All that a cell decides, before activation checkpointing.
  TriedSettings decided(Cell cell) const;
  /// Of that, what is offloaded.
  TriedSettings offloaded(Cell cell) const;

  std::vector<TriedSettings> divisions; ///< of a stage all ranks, then ever smaller groups
  std::vector<TriedSettings> splits;    ///< the largest micro-batches first
  std::vector<TriedSettings> levels;    ///< the less is computed again the earlier
  bool mayOffload;                      ///< offload is open
  bool mayRecompute;                    ///< activation checkpointing is open
  bool mayChooseKept, mayChooseRest;    ///< checkpoint_keep, checkpoint_rest are open
  bool copiesAnyway;                    ///< somebody gave an offload
  bool copiesActivationsAnyway;         ///< which has activations
  bool mayGatherLate;                   ///< the last level is one more, and gathers no parameters ahead

private:
  bool mayChoose(const train::GivenSetting &ofBlocks) const;
};

} // namespace trainc
