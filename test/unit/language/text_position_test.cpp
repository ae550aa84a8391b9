#include "tools/language/text_position.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainc {
namespace {

TEST(TextPosition, FindsTheTokenAfterBlanksAndComments) {
  const llvm::StringRef text = "%a = nn.relu  %x\n  // a comment\n\n  %b = \"q\\\"\" // end\n";
  EXPECT_EQ(TextPosition(text, 0).token(), "%a");
  EXPECT_FALSE(TextPosition(text, 2).isFirstOfLine());
  EXPECT_EQ(TextPosition(text, 4).token(), "nn.relu");
  EXPECT_EQ(TextPosition(text, 4).before(), "%a =");
  EXPECT_EQ(TextPosition(text, 4).after(), "%x");
  const TextPosition next(text, text.find('\n'));
  EXPECT_EQ(next.token(), "%b");
  EXPECT_EQ(next.describe(), "the end of the line");
  EXPECT_TRUE(next.isAfterLine() && next.isFirstOfLine());
  EXPECT_FALSE(TextPosition(text, next.offset()).isAfterLine());
  EXPECT_EQ(TextPosition(text, text.find('"')).token(), "\"q\\\"\"");
  EXPECT_EQ(TextPosition(text, text.find(" // end")).describe(), "the end of the file");
  EXPECT_EQ(TextPosition("", 0).describe(), "the end of the file");
}

TEST(TextPosition, DescribesWhatItFinds) {
  EXPECT_EQ(TextPosition("nn.gelu(", 0).describe(), "'nn.gelu'");
  EXPECT_EQ(TextPosition("\"a b\" c", 0).describe(), "\"a b\"");
  EXPECT_EQ(TextPosition("\"a b\n", 0).describe(), "\"a b");
  EXPECT_EQ(TextPosition("lr \u22121", 3).describe(), "'\u2212' (U+2212)");
  EXPECT_EQ(TextPosition("steps 12e3", 8).attachedNumber(), "12");
  EXPECT_EQ(TextPosition("steps 12 e3", 9).attachedNumber(), "");
}

TEST(TextPosition, KnowsTheValuesOfItsBlock) {
  const llvm::StringRef text =
      "nn.block @b(%x: t) {\n}\nnn.model @m(%y: t) { // %no\n %a, %b = nn.f \"%no\" %a\n %c = ";
  EXPECT_THAT(TextPosition(text, text.size()).valuesBefore(), testing::ElementsAre("y", "a", "b", "c"));
}

TEST(TextPosition, FindsBracesThatNothingCloses) {
  const llvm::StringRef text = "// {\nnn.block @b() {\n  \"{\"\nnn.model @m() {\n}\n}\n";
  const auto nested = TextPosition(text, text.find("}")).findUnclosed();
  ASSERT_TRUE(nested);
  EXPECT_EQ(nested->line, 2U);
  EXPECT_EQ(nested->text, "nn.block @b() {");
  EXPECT_EQ(nested->expectedBefore, text.find("nn.model"));
  const llvm::StringRef open = "nn.model @m() {\n  %y = nn.f {a}\n";
  EXPECT_FALSE(TextPosition(open, open.find("nn.f")).findUnclosed()) << "it may still be closed";
  ASSERT_TRUE(TextPosition(open, open.size()).findUnclosed());
  EXPECT_EQ(TextPosition(open, open.size()).findUnclosed()->line, 1U);
  EXPECT_TRUE(TextPosition("a { } }", 6).isOutsideBraces());
  EXPECT_FALSE(TextPosition("a { } }", 4).isOutsideBraces());
}

} // namespace
} // namespace trainc
