// Parameters that a group's pattern matches.
#include "dialects/Train/Parameters.h"

#include <gtest/gtest.h>

using trainc::train::matchesPattern;

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
