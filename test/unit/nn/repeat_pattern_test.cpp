// How smaller tensors are repeated over larger ones.
#include "dialects/NN/RepeatPattern.h"

#include <gtest/gtest.h>

using trainc::nn::RepeatPattern;

namespace {

TEST(RepeatPattern, EqualShapesAreIdentity) {
  EXPECT_TRUE(RepeatPattern::broadcast({4, 8}, {4, 8}).isIdentity());
  EXPECT_EQ(RepeatPattern::broadcast({4, 1, 8}, {1, 4, 1, 8}), RepeatPattern::identity(32));
  EXPECT_TRUE(RepeatPattern::identity(1).isIdentity());
}

TEST(RepeatPattern, RowsColumnsAndScalars) {
  RepeatPattern rows = RepeatPattern::broadcast({2, 3, 1}, {2, 3, 5});
  EXPECT_TRUE(rows.isPerRow(6, 5));
  EXPECT_FALSE(rows.isPerRow(2, 15));
  EXPECT_EQ(rows.uniformColumns(), 5);
  RepeatPattern columns = RepeatPattern::broadcast({5}, {2, 3, 5});
  EXPECT_FALSE(columns.isPerRow(6, 5));
  EXPECT_EQ(columns.uniformColumns(), 5);
  RepeatPattern scalar = RepeatPattern::broadcast({}, {2, 3, 5});
  EXPECT_EQ(scalar, RepeatPattern::scalar(30));
  EXPECT_EQ(scalar.uniformColumns(), 0);
}

TEST(RepeatPattern, ComposesAcrossReshapes) {
  // [5] -> [3, 5], seen as [15], -> [2, 15] is [5] -> [2, 3, 5].
  RepeatPattern outer = RepeatPattern::broadcast({15}, {2, 15});
  EXPECT_EQ(outer.compose(RepeatPattern::broadcast({5}, {3, 5})), RepeatPattern::broadcast({5}, {2, 3, 5}));
  // [2] -> [2, 3], seen as [6, 1], -> [6, 5] is [2, 1, 1] -> [2, 3, 5].
  RepeatPattern perRow = RepeatPattern::broadcast({6, 1}, {6, 5});
  EXPECT_EQ(perRow.compose(RepeatPattern::broadcast({2, 1}, {2, 3})),
            RepeatPattern::broadcast({2, 1, 1}, {2, 3, 5}));
}

TEST(RepeatPattern, DoesNotComposeWhereRunsOverlap) {
  // Kept runs of 2 and 3, filled from runs of 3 and 2: no common boundary.
  RepeatPattern outer = RepeatPattern::broadcast({2, 1, 3}, {2, 7, 3});
  EXPECT_FALSE(outer.compose(RepeatPattern::broadcast({3, 1}, {3, 2})).has_value());
  EXPECT_TRUE(outer.compose(RepeatPattern::broadcast({2, 1}, {2, 3})).has_value());
}

TEST(RepeatPattern, SplitsIntoRowsAndColumns) {
  // Positions of a sequence, repeated over a batch: [8, 64] -> [2, 8, 64].
  const RepeatPattern positions = RepeatPattern::broadcast({8, 64}, {2, 8, 64});
  EXPECT_EQ(positions.elements(), 512);
  auto parts = positions.split(64);
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->rows, RepeatPattern::broadcast({8}, {2, 8}));
  EXPECT_TRUE(parts->columns.isIdentity());
  parts = positions.split(1024);
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->rows.count(), 1);
  EXPECT_EQ(parts->columns, positions);
  EXPECT_FALSE(positions.split(3));
  // A row of 6 would end inside the run of 3.
  EXPECT_FALSE(RepeatPattern::broadcast({3, 1}, {3, 4}).split(6));
}

TEST(RepeatPattern, RepeatedAlongColumns) {
  EXPECT_TRUE(RepeatPattern::identity(6).repeatedAlongColumns(5).isPerRow(6, 5));
  EXPECT_TRUE(RepeatPattern::identity(6).repeatedAlongColumns(1).isIdentity());
}

} // namespace
