#include "runtime/exec/peers.h"

#include "test/unit/runtime/plan_builder.h"
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
  /// Calls `body(peers, communicator)` on three ranks.
  template <typename Body> void run(Body body) {
    PlanBytes bytes(ranksPlan(3, 3).payload());
    onRanks(**bytes.read(), [&](Communicator &communicator) {
      Peers peers(&communicator);
      body(peers, communicator);
    });
  }
};

TEST(Peers, OneAloneHearsItself) {
  Peers peers(nullptr);
  EXPECT_EQ(peers.ranks(), 1U);
  const auto values = peers.gather(7);
  ASSERT_TRUE(values.ok());
  EXPECT_THAT(*values, ElementsAre(7));
  EXPECT_FALSE(*peers.anyStops(false));
  EXPECT_TRUE(*peers.anyStops(true));
  EXPECT_EQ(peers.anyStops(false, failed("no data")).status().message(), "no data");
}

TEST_F(PeersOnRanks, AllHearAllInTheirOrder) {
  run([](Peers &peers, Communicator &) {
    for (uint64_t round = 0; round < 50; ++round) {
      const auto words = peers.gather(Word{round * 10 + peers.rank(), static_cast<char>('a' + peers.rank())});
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
  run([](Peers &peers, Communicator &) {
    EXPECT_FALSE(*peers.anyStops(false));
    EXPECT_TRUE(*peers.anyStops(peers.rank() == 2));
    const Status own = peers.rank() == 1 ? failed("no data") : Status();
    EXPECT_TRUE(*peers.anyStops(peers.rank() == 2, own)) << "who stops needs no data";
    EXPECT_FALSE(*peers.anyStops(false));
  });
}

TEST_F(PeersOnRanks, OneErrorIsKnownToAll) {
  run([](Peers &peers, Communicator &) {
    const Status own = peers.rank() == 1 ? invalidInput("no data") : Status();
    const Status status = peers.anyStops(false, own).status();
    if (peers.rank() == 1)
      EXPECT_EQ(status.message(), "no data");
    else
      EXPECT_EQ(status.message(), "rank 1 cannot go on; its own message says why");
    EXPECT_FALSE(peers.broken());
  });
}

TEST_F(PeersOnRanks, ADeadRankEndsTheRest) {
  run([](Peers &peers, Communicator &communicator) {
    if (peers.rank() == 2)
      return communicator.fail("its disk is full");
    EXPECT_THAT(peers.anyStops(false).status().message(), HasSubstr("rank 2 failed: its disk is full"));
    EXPECT_TRUE(peers.broken());
  });
}

} // namespace
} // namespace trainc::test
