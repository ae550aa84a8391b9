#include "base/units.h"

#include <gtest/gtest.h>

namespace trainc {
namespace {

TEST(Units, Format) {
  EXPECT_EQ(formatBytes(0), "0 B");
  EXPECT_EQ(formatBytes(1023), "1023 B");
  EXPECT_EQ(formatBytes(1024), "1.00 KiB");
  EXPECT_EQ(formatBytes(1536), "1.50 KiB");
  EXPECT_EQ(formatBytes(2800000000), "2.61 GiB");
  EXPECT_EQ(formatBytes((1ULL << 30) - 1), "1.00 GiB");
  EXPECT_EQ(formatCount(950), "950");
  EXPECT_EQ(formatCount(999.6), "1.00k");
  EXPECT_EQ(formatCount(20345), "20.3k");
  EXPECT_EQ(formatCount(124439808), "124M");
  EXPECT_EQ(formatDuration(0.424), "0.42s");
  EXPECT_EQ(formatDuration(59.4), "59s");
  EXPECT_EQ(formatDuration(59.6), "1:00");
  EXPECT_EQ(formatDuration(185), "3:05");
  EXPECT_EQ(formatDuration(7385), "2:03:05");
  EXPECT_EQ(formatDuration(4 * 86400 + 7380), "4d 02:03");
}

TEST(Units, SuggestsPlainDigits) {
  EXPECT_EQ(inPlainDigits("1e3", 1, 5000), "; write 1000");
  EXPECT_EQ(inPlainDigits("1.5e3", 1, 5000), "; write 1500");
  EXPECT_EQ(inPlainDigits("010", 1, 5000), "; write 10");
  for (const char *text : {"1000", "1e4", "1.5", "0.5e0", "1e3x", "-1e2", "nan", "inf", ""})
    EXPECT_EQ(inPlainDigits(text, 1, 5000), "") << text;
}

} // namespace
} // namespace trainc
