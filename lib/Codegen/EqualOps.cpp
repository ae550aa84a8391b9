#include "lib/Codegen/EqualOps.h"

#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace trainc::codegen;

unsigned EqualOps::getHashValue(const Operation *op) {
  llvm::hash_code hash(0);
  const_cast<Operation *>(op)->walk([&](Operation *inner) {
    auto typeOf = [](Value value) { return hash_value(value.getType()); };
    hash = llvm::hash_combine(hash, OperationEquivalence::computeHash(inner, typeOf,
                                                                      OperationEquivalence::ignoreHashValue,
                                                                      OperationEquivalence::IgnoreLocations));
  });
  return hash;
}

bool EqualOps::isEqual(const Operation *a, const Operation *b) {
  auto isSpecial = [](const Operation *op) { return op == getEmptyKey() || op == getTombstoneKey(); };
  if (a == b || isSpecial(a) || isSpecial(b))
    return a == b;
  // Where one op takes a value twice, so must the other.
  DenseMap<Value, Value> inB, inA;
  auto pair = [&](Value left, Value right) {
    return left.getType() == right.getType() && inB.try_emplace(left, right).first->second == right &&
           inA.try_emplace(right, left).first->second == left;
  };
  return OperationEquivalence::isEquivalentTo(
      const_cast<Operation *>(a), const_cast<Operation *>(b),
      [&](Value left, Value right) { return success(pair(left, right)); },
      [&](Value left, Value right) { pair(left, right); }, OperationEquivalence::IgnoreLocations);
}
