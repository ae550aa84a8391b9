// Removal of what nothing uses.
#include "lib/Instantiate/Entries.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace trainc;

void trainc::eraseDeadOps(train::EntryOp entry) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(entry.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
}
