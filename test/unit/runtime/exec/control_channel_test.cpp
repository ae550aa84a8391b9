#include "runtime/exec/control_channel.h"

#include "test/unit/plan/plans/plan_builder.h"
#include "test/unit/runtime/rank_threads.h"

#include <gmock/gmock.h>

namespace trainc::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Word {
  uint64_t number;
  char letter;
};

class PeersOnRanks : public testing::Test {
protected:
  /// Calls `body(control, communicator)` on three ranks.
  template <typename Body> void run(Body body) {
    PlanBytes bytes(ranksPlan(3, 3).payload());
    onRanks(**bytes.read(), [&](Communicator &communicator) {
      ControlChannel control(&communicator);
      body(control, communicator);
    });
  }
};

TEST(ControlChannel, OneAloneHearsItself) {
  ControlChannel control(nullptr);
  EXPECT_EQ(control.ranks(), 1U);
  const auto values = control.gather(7);
  ASSERT_TRUE(values.ok());
  EXPECT_THAT(*values, ElementsAre(7));
  EXPECT_FALSE(*control.anyStops(false));
  EXPECT_TRUE(*control.anyStops(true));
  EXPECT_EQ(control.anyStops(false, failed("no data")).status().message(), "no data");
}

TEST_F(PeersOnRanks, AllHearAllInTheirOrder) {
  run([](ControlChannel &control, Communicator &) {
    for (uint64_t round = 0; round < 50; ++round) {
      const auto words =
          control.gather(Word{round * 10 + control.rank(), static_cast<char>('a' + control.rank())});
      ASSERT_TRUE(words.ok()) << words.status().message();
      ASSERT_EQ(words->size(), 3U);
      for (uint64_t rank = 0; rank < 3; ++rank) {
        EXPECT_EQ((*words)[rank].number, round * 10 + rank);
        EXPECT_EQ((*words)[rank].letter, static_cast<char>('a' + rank));
      }
    }
  });
}

TEST_F(PeersOnRanks, OneStopsAll) {
  run([](ControlChannel &control, Communicator &) {
    EXPECT_FALSE(*control.anyStops(false));
    EXPECT_TRUE(*control.anyStops(control.rank() == 2));
    const Status own = control.rank() == 1 ? failed("no data") : Status();
    EXPECT_TRUE(*control.anyStops(control.rank() == 2, own)) << "who stops needs no data";
    EXPECT_FALSE(*control.anyStops(false));
  });
}

TEST_F(PeersOnRanks, OneErrorIsKnownToAll) {
  run([](ControlChannel &control, Communicator &) {
    const Status own = control.rank() == 1 ? invalidInput("no data") : Status();
    const Status status = control.anyStops(false, own).status();
    if (control.rank() == 1)
      EXPECT_EQ(status.message(), "no data");
    else
      EXPECT_EQ(status.message(), "rank 1 cannot go on; its own message says why");
    EXPECT_FALSE(control.broken());
  });
}

TEST_F(PeersOnRanks, ADeadRankEndsTheRest) {
  run([](ControlChannel &control, Communicator &communicator) {
    if (control.rank() == 2)
      return communicator.fail("its disk is full");
    EXPECT_THAT(control.anyStops(false).status().message(), HasSubstr("rank 2 failed: its disk is full"));
    EXPECT_TRUE(control.broken());
  });
}

} // namespace
} // namespace trainc::test
