#include "test/programs/mutation.h"

#include "dialects/Train/Train.h"
#include "lib/Instantiate/Instantiate.h"
#include "plan/settings/settings.h"

#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"

#include <random>

using namespace mlir;
using namespace trainc;

namespace {

/// Mutates one module, and reverts changes that make it invalid.
class Mutation {
public:
  Mutation(ModuleOp module, unsigned seed) : module_(module), random_(seed) {
    module.walk([&](Operation *op) {
      if (isa_and_present<nn::ModelOp, nn::BlockOp>(op->getParentOp()) && op->getNumResults() > 0)
        ops_.push_back(op);
    });
  }

  /// Whether some change was made.
  bool change() {
    for (int attempt = 0; attempt < 30 && !ops_.empty(); ++attempt) {
      Operation *op = ops_[pick(ops_.size())];
      if (pick(2) == 0 ? changeOperand(op) : changeAttribute(op))
        return true;
    }
    return false;
  }

private:
  unsigned pick(size_t end) { return unsigned(random_() % end); }

  bool isLegal() {
    ScopedDiagnosticHandler quiet(module_.getContext(), [](Diagnostic &) { return success(); });
    OwningOpRef<ModuleOp> copy = module_.clone();
    return succeeded(verify(*copy)) && succeeded(instantiate(*copy));
  }

  /// A value that is defined before `op` in its block.
  Value valueBefore(Operation *op) {
    SmallVector<Value> values(op->getBlock()->getArguments());
    for (Operation &before : llvm::make_range(op->getBlock()->begin(), op->getIterator()))
      llvm::append_range(values, before.getResults());
    return values.empty() ? Value() : values[pick(values.size())];
  }

  /// In place, or in a copy of the op whose results some uses get.
  bool changeOperand(Operation *op) {
    Value value = valueBefore(op);
    if (op->getNumOperands() == 0 || !value || isa<LayerOpInterface>(op))
      return false;
    const unsigned index = pick(op->getNumOperands());
    const Value before = op->getOperand(index);
    if (pick(2) == 0) {
      op->setOperand(index, value);
      if (before != value && isLegal())
        return true;
      op->setOperand(index, before);
      return false;
    }
    Operation *copy = OpBuilder(op).clone(*op);
    copy->setOperand(index, value);
    op->getResult(0).replaceUsesWithIf(copy->getResult(0), [&](OpOperand &) { return pick(2) == 0; });
    if (isLegal())
      return true;
    copy->getResult(0).replaceAllUsesWith(op->getResult(0));
    copy->erase();
    return false;
  }

  Attribute changed(Attribute attribute) {
    OpBuilder builder(attribute.getContext());
    if (auto number = dyn_cast<IntegerAttr>(attribute);
        number && number.getType().isInteger(64)) // no enumeration
      return builder.getIntegerAttr(number.getType(), number.getInt() + (pick(2) == 0 ? 1 : -1));
    if (auto number = dyn_cast<FloatAttr>(attribute))
      return builder.getFloatAttr(number.getType(), number.getValueAsDouble() * (pick(2) == 0 ? 2 : -1));
    if (auto list = dyn_cast<DenseI64ArrayAttr>(attribute); list && !list.empty()) {
      SmallVector<int64_t> numbers(list.asArrayRef());
      if (pick(2) == 0)
        std::swap(numbers[pick(numbers.size())], numbers[pick(numbers.size())]);
      else
        numbers[pick(numbers.size())] += pick(2) == 0 ? 1 : -1;
      return builder.getDenseI64ArrayAttr(numbers);
    }
    return {};
  }

  bool changeAttribute(Operation *op) {
    ArrayRef<StringAttr> names = op->getName().getAttributeNames();
    if (names.empty())
      return false;
    const StringAttr name = names[pick(names.size())];
    const Attribute before = op->getAttr(name);
    const Attribute after = before ? changed(before) : Attribute();
    if (!after || after == before)
      return false;
    op->setAttr(name, after);
    if (isLegal())
      return true;
    op->setAttr(name, before);
    return false;
  }

  ModuleOp module_;
  std::mt19937 random_;
  SmallVector<Operation *> ops_;
};

} // namespace

static std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (Operation &op : *module.getBody())
    stream << op << "\n";
  return text;
}

std::string programs::mutateProgram(MLIRContext &context, const std::string &text, unsigned seed) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
  int changes = 0;
  for (unsigned i = 0; i <= seed % 3; ++i)
    changes += Mutation(*module, seed * 3 + i).change();
  return changes > 0 ? print(*module) : "";
}

std::string programs::readProgram(MLIRContext &context, const std::string &path) {
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(path, ParserConfig(&context));
  if (!module || module->getOps<train::ProgramOp>().empty())
    return "";
  train::ProgramOp program = *module->getOps<train::ProgramOp>().begin();
  std::string length =
      train::kSeqLen.given(program) ? llvm::formatv(" x {0}", *train::kSeqLen.given(program)).str() : "";
  std::string plain =
      llvm::formatv("train.program @p {{ model @{0} optimizer sgd(lr 1) batch {1}{2} }\n", program.getModel(),
                    train::kMicroBatch.given(program).value_or(2), length);
  program.erase();
  return print(*module) + plain;
}
