#include "runtime/comm/parts.h"

#include <gmock/gmock.h>
#include <map>

namespace trainc {
namespace {

using testing::ElementsAre;

/// "range: begin+bytes" of the stretches of a window, and where they are in part and window.
std::vector<std::string> stretches(const Share &share, Window window) {
  std::vector<std::string> texts;
  share.forEach(window, [&](const Stretch &each) {
    texts.push_back(
        fmt::format("{}: {}+{} ({}, {})", each.range, each.begin, each.bytes, each.inPart, each.inWindow));
  });
  return texts;
}
std::vector<std::string> stretches(const Share &share) { return stretches(share, {0, share.bytes()}); }

TEST(Shares, OfPartsAreThePlacesPartOfEachRange) {
  const CollectiveRange ranges[] = {
      {.elements = 6}, {.elements = 0}, {.elements = 60, .dtype = fb::DType::U8}};
  const Collective gather{.kind = MeetingKind::kAllGather, .ranges = ranges};
  EXPECT_EQ(Share(gather, 3, 1).bytes(), 128U);
  EXPECT_THAT(stretches({gather, 3, 0}), ElementsAre("0: 0+8 (0, 0)", "2: 0+20 (0, 64)"));
  EXPECT_THAT(stretches({gather, 3, 2}), ElementsAre("0: 16+8 (0, 0)", "2: 40+20 (0, 64)"));
}

TEST(Shares, OfAnAllReduceAreAsManyLinesEach) {
  const CollectiveRange ranges[] = {{.elements = 1}, {.elements = 2}, {.elements = 70}, {.elements = 1}};
  const Collective sum{.kind = MeetingKind::kAllReduce, .ranges = ranges};
  EXPECT_EQ(Share(sum, 3, 0).bytes(), 192U); // of 1 + 1 + 5 + 1 lines
  EXPECT_THAT(stretches({sum, 3, 0}), ElementsAre("0: 0+4 (0, 0)", "1: 0+8 (0, 64)", "2: 0+64 (0, 128)"));
  EXPECT_THAT(stretches({sum, 3, 1}), ElementsAre("2: 64+192 (64, 0)"));
  EXPECT_THAT(stretches({sum, 3, 2}), ElementsAre("2: 256+24 (256, 0)", "3: 0+4 (0, 64)"));
}

TEST(Shares, ComeInWindows) {
  const CollectiveRange ranges[] = {{.elements = 40}, {.elements = 100}};
  const Collective scatter{.kind = MeetingKind::kReduceScatter, .ranges = ranges};
  const Share share(scatter, 2, 1); // 80 and 200 bytes from 0 and 128 on
  EXPECT_EQ(share.bytes(), 384U);
  EXPECT_THAT(stretches(share, {0, 192}), ElementsAre("0: 80+80 (0, 0)", "1: 200+64 (0, 128)"));
  EXPECT_THAT(stretches(share, {192, 384}), ElementsAre("1: 264+136 (64, 0)"));
  EXPECT_THAT(stretches(share, {384, 576}), ElementsAre());
}

// Every byte is some place's, and no two places'.
TEST(Shares, CoverTheRanges) {
  const CollectiveRange ranges[] = {{.elements = 3}, {.elements = 1000}, {.elements = 16}, {.elements = 5}};
  for (const uint32_t places : {1U, 2U, 3U, 7U, 64U}) {
    std::map<uint32_t, std::vector<int>> owners;
    for (uint32_t i = 0; i < 4; ++i)
      owners[i].resize(ranges[i].elements * sizeof(float));
    for (uint32_t place = 0; place < places; ++place)
      Share({.kind = MeetingKind::kAllReduce, .ranges = ranges}, places, place)
          .forEach([&](const Stretch &each) {
            for (uint64_t byte = each.begin; byte < each.begin + each.bytes; ++byte)
              ++owners[each.range][byte];
          });
    for (const auto &[range, counts] : owners)
      EXPECT_THAT(counts, testing::Each(1)) << "range " << range << " of " << places << " places";
  }
}

} // namespace
} // namespace trainc
