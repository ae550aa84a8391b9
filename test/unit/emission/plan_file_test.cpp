// Translation of a module to the plan file. Compiled plans are compared as a whole elsewhere; these cases do
// not occur in compiled plans yet.
#include "lib/Plan/PlanFile.h"

#include "plan/schema/plan_generated.h"

#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

namespace trainc {
namespace {

TEST(PlanFile, KernelsSayWhatABlockIs) {
  mlir::MLIRContext context;
  context.loadDialect<plan::PlanDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(R"(
plan.kernel @one rows grid 4 flops 0 [#plan.param<read, f32, 64>]
plan.kernel @many gemm grid 16 threads 256 flops 8192 moves 12 chain 3 shared 4096 [#plan.param<write, f32, 64>]
)",
                                                        &context);
  ASSERT_TRUE(module);
  const fb::PlanT tables = writeTables(*module);
  const std::vector<uint8_t> bytes =
      serializePlan(tables, EmittedPlan(tables), "test", "cpu", Machine(), {}, "{}");
  const auto &kernels = *fb::GetPlan(bytes.data())->kernels();
  EXPECT_EQ(kernels[0]->threads(), 1U);
  EXPECT_EQ(kernels[0]->shared_bytes(), 0U);
  EXPECT_EQ(kernels[1]->grid(), 16U);
  EXPECT_EQ(kernels[1]->threads(), 256U);
  EXPECT_EQ(kernels[1]->shared_bytes(), 4096U);
  EXPECT_FALSE(kernels[0]->moved_bytes());
  EXPECT_EQ(kernels[1]->moved_bytes(), 12U);
  EXPECT_EQ(kernels[1]->chain(), 3U);
}

} // namespace
} // namespace trainc
