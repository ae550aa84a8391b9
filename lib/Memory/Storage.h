// Where values live: storages, and views into them.
#pragma once

#include "dialects/Plan/Plan.h"
#include "dialects/Train/Train.h"
#include "lib/Support/StoredElement.h"

#include "llvm/ADT/StringMap.h"

#include <string>

namespace trainc {

/// A place in a storage: a byte offset, advanced by `step` bytes per iteration of the enclosing loop, and by
/// `rankStep` bytes per rank.
struct View {
  int storage = -1;
  int64_t offset = 0;
  int64_t step = 0;
  int64_t rankStep = 0;

  bool isNull() const { return storage < 0; }
  bool operator==(const View &) const = default;
};

/// A range of bytes that values share over time.
struct Storage {
  std::string name;
  int64_t bytes = 0;
  mlir::Type element;
  plan::Role role;
  /// Persistent storages live across entries. Of the others those in the device's memory live from position
  /// `first` to `last` of their entry, and those elsewhere as long as an entry runs.
  bool persistent = false;
  int64_t first = INT64_MAX, last = -1;
  int64_t earliest = INT64_MAX; ///< where it should begin to live, if it may before `first`
  int64_t outlasts = 0; ///< how many ops of the next entry should run before it is given to another one
  plan::Space space = plan::Space::device;
  int64_t alignment = 1; ///< of where it begins, in bytes, where that is more than of all in its arena
  View fetched = {};     ///< of what another space holds: what its first value is a copy of; else null
  std::vector<View> stored = {}; ///< where, in another space, values of it are copied to
};

/// Whether `aBytes` from `a` on may share some with `bBytes` from `b` on.
bool overlap(View a, int64_t aBytes, View b, int64_t bBytes);

/// All storages of a module: one per state, one per distinct batch input, and each entry's scratch.
class StorageTable {
public:
  explicit StorageTable(mlir::ModuleOp module);

  int add(Storage storage);
  int stateStorage(llvm::StringRef state) const { return states_.lookup(state); }
  /// Whether the state lies outside the device's memory.
  bool isOffloaded(llvm::StringRef state) const {
    return storages_[stateStorage(state)].space != plan::Space::device;
  }
  /// Has the storage begin and end on borders between which a disk reads and writes.
  void alignForDisk(int index);
  /// The storage of a batch column; entries that take the same column in the same shape share it.
  int inputStorage(train::InputOp input);

  Storage &operator[](int index) { return storages_[index]; }
  size_t size() const { return storages_.size(); }

private:
  std::vector<Storage> storages_;
  llvm::StringMap<int> states_, inputs_;
};

} // namespace trainc
