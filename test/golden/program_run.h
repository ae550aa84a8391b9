// A training program of few numbers in the reference interpreter.
#pragma once

#include "lib/Pipelines/Pipeline.h"
#include "lib/Reference/Interpreter.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

namespace trainc::golden {

/// The program trains the parameter `w` on the column `x`, which has its shape.
class ProgramRun {
public:
  /// Parses the text, runs the passes that `addPasses` adds and the entry `init`, and sets the learning rate.
  ProgramRun(const std::string &text, llvm::function_ref<void(mlir::PassManager &)> addPasses, double rate) {
    mlir::DialectRegistry registry;
    registerDialects(registry);
    context_.appendDialectRegistry(registry);
    module_ = mlir::parseSourceString<mlir::ModuleOp>(text, &context_);
    mlir::PassManager passes(&context_);
    addPasses(passes);
    EXPECT_TRUE(succeeded(passes.run(*module_)));
    memory_.emplace(*module_);
    run(EntryKind::init);
    state("lr").setNumber(0, rate);
  }

  /// Runs a step on this column.
  void step(llvm::ArrayRef<double> x) {
    reference::Tensor column(state("w").type());
    column.reals.assign(x.begin(), x.end());
    memory_->microColumns.insert_or_assign("x", column);
    run(EntryKind::micro_step);
  }

  reference::Tensor &state(llvm::StringRef name) { return memory_->states.find(name)->second; }

private:
  void run(EntryKind entry) { EXPECT_TRUE(succeeded(reference::runEntry(*module_, entry, *memory_))); }

  mlir::MLIRContext context_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  std::optional<reference::EntryMemory> memory_;
};

} // namespace trainc::golden
