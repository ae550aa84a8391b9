// Storages of values, and views into them.
#pragma once

#include "dialects/Plan/Plan.h"
#include "dialects/Train/Train.h"
#include "lib/Support/StoredElement.h"

#include "llvm/ADT/StringMap.h"

#include <string>

namespace trainc {

/// A byte offset in a storage. It advances by `step` bytes per iteration of the enclosing loop, and by
/// `rankStep` bytes per place of the rank along `axes` of the mesh.
struct View {
  int storage = -1;
  int64_t offset = 0;
  int64_t step = 0;
  int64_t rankStep = 0;
  mlir::ArrayAttr axes = {};

  bool isNull() const { return storage < 0; }
  /// Returns this view moved by the offset of `inner`; null if this view is null, or if both move with the
  /// rank, along different axes.
  View movedBy(View inner) const;
  bool operator==(const View &) const = default;
};

/// A range of bytes that values share over time.
struct Storage {
  std::string name;
  int64_t bytes = 0;
  mlir::Type element;
  plan::Role role;
  /// Persistent storages live across entries. Other storages in device memory live from position `first` to
  /// `last` of their entry, those in other spaces during the whole entry.
  bool persistent = false;
  int64_t first = INT64_MAX, last = -1;
  int64_t earliest =
      INT64_MAX;        ///< position at which the lifetime should begin if memory allows; at most `first`
  int64_t outlasts = 0; ///< number of the next entry's ops during which the bytes should not be reused
  plan::Space space = plan::Space::device;
  int64_t alignment = 1;         ///< alignment of the storage's offset in bytes, if higher than its arena's
  View fetched = {};             ///< source in another space from which the first value is copied; else null
  std::vector<View> stored = {}; ///< destinations in another space to which values are copied
};

/// Returns the offset of `held` in the value that contains it, as a view without storage.
View offsetOf(FlatOffset offset, mlir::Value held);

/// Returns the offset of a gather's operand in its result, as a view without storage.
View partOf(CollectiveOpInterface gather);

/// Whether `aBytes` bytes at `a` may overlap with `bBytes` bytes at `b`.
bool overlap(View a, int64_t aBytes, View b, int64_t bBytes);

/// All storages of a module: one per state, one per distinct batch input, and each entry's scratch.
class StorageTable {
public:
  explicit StorageTable(mlir::ModuleOp module);

  int add(Storage storage);
  int stateStorage(llvm::StringRef state) const { return states_.lookup(state); }
  /// Whether the state is offloaded.
  bool isOffloaded(llvm::StringRef state) const {
    return storages_[stateStorage(state)].space != plan::Space::device;
  }
  /// Aligns the storage's begin and end to disk blocks.
  void alignForDisk(int index);
  /// Returns the storage of a batch column. Entries that read the same column in the same shape share it.
  int inputStorage(train::InputOp input);

  Storage &operator[](int index) { return storages_[index]; }
  const Storage &operator[](int index) const { return storages_[index]; }
  size_t size() const { return storages_.size(); }

private:
  std::vector<Storage> storages_;
  llvm::StringMap<int> states_, inputs_;
};

} // namespace trainc
