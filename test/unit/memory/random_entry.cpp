#include "test/unit/memory/random_entry.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace trainc::test {

static constexpr int kStates = 4; // the last has rows
static constexpr const char *kSquare = "tensor<2x2xf32>", *kRows = "tensor<4x2xf32>";

static const char *typeOf(int state) { return state + 1 < kStates ? kSquare : kRows; }

std::string RandomEntry::write(int ops) {
  for (int state = 0; state < kStates; ++state)
    text += "train.state optimizer @s" + std::to_string(state) + " : " + typeOf(state) + "\n";
  text += "train.entry @e as micro_step {\n";
  Scope scope;
  for (int state = 0; state < kStates; ++state)
    writeAccess(scope, state, /*reads=*/true);
  const std::string zero = name();
  text += zero + " = nn.constant 0 : " + kSquare + "\n";
  scope.squares.push_back(zero);
  writeOps(scope, ops, /*inLoop=*/false);
  for (int state = 0; state < kStates; ++state)
    writeAccess(scope, state, /*reads=*/false);
  return text + "}\n";
}

void RandomEntry::writeAccess(Scope &scope, int state, bool reads) {
  Values &values = state + 1 < kStates ? scope.squares : scope.rows;
  const std::string symbol = "@s" + std::to_string(state);
  if (!reads) {
    text += "train.set " + symbol + ", " + any(values) + " : " + typeOf(state) + "\n";
    return;
  }
  values.push_back(name());
  text += values.back() + " = train.get " + symbol + " : " + typeOf(state) + "\n";
}

void RandomEntry::writeOps(Scope &scope, int ops, bool inLoop) {
  for (int i = 0; i < ops; ++i) {
    const int choice = pick(inLoop ? 7 : 12);
    if (choice < 3)
      writeKernel(scope.squares, kSquare, 4);
    else if (choice < 6)
      writeProduct(scope);
    else if (choice == 6 && !scope.rows.empty())
      writeKernel(scope.rows, kRows, 8);
    else if (choice < 9 && !inLoop)
      writeAccess(scope, pick(kStates), /*reads=*/choice == 7);
    else if (choice < 11 && !inLoop)
      writeLoop(scope, 1 + pick(5));
    else {
      const std::string value = any(scope.squares), same = name();
      text += same + " = nn.barrier " + value + " : " + kSquare + "\n";
      scope.squares.push_back(same);
    }
  }
}

/// Writes a kernel with up to three inputs, possibly equal, and one or two results, whose magnitudes stay
/// small.
void RandomEntry::writeKernel(Values &values, const char *type, int elements) {
  const int inputs = 1 + pick(3), results = 1 + pick(2);
  const std::string made = name(), tag = std::to_string(names), pair = std::string(type) + ", " + type;
  text += made + (results == 2 ? ":2" : "") + " = nn.kernel 1 x " + std::to_string(elements) + " (";
  for (int i = 0; i < inputs; ++i)
    text += (i ? ", %a" : "%a") + std::to_string(i) + " = " + any(values) + " : " + type;
  text += std::string(") -> (") + type + (results == 2 ? std::string(", ") + type : "") + ") {\n";
  text += "%t0 = nn.tanh %a0 : " + std::string(type) + "\n";
  for (int i = 1; i < inputs; ++i)
    text += "%t" + std::to_string(i) + " = nn.sub %t" + std::to_string(i - 1) + ", %a" + std::to_string(i) +
            " : " + pair + "\n";
  text += "%x = nn.tanh %t" + std::to_string(inputs - 1) + " : " + type + "\n";
  text += "%y = nn.neg %x : " + std::string(type) + "\n";
  text +=
      results == 2 ? "nn.yield %x, %y : " + pair + "\n}\n" : "nn.yield %x : " + std::string(type) + "\n}\n";
  values.push_back(results == 2 ? made + "#0" : made);
  if (results == 2 && pick(3) != 0)
    values.push_back(made + "#1");
}

void RandomEntry::writeProduct(Scope &scope) {
  const std::string made = name(), type = kSquare;
  const std::string lhs = any(scope.squares), rhs = any(scope.squares);
  text += made + " = nn.matmul " + lhs + ", " + rhs;
  if (pick(3) != 0)
    text += " accumulate " + any(scope.squares) + " : " + type;
  text += " : " + type + ", " + type + "\n";
  scope.squares.push_back(made);
}

/// Up to three carried values, a slice, a whole one; the carried ones come back in any order, or changed.
void RandomEntry::writeLoop(Scope &scope, int ops) {
  const int carried = pick(4);
  const bool joins = carried == 0 || pick(2) == 0;
  const std::string loop = name(), tag = std::to_string(names++);
  Values inputs, results, yields, yieldTypes;
  Scope body;
  auto add = [&](const char *what, const std::string &value, const std::string &type) {
    body.squares.push_back("%" + (what + tag) + "_" + std::to_string(inputs.size()));
    inputs.push_back(body.squares.back() + " = " + value + " : " + type);
  };
  for (int i = 0; i < carried; ++i)
    add("c", any(scope.squares), std::string(kSquare) + " carried");
  add("s", any(scope.rows), std::string(kRows) + " split 0");
  add("w", any(scope.squares), kSquare);
  for (int i = 0; i < carried; ++i)
    results.push_back(std::string(kSquare) + " carried");
  if (joins)
    results.push_back(std::string(kRows) + " split 0");
  text += loop + (results.size() > 1 ? ":" + std::to_string(results.size()) : "") + " = nn.chunks 2 (" +
          llvm::join(inputs, ", ") + ") -> (" + llvm::join(results, ", ") + ") {\n";
  writeOps(body, ops, /*inLoop=*/true);
  for (size_t i = 0; i < results.size(); ++i) {
    yields.push_back(pick(2) == 0 && carried > 0 ? body.squares[pick(carried)] : any(body.squares));
    yieldTypes.push_back(kSquare);
  }
  text += "nn.yield " + llvm::join(yields, ", ") + " : " + llvm::join(yieldTypes, ", ") + "\n}\n";
  for (size_t i = 0; i < results.size(); ++i)
    (i < size_t(carried) ? scope.squares : scope.rows)
        .push_back(results.size() > 1 ? loop + "#" + std::to_string(i) : loop);
}

} // namespace trainc::test
