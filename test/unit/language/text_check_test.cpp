#include "tools/language/text_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainc {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string found(llvm::StringRef text) {
  const std::optional<TextProblem> problem = findBadText(text);
  return problem
             ? std::to_string(problem->line) + ":" + std::to_string(problem->column) + " " + problem->message
             : "";
}

TEST(TextCheck, NumbersThatTheParserWouldChange) {
  EXPECT_THAT(found("a\n b 9223372036854775808"),
              StartsWith("2:4 expected a whole number from -9223372036854775808 to 9223372036854775807, "
                         "found 9223372036854775808"));
  EXPECT_THAT(found("-9223372036854775809"), HasSubstr("found -9223372036854775809"));
  EXPECT_THAT(found("{a = 0xFFFFFFFFFFFFFFFF}"), HasSubstr("found 0xFFFFFFFFFFFFFFFF"));
  EXPECT_EQ(found("128 : i8"), "1:1 expected a whole number from -128 to 127, found 128");
  EXPECT_EQ(found("-1 : ui8"), "1:2 expected a whole number from 0 to 255, found -1");
  EXPECT_EQ(found("2 : i1"), "1:1 expected a whole number from -1 to 1, found 2");
  EXPECT_EQ(found("x 1e-400"),
            "1:3 expected a number of f64, found 1e-400, which is 0 there; write 0, or a larger number");
  EXPECT_EQ(found("1.5e999"), "1:1 expected a number of f64, found 1.5e999, which is infinite there");
}

TEST(TextCheck, OtherNumbersPass) {
  for (const char *text :
       {"9223372036854775807", "-9223372036854775808", "18446744073709551615 : ui64", "1 : i1", "-128 : i8",
        "0x7FF8000000000000", "0xFFF8000000000000 : f64", "5.0e-324", "0.0e-999", "1e30", "tensor<0x768xf32>",
        "%18446744073709551616", "@x99999999999999999999", "\"99999999999999999999\"",
        "// 99999999999999999999", "340282366920938463463374607431768211455 : i129", "8 x 64"})
    EXPECT_EQ(found(text), "") << text;
}

TEST(TextCheck, LongNumbers) {
  const std::string digits(1001, '7'), enough(1000, '7');
  for (const std::string &text :
       {digits, "tensor<4x" + digits + "xf32>", "0." + digits, "%a" + digits, "0x" + digits})
    EXPECT_THAT(found(text), HasSubstr("expected a number of at most 1000 digits, found one of 100"))
        << text.substr(0, 9);
  EXPECT_FALSE(findUnparsable(enough));
  EXPECT_FALSE(findUnparsable("18446744073709551616"));
  EXPECT_EQ(withoutLongNumbers("a " + digits + "\n1"), "a " + enough + " \n1");
}

} // namespace
} // namespace trainc
