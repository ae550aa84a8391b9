#include "tools/language/op_reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string syntaxOf(llvm::StringRef name) {
  const OpReference *op = findOpReference(name);
  return op ? op->syntax : "none";
}

TEST(OpReference, SyntaxIsThatOfAuthors) {
  EXPECT_EQ(syntaxOf("nn.gelu"), "nn.gelu %x [approximate tanh]");
  EXPECT_EQ(
      syntaxOf("nn.linear"),
      "nn.linear \"name\" %x [to <features>] [tied \"tied\"] [layout <in_out>] [no_bias] [init <init>]");
  EXPECT_EQ(syntaxOf("nn.attention"),
            "nn.attention %q, %k, %v heads <heads> [kv_heads <kv_heads>] [causal] [window <window>] "
            "[softcap <softcap>] [scale <scale>] [alibi <alibi>] [dropout <dropout>] [segments %segments] "
            "[limit %limit] [sinks %sinks] [dropout_key %dropout_key] [bias %bias]");
  EXPECT_EQ(syntaxOf("nn.concat"), "nn.concat dim <dim> %inputs, ...");
  EXPECT_EQ(syntaxOf("nn.matmul"), "nn.matmul %lhs [transposed], %rhs [transposed] [reduce_batch] [to <to>] "
                                   "[scaled %lhs_scale, %rhs_scale] "
                                   "[accumulate %accumulate]");
}

TEST(OpReference, EveryOpIsExplained) {
  ASSERT_GT(opReferences().size(), 50u);
  for (const OpReference &op : opReferences()) {
    EXPECT_FALSE(op.summary.empty()) << op.name;
    for (const char *foreign : {"$", "`", "custom<", "attr-dict", "type("})
      EXPECT_THAT(op.syntax, Not(HasSubstr(foreign))) << op.name;
    EXPECT_THAT(op.description, Not(HasSubstr("Interfaces: "))) << op.name;
  }
}

TEST(OpReference, KnowsClausesAndWhatPassesMake) {
  EXPECT_THAT(findOpReference("nn.cross_entropy")->clauses, ElementsAre("ignore", "smoothing", "weights"));
  EXPECT_THAT(findOpReference("nn.attention")->description, HasSubstr("causal"));
  EXPECT_EQ(findOpReference("nn.kernel"), nullptr);
  EXPECT_EQ(findOpReference("nn.attention_grad"), nullptr);
  EXPECT_NE(findOpReference("train.program"), nullptr);
}

} // namespace
} // namespace trainc
