// Rejections by requireProvenOverlap() that are too long for a lit test, or that ops reject earlier.
#include "lib/Analysis/Overlap.h"

#include "dialects/Dist/Dist.h"
#include "dialects/NN/NN.h"
#include "dialects/Train/Train.h"
#include "plan/schema/limits.h"

#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

namespace trainc {
namespace {

/// An entry with so many all-reduces that are begun before the first is waited for.
std::string entry(size_t starts, const std::string &message, bool waits = true) {
  std::string text = "train.state scalar @a : tensor<4xf32>\n"
                     "train.entry @update {\n  %a = train.get @a : tensor<4xf32>\n";
  for (size_t i = 0; i < starts; ++i)
    text +=
        "  %p" + std::to_string(i) + " = dist.all_reduce_start %a in shard " + message + ": tensor<4xf32>\n";
  for (size_t i = 0; waits && i < starts; ++i)
    text += "  %s" + std::to_string(i) + " = dist.wait %p" + std::to_string(i) + " : tensor<4xf32>\n";
  return text + "}\n";
}

/// Message about the entry; empty if it is proven.
std::string refusal(const std::string &text) {
  mlir::MLIRContext context;
  context.loadDialect<nn::NNDialect, train::TrainDialect, dist::DistDialect>();
  const mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context, /*verifyAfterParse=*/false));
  std::string said;
  const mlir::ScopedDiagnosticHandler handler(&context,
                                              [&](mlir::Diagnostic &error) { said += error.str(); });
  train::EntryOp update = *(*module).getOps<train::EntryOp>().begin();
  const bool proven = llvm::succeeded(requireProvenOverlap(update.getBody().front()));
  EXPECT_EQ(proven, said.empty()) << said;
  return said;
}

TEST(Overlap, AMessageHasSoManyRanges) {
  EXPECT_EQ(refusal(entry(kMaxRanges, "message 0 ")), "");
  EXPECT_NE(refusal(entry(kMaxRanges + 1, "message 0 "))
                .find("is number 1025 of its message; expected at most 1024"),
            std::string::npos);
}

TEST(Overlap, AllAreWaitedFor) {
  EXPECT_NE(refusal(entry(1, "", false)).find("is not waited for in its entry"), std::string::npos);
}

} // namespace
} // namespace trainc
