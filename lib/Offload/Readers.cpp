#include "lib/Offload/Readers.h"

using namespace mlir;

namespace trainc {

void Reader::readInstead(IRMapping &mapped, OpBuilder &builder) const {
  for (Operation *view : views)
    if (!mapped.contains(view->getResult(0)))
      builder.clone(*view, mapped);
  use->set(mapped.lookup(use->get()));
}

Value inPlaceOperand(OpResult result) {
  auto executable = dyn_cast<ExecutableOpInterface>(result.getOwner());
  const int index = executable ? executable.getInPlaceOperand(result.getResultNumber()) : -1;
  return index >= 0 ? result.getOwner()->getOperand(index) : Value();
}

bool Reader::updatesInPlace() const {
  return llvm::any_of(op()->getResults(),
                      [&](OpResult result) { return inPlaceOperand(result) == use->get(); });
}

static void addReaders(Value value, ArrayRef<Operation *> views, SmallVectorImpl<Reader> &readers) {
  for (OpOperand &use : value.getUses()) {
    SmallVector<Operation *, 2> path(views);
    if (!hasClass(use.getOwner(), KernelClass::Alias)) {
      readers.push_back({&use, path});
      continue;
    }
    path.push_back(use.getOwner());
    addReaders(use.getOwner()->getResult(0), path, readers);
  }
}

SmallVector<Reader> readersOf(Value value) {
  SmallVector<Reader> readers;
  addReaders(value, {}, readers);
  llvm::sort(readers, [](const Reader &a, const Reader &b) {
    return a.op() == b.op() ? a.use->getOperandNumber() < b.use->getOperandNumber()
                            : a.op()->isBeforeInBlock(b.op());
  });
  return readers;
}

} // namespace trainc
