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

} // namespace
} // namespace trainc
