// Faults injected into schedules of whole models: each must be found by the op's verifier (dialect `dist`,
// SSA), by requireProvenOverlap() or, for moves across a write of its state, by WritesBefore.
#include "lib/Analysis/Overlap.h"
#include "lib/Analysis/StateOrder.h"
#include "lib/Pipelines/Pipeline.h"
#include "lib/Schedule/Messages.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>
#include <map>

using namespace mlir;

namespace trainc {
namespace {

struct Case {
  const char *name, *model;
  CompileOptions options;
};

CompileOptions ranks(int64_t ranks, int64_t zeroStage, int64_t accumulate = 1) {
  CompileOptions options;
  options.settings = {{"ranks", std::to_string(ranks)},
                      {"zero_stage", std::to_string(zeroStage)},
                      {"micro_batch", "1"},
                      {"accumulate", std::to_string(accumulate)}};
  options.compileTo = Phase::Scheduled;
  return options;
}

CompileOptions hybrid(CompileOptions options) {
  options.settings.push_back({"hybrid_shard", "2"});
  options.settings.push_back({"sync_gradients", "step"});
  return options;
}

/// One entry, and the faults that can be injected into it, one at a time.
class Mutator {
public:
  explicit Mutator(train::EntryOp entry)
      : entry_(entry), block_(entry.getBody().front()), writes_(block_), messages_(messagesOf(block_)) {
    for (Operation &op : block_)
      order_.push_back(&op);
  }

  bool isProven() { return succeeded(verify(entry_)) && succeeded(requireProvenOverlap(block_)); }

  void dropWaits() {
    for (const Message &message : messages_)
      for (CollectiveOpInterface start : message) {
        Operation *wait = waitOf(start);
        SmallVector<OpOperand *> uses;
        for (OpOperand &use : wait->getResult(0).getUses())
          uses.push_back(&use);
        for (OpOperand *use : uses)
          use->set(start->getResult(0));
        wait->remove();
        check("without a wait", wait);
        for (OpOperand *use : uses)
          use->set(wait->getResult(0));
      }
  }

  /// All pairs, at each other's places: the starts of messages, and the waits for them.
  void swapMessages() {
    for (size_t i = 0; i < messages_.size(); ++i)
      for (size_t j = i + 1; j < messages_.size(); ++j) {
        swap(starts(messages_[i]), starts(messages_[j]));
        check("starts swapped", messages_[j].front());
        swap(waits(messages_[i]), waits(messages_[j]));
        check("waits swapped", waitOf(messages_[j].front()));
      }
  }

  void waitTooLate() {
    for (const Message &message : messages_)
      for (CollectiveOpInterface start : message)
        for (Operation *reader : waitOf(start)->getUsers()) {
          waitOf(start)->moveAfter(reader);
          check("read before its wait", reader);
        }
  }

  /// Each read of a state moves over each write.
  void moveReads() {
    for (auto set : SmallVector<train::SetOp>(block_.getOps<train::SetOp>()))
      for (auto get : SmallVector<train::GetOp>(block_.getOps<train::GetOp>())) {
        if (get.getState() != set.getState())
          continue;
        set->isBeforeInBlock(get) ? get->moveBefore(set) : get->moveAfter(set);
        check("read on the other side of a write", get);
      }
  }

  /// Writes a state's own value to it while a collective reads it.
  void writeWhatIsRead() {
    for (const Message &message : messages_)
      for (CollectiveOpInterface start : message)
        if (auto get = start->getOperand(0).getDefiningOp<train::GetOp>()) {
          OpBuilder builder(waitOf(message.front()));
          auto set = train::SetOp::create(builder, get.getLoc(), get.getStateAttr(), get);
          check("written while it is read", start);
          set->erase();
        }
  }

  void tearMessages() {
    for (const Message &message : messages_)
      for (Operation *op = message.back()->getNextNode(); message.size() > 1 && op; op = op->getNextNode())
        if (computes(op)) {
          message.back()->moveAfter(op);
          check("apart from its message", message.back());
          break;
        }
  }

  const std::map<std::string, size_t> &faults() const { return faults_; }

private:
  static std::vector<Operation *> starts(const Message &message) { return {message.begin(), message.end()}; }
  static std::vector<Operation *> waits(const Message &message) {
    std::vector<Operation *> found;
    for (CollectiveOpInterface start : message)
      found.push_back(waitOf(start));
    return found;
  }

  /// Moves each before the position of the other's first op.
  void swap(const std::vector<Operation *> &a, const std::vector<Operation *> &b) {
    std::vector<Operation *> order;
    for (Operation *op : order_) {
      if (op == a.front())
        order.insert(order.end(), b.begin(), b.end());
      if (op == b.front())
        order.insert(order.end(), a.begin(), a.end());
      if (!llvm::is_contained(a, op) && !llvm::is_contained(b, op))
        order.push_back(op);
    }
    arrange(order);
  }

  void arrange(const std::vector<Operation *> &order) {
    for (Operation *op : order) {
      if (op->getBlock())
        op->remove();
      block_.push_back(op);
    }
  }

  void check(const char *fault, Operation *at) {
    ++faults_[fault];
    EXPECT_FALSE(isProven() && succeeded(writes_.requireKept()))
        << fault << ": " << StringRef(print(at)).str();
    arrange(order_);
  }

  static std::string print(Operation *op) {
    std::string text;
    llvm::raw_string_ostream(text) << *op;
    return text;
  }

  train::EntryOp entry_;
  Block &block_;
  const WritesBefore writes_;
  const SmallVector<Message> messages_;
  std::vector<Operation *> order_;
  std::map<std::string, size_t> faults_; ///< how many of each kind
};

class ScheduleMutants : public testing::TestWithParam<Case> {};

TEST_P(ScheduleMutants, AllAreRefused) {
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(std::string(TRAINC_GOLDEN_DIR) + "/" + GetParam().model, &context);
  ASSERT_TRUE(module);
  ASSERT_TRUE(succeeded(runPhases(*module, GetParam().options)));
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) { return success(); });
  std::map<std::string, size_t> faults;
  for (auto entry : module->getOps<train::EntryOp>()) {
    Mutator mutator(entry);
    ASSERT_TRUE(mutator.isProven());
    mutator.dropWaits();
    mutator.swapMessages();
    mutator.waitTooLate();
    mutator.moveReads();
    mutator.writeWhatIsRead();
    mutator.tearMessages();
    ASSERT_TRUE(mutator.isProven());
    for (auto &[kind, count] : mutator.faults())
      faults[kind] += count;
  }
  for (auto &[kind, count] : faults)
    std::cout << count << " refused: " << kind << "\n";
  EXPECT_EQ(faults.size(), 7u) << "kinds of faults";
}

INSTANTIATE_TEST_SUITE_P(Models, ScheduleMutants,
                         testing::Values(Case{"gpt_zero_3", "gpt/gpt.mlir", ranks(4, 3, 2)},
                                         Case{"gpt_hybrid", "gpt/gpt.mlir", hybrid(ranks(4, 3, 2))},
                                         Case{"llama_zero_1", "llama/llama.mlir", ranks(2, 1)},
                                         Case{"llama_zero_2", "llama/llama.mlir", ranks(2, 2)}),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
} // namespace trainc
