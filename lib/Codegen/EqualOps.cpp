#include "lib/Codegen/EqualOps.h"

#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace trainc::codegen;

/// Names and attributes of nested ops suffice for the hash.
unsigned EqualOps::getHashValue(const Operation *op) {
  auto typeOf = [](Value value) { return hash_value(value.getType()); };
  auto none = OperationEquivalence::ignoreHashValue;
  auto *self = const_cast<Operation *>(op);
  llvm::hash_code hash =
      OperationEquivalence::computeHash(self, typeOf, none, OperationEquivalence::IgnoreLocations);
  for (Region &region : self->getRegions())
    for (Operation &inner : region.getOps())
      hash = llvm::hash_combine(
          hash, OperationEquivalence::computeHash(&inner, none, none, OperationEquivalence::IgnoreLocations));
  return hash;
}

bool EqualOps::isEqual(const Operation *a, const Operation *b) {
  auto isSpecial = [](const Operation *op) { return op == getEmptyKey() || op == getTombstoneKey(); };
  if (a == b || isSpecial(a) || isSpecial(b))
    return a == b;
  // If one op uses a value twice, so must the other.
  llvm::SmallDenseMap<Value, Value, 16> inB, inA;
  auto pair = [&](Value left, Value right) {
    return left.getType() == right.getType() && inB.try_emplace(left, right).first->second == right &&
           inA.try_emplace(right, left).first->second == left;
  };
  return OperationEquivalence::isEquivalentTo(
      const_cast<Operation *>(a), const_cast<Operation *>(b),
      [&](Value left, Value right) { return success(pair(left, right)); },
      [&](Value left, Value right) { pair(left, right); }, OperationEquivalence::IgnoreLocations);
}
