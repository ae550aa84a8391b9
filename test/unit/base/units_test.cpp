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

TEST(Units, SizesForOptions) {
  EXPECT_EQ(sizeOfAtLeast(46229000), "44.1MiB");
  EXPECT_EQ(sizeOfAtMost(46229000), "44MiB");
  EXPECT_EQ(sizeOfAtLeast(uint64_t{16} << 30), "16GiB");
  EXPECT_EQ(sizeOfAtMost(uint64_t{16} << 30), "16GiB");
  EXPECT_EQ(sizeOfAtLeast((uint64_t{16} << 30) + 1), "16.1GiB");
  EXPECT_EQ(sizeOfAtLeast(1100000), "1.05MiB");
  EXPECT_EQ(sizeOfAtMost(1100000), "1.04MiB");
  EXPECT_EQ(sizeOfAtLeast((10 << 20) - 1), "10MiB");
  EXPECT_EQ(sizeOfAtLeast((1 << 20) - 1), "1024KiB");
  EXPECT_EQ(sizeOfAtLeast(1000), "1000B");
}

TEST(Units, NeededBytesAreRoundedUp) {
  EXPECT_EQ(formatNeededBytes(0), "0 B");
  EXPECT_EQ(formatNeededBytes(1000), "1000 B");
  EXPECT_EQ(formatNeededBytes(1024), "1.00 KiB");
  EXPECT_EQ(formatNeededBytes(1025), "1.01 KiB");
  EXPECT_EQ(formatNeededBytes(46229000), "44.1 MiB");
  EXPECT_EQ(formatNeededBytes(61036687), "58.3 MiB");
  EXPECT_EQ(formatNeededBytes((10 << 20) - 1), "10.00 MiB");
  EXPECT_EQ(formatNeededBytes((uint64_t{300} << 30) + 1), "301 GiB");
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
