// Assignment of an entry's values to storages.
#pragma once

#include "lib/Memory/Assignment.h"

namespace trainc {

/// Assigns a view to each value of an entry, and sets the lifetimes of its scratch storages. A value is
/// computed where it is wanted (in a state's buffer, in a loop's result, over a dead operand) if no other
/// value there is still needed. Otherwise it is copied.
Assignment assignEntry(train::EntryOp entry, StorageTable &storages);

} // namespace trainc
