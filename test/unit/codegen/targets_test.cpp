// Each row of the registry of targets has a factory.
#include "lib/Codegen/Target.h"
#include "plan/schema/targets.h"

#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace trainc;
using codegen::Target;

/// The target of an empty module of kernels that names it.
static std::unique_ptr<Target> targetNamed(StringRef name, MLIRContext &context) {
  OwningOpRef<ModuleOp> kernels = ModuleOp::create(UnknownLoc::get(&context));
  (*kernels)->setAttr(codegen::kTargetAttr, StringAttr::get(&context, name));
  return Target::of(*kernels);
}

TEST(Targets, AreCreatedByTheNameOfTheirRow) {
  MLIRContext context;
  for (const TargetTraits &row : kTargets) {
    const std::unique_ptr<Target> target = targetNamed(row.name, context);
    EXPECT_EQ(std::string_view(target->name()), row.name);
    EXPECT_EQ(target->host() == nullptr, row.isHost) << row.name;
    EXPECT_LE(target->limits().blockBytes, row.kernels.maxBlockBytes) << row.name;
  }
}

TEST(Targets, AreRecordedOnTheirKernels) {
  MLIRContext context;
  for (const TargetTraits &row : kTargets) {
    OwningOpRef<ModuleOp> kernels = targetNamed(row.name, context)->createModule(context);
    EXPECT_EQ(std::string_view(Target::of(*kernels)->name()), row.name);
  }
}

TEST(Targets, TheDefaultIsTheFirst) {
  MLIRContext context;
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  EXPECT_EQ(std::string_view(Target::chosenFor(*module)->name()), kDefaultTarget.name);
}
