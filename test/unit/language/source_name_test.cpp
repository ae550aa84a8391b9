#include "lib/Support/SourceName.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

namespace trainc {
namespace {

/// Returns the name of a kernel of two ops with these locations.
std::string kernelName(const std::string &first, const std::string &second) {
  mlir::MLIRContext context;
  context.allowUnregisteredDialects();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(R"("t.kernel"() ({
      ^entry(%x: f32):
        %a = "t.add"(%x) : (f32) -> f32 loc()" + first + R"()
        %b = "t.exp"(%a) : (f32) -> f32 loc()" + second + R"()
        "t.end"() : () -> ()
      }) : () -> ())",
                                                        &context);
  return module ? sourceName(&module->getBody()->front()) : "";
}

TEST(SourceName, LinesOfSeveralFiles) {
  EXPECT_EQ(kernelName("\"m.mlir\":3:1", "\"m.mlir\":3:9"), "t.kernel (t.add and t.exp at line 3)");
  EXPECT_EQ(kernelName("\"m.mlir\":3:1", "\"m.mlir\":4:1"), "t.kernel (t.add at line 3, t.exp at line 4)");
  EXPECT_EQ(kernelName("\"d/m.mlir\":3:1", "\"d/blocks.mlir\":3:1"),
            "t.kernel (t.exp at line 3 of blocks.mlir, t.add at line 3 of m.mlir)");
}

} // namespace
} // namespace trainc
