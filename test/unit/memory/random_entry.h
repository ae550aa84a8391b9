// Random entries of the phase `scheduled`, for tests of plan-memory.
#pragma once

#include "llvm/ADT/SmallVector.h"

#include <random>
#include <string>

namespace trainc::test {

/// Writes a module with an entry @e of kernels, products, barriers and loops on states of one size. In a
/// loop, values are carried, also from one to another, cut and joined. The same seed writes the same module.
class RandomEntry {
public:
  explicit RandomEntry(unsigned seed) : generator(seed) {}

  /// Writes an entry with `ops` ops in addition to reads and writes, and as many in each loop.
  std::string write(int ops);

private:
  /// The values of a block: squares, and rows to be cut into two squares.
  using Values = llvm::SmallVector<std::string>;
  struct Scope {
    Values squares, rows;
  };

  int pick(int end) { return int(generator() % unsigned(end)); }
  const std::string &any(const Values &values) { return values[pick(int(values.size()))]; }
  std::string name() { return "%v" + std::to_string(names++); }
  void writeOps(Scope &scope, int ops, bool inLoop);
  void writeKernel(Values &values, const char *type, int elements);
  void writeProduct(Scope &scope);
  void writeLoop(Scope &scope, int ops);
  void writeAccess(Scope &scope, int state, bool reads);

  std::mt19937 generator;
  std::string text;
  int names = 0;
};

} // namespace trainc::test
