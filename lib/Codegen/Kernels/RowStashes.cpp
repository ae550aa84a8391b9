#include "lib/Codegen/Kernels/RowStashes.h"

#include "lib/Codegen/Kernels/KernelFunction.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

/// Minimum instructions of a value at which reading it back is cheaper than recomputing it: of any value, and
/// of a value that is a result anyway.
static constexpr int64_t kStashWeight = 6, kResultStashWeight = 2;

// --- Values of a pass ---

SmallVector<Value> RowStashes::stored(int64_t pass) const {
  llvm::SetVector<Value> values;
  for (Value value : facts.results(pass))
    values.insert(facts.strip(value));
  for (auto &[value, stash] : stashes)
    if (facts.depth(value) == pass)
      values.insert(value);
  return values.takeVector();
}

SmallVector<Value> RowStashes::roots(int64_t pass) const {
  SmallVector<Value> values = stored(pass);
  llvm::append_range(values, facts.reduced(pass));
  return values;
}

// --- Choice ---

int64_t RowStashes::weight(Value value, const BodyCosts &costs) {
  value = facts.strip(value);
  Operation *op = value.getDefiningOp();
  if (!facts.isAlongColumns(value) || !op)
    return op ? 0 : 1;
  auto [entry, added] = weights.try_emplace(value, 0);
  if (!added)
    return entry->second;
  int64_t sum = costs.at(op).weight;
  for (Value operand : op->getOperands())
    sum += isa<nn::GatherOp>(op) ? 1 : weight(operand, costs);
  return weights[value] = std::min(sum, kStashWeight); // larger weights need not be distinguished
}

/// Visits passes from last to first, because a stashed value may need stashed values of earlier passes.
void RowStashes::choose(const BodyCosts &costs, StashMemory memory,
                        llvm::function_ref<bool(Value)> isTileReduction) {
  llvm::DenseMap<Value, unsigned> results;
  for (auto [index, value] : llvm::enumerate(facts.yield().getValues()))
    if (facts.pattern(value).isIdentity() && facts.pattern(facts.strip(value)).isIdentity() &&
        getElementTypeOrSelf(value) == getElementTypeOrSelf(facts.strip(value)))
      results.try_emplace(facts.strip(value), index);
  auto choose = [&](Value value, int64_t pass) {
    int64_t bytes = blockArrayBytes(getElementTypeOrSelf(value), memory.rowElements);
    if (auto result = results.find(value);
        result != results.end() && weight(value, costs) >= kResultStashWeight)
      stashes[value] = {true, result->second};
    else if (int64_t borrowed = borrowedResult(value, pass, isTileReduction);
             weight(value, costs) >= kStashWeight && borrowed >= 0)
      stashes[value] = {true, unsigned(borrowed)};
    else if (weight(value, costs) >= kStashWeight && bufferBytes + bytes <= memory.maxBytes) {
      stashes[value] = {false, unsigned(bufferCount++)};
      bufferBytes += bytes;
    } else
      return false;
    return true;
  };
  for (int64_t pass = facts.passes() - 1; pass > 0; --pass)
    facts.visit(roots(pass), [&](Value value) {
      bool earlier = value.getDefiningOp() && facts.depth(value) < pass;
      return !(earlier && (stashes.contains(value) || choose(value, pass)));
    });
}

/// The caller visits passes from last to first, so that `pass` is the last pass that reads the value.
int64_t RowStashes::borrowedResult(Value value, int64_t pass,
                                   llvm::function_ref<bool(Value)> isTileReduction) const {
  for (auto [index, yielded] : llvm::enumerate(facts.yield().getValues())) {
    bool holds = facts.pattern(yielded).isIdentity() && facts.isAlongColumns(yielded) &&
                 !isTileReduction(yielded) && getElementTypeOrSelf(yielded) == getElementTypeOrSelf(value) &&
                 facts.depth(yielded) >= pass;
    auto taken = [&, result = index](const auto &stash) {
      return stash.second.isResult && stash.second.index == result && facts.strip(yielded) != stash.first;
    };
    if (holds && llvm::none_of(stashes, taken))
      return index;
  }
  return -1;
}

// --- Reads and writes ---

const RowStashes::Stash *RowStashes::find(Value value, int64_t pass) const {
  auto found = stashes.find(value);
  return found == stashes.end() || facts.depth(value) >= pass ? nullptr : &found->second;
}

int64_t RowStashes::lastRead(unsigned index) const {
  Value argument = facts.kernel.getBody().getArgument(index);
  int64_t last = -1;
  for (int64_t pass = 0; pass < facts.passes(); ++pass)
    facts.visit(roots(pass), [&](Value value) {
      if (value == argument)
        last = pass;
      return !find(value, pass);
    });
  return last;
}

int64_t RowStashes::firstWrite(unsigned result) const {
  int64_t first = facts.depth(facts.yield().getValues()[result]);
  for (const auto &[value, stash] : stashes)
    if (stash.isResult && stash.index == result)
      first = std::min(first, facts.depth(value));
  return first;
}
