#include "base/name_pattern.h"

#include <gtest/gtest.h>

namespace trainc {
namespace {

TEST(MatchesPattern, WithoutStarNeedsTheWholeName) {
  EXPECT_TRUE(matchesPattern("wte.weight", "wte.weight"));
  EXPECT_FALSE(matchesPattern("wte", "wte.weight"));
  EXPECT_FALSE(matchesPattern("weight", "wte.weight"));
  EXPECT_FALSE(matchesPattern("", "a"));
}

TEST(MatchesPattern, StarStandsForAnyText) {
  EXPECT_TRUE(matchesPattern("*", ""));
  EXPECT_TRUE(matchesPattern("*", "h.0.ln_1.weight"));
  EXPECT_TRUE(matchesPattern("*.bias", "h.0.attn.c_attn.bias"));
  EXPECT_FALSE(matchesPattern("*.bias", "h.0.bias.weight"));
  EXPECT_TRUE(matchesPattern("h.*.weight", "h.11.mlp.c_fc.weight"));
  EXPECT_FALSE(matchesPattern("h.*.weight", "ln_f.weight"));
}

TEST(MatchesPattern, PiecesDoNotOverlap) {
  EXPECT_FALSE(matchesPattern("ab*ba", "aba"));
  EXPECT_TRUE(matchesPattern("ab*ba", "abba"));
  EXPECT_FALSE(matchesPattern("*aa*aa", "aaa"));
  EXPECT_TRUE(matchesPattern("*aa*aa", "aaxaa"));
}

TEST(MatchesPattern, LastPieceMatchesAtTheEnd) {
  EXPECT_TRUE(matchesPattern("*.1.*.weight", "h.1.ln.1.weight.weight"));
  EXPECT_TRUE(matchesPattern("**", "x"));
}

TEST(MatchesPattern, NoOtherCharacterHasAMeaning) {
  EXPECT_TRUE(matchesPattern("v[0].weight", "v[0].weight"));
  EXPECT_TRUE(matchesPattern("v[0].*", "v[0].weight"));
  EXPECT_FALSE(matchesPattern("v[0].weight", "v0.weight"));
  EXPECT_FALSE(matchesPattern("v?0?.weight", "v[0].weight"));
  EXPECT_FALSE(matchesPattern("v\\*", "v*"));
  EXPECT_TRUE(matchesPattern("*[!a]", "x[!a]"));
}

TEST(NameRule, StarsKeepTheirTexts) {
  const auto rule = parseNameRule("backbone.layers.*.mixer.*=model.layers.*.self_attn.*");
  ASSERT_TRUE(rule.has_value());
  EXPECT_EQ(rule->rename("backbone.layers.12.mixer.q_proj.weight"),
            "model.layers.12.self_attn.q_proj.weight");
  EXPECT_EQ(rule->rename("backbone.norm.weight"), std::nullopt);
  EXPECT_EQ(parseNameRule("wte=embed")->rename("wte"), "embed");
  EXPECT_EQ(parseNameRule("*=model.*")->rename("norm.weight"), "model.norm.weight");
  EXPECT_EQ(parseNameRule("**=*.*")->rename("ab"), ".ab") << "the first star has as little as possible";
}

TEST(NameRule, BothSidesHaveAsManyStars) {
  for (const char *text : {"a", "=b", "a=", "a*=b", "a=b*", "*.*=*"})
    EXPECT_FALSE(parseNameRule(text).has_value()) << text;
}

} // namespace
} // namespace trainc
