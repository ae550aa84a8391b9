// Lists are read by one rule.
#include "plan/settings/lists.h"

#include <gtest/gtest.h>

using namespace trainc::train;

/// The normalised list, or its error.
static std::string read(ValueKind kind, std::string list) {
  const std::string problem = tidyList({.kind = kind}, list);
  return problem.empty() ? list : problem;
}

TEST(Lists, BlanksAroundCommasDoNotCount) {
  EXPECT_EQ(read(ValueKind::Names, " layer ,\tmlp,a b "), "layer,mlp,a b");
  EXPECT_EQ(read(ValueKind::Words, "optimizer, gradients"), "optimizer,gradients");
  EXPECT_EQ(read(ValueKind::Wrap, "layer, _mlp"), "layer,_mlp");
  EXPECT_EQ(read(ValueKind::Shares, "2x50, 0, 0"), "2x50,0,0");
}

TEST(Lists, EachWordStandsThereOnce) {
  for (const ValueKind kind : {ValueKind::Names, ValueKind::Words, ValueKind::Wrap})
    EXPECT_EQ(read(kind, "layer, mlp, layer"), "expected each word once, found 'layer' twice");
}

TEST(Lists, NoPlaceIsEmpty) {
  for (const std::string list : {"", " ", ",", "a,", ",a", "a,,b"})
    EXPECT_EQ(read(ValueKind::Names, list),
              "expected an element before and after each comma, found '" + list + "'");
}

TEST(Lists, SharesArePercentages) {
  for (const std::string list : {"", "101", "-1", "+1", "050", "2x050", "02x50", "0x50", "65537x50", "2x",
                                 "x50", "2 x 50", "50,", "50%", "99999999999999999999"})
    EXPECT_EQ(read(ValueKind::Shares, list),
              "expected " + std::string(kExpectedShares) + ", found '" + list + "'");
  EXPECT_EQ(keptShareOf("48x15")->uses, 48);
  EXPECT_EQ(keptShareOf("48x15")->percent, 15);
  EXPECT_EQ(keptShareOf("100")->uses, 1);
}

TEST(Lists, UnitsOfWrap) {
  EXPECT_EQ(wrapOf("blocks")->unit, Wrap::Unit::Blocks);
  EXPECT_EQ(wrapOf("model")->unit, Wrap::Unit::Model);
  EXPECT_EQ(wrapOf("1000")->unit, Wrap::Unit::LargeBlocks);
  EXPECT_EQ(wrapOf("1000")->minElements, 1000);
  EXPECT_EQ(wrapOf("model,mlp")->names, (std::vector<std::string_view>{"model", "mlp"}));
}

TEST(Lists, UnitsAreBlocksOrANumber) {
  EXPECT_EQ(read(ValueKind::Wrap, "1000"), "1000");
  for (const std::string list : {"", "0", "01000", "-5", "layer,", "layer,5", "5,5", "9223372036854775808"})
    EXPECT_EQ(read(ValueKind::Wrap, list),
              "expected " + std::string(kExpectedWrap) + ", found '" + list + "'");
}
