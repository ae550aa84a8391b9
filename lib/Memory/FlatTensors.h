// Flat tensors: their members, views of them, and collectives on them.
#pragma once

#include "lib/Memory/WantedViews.h"

namespace trainc {

/// Assigns ops that compute nothing: views of a tensor, the packing of members into a flat tensor, and
/// collectives.
class FlatTensors {
public:
  FlatTensors(Assignment &assignment, Occupancy &occupancy, WantedViews &wanted, StorageTable &storages)
      : assignment_(assignment), occupancy_(occupancy), wanted_(wanted), storages_(storages) {}

  void assignAlias(ExecutableOpInterface alias);
  /// Copies members that were not computed in the flat tensor to it, and clears the gaps.
  void assignPack(ExecutableOpInterface pack);
  /// Assigns the pending result of a collective. A sum over ranks may overwrite its operand.
  void assignCollective(ExecutableOpInterface start);

private:
  bool outlivesWhole(ExecutableOpInterface part) const;
  bool isReadBefore(mlir::Value value, mlir::Operation *pack, int64_t position) const;
  bool isOnlyReader(ExecutableOpInterface start) const;

  Assignment &assignment_;
  Occupancy &occupancy_;
  WantedViews &wanted_;
  StorageTable &storages_;
};

} // namespace trainc
