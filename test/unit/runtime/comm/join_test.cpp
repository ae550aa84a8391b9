// Ranks that no common parent has forked.
#include "base/clock.h"
#include "runtime/comm/local/local_join.h"
#include "test/unit/runtime/comm/support.h"

#include <csignal>
#include <cstddef>
#include <filesystem>
#include <future>
#include <gmock/gmock.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace trainc {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr uint64_t kBytes = 4096;

/// A name that no other test uses at the same time.
LocalPlace placeOf(uint32_t rank) {
  const auto *test = testing::UnitTest::GetInstance()->current_test_info();
  return {.rank = rank,
          .job = fmt::format("{}-{}", test->name(), ::getpid()),
          .fingerprint = 7,
          .waitSeconds = 20};
}

/// Lets all places join concurrently; returns each result.
std::vector<Status> joinAll(const std::vector<LocalPlace> &places, uint32_t ranks,
                            const std::function<Status(uint32_t, Communicator &)> &body) {
  std::vector<Status> statuses(places.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < places.size(); ++i)
    threads.emplace_back([&, i] {
      const auto group = LocalGroup::join(places[i], Mesh({{"shard", ranks}}), kBytes,
                                          {.timeoutSeconds = 20, .inFlight = 1});
      statuses[i] = group.status();
      if (group.ok())
        statuses[i] = body(places[i].rank, **group->communicator(places[i].rank));
    });
  for (std::thread &thread : threads)
    thread.join();
  return statuses;
}

Status nothing(uint32_t, Communicator &) { return {}; }

TEST(LocalJoin, RanksShareMemory) {
  const auto sum = [](uint32_t rank, Communicator &communicator) -> Status {
    TRAINC_ASSIGN_OR_RETURN(const DeviceAddress address, communicator.allocate("value", sizeof(float)));
    auto *value = address.as<float>();
    *value = static_cast<float>(rank + 1);
    const CollectiveRange range{.source = address, .destination = address, .elements = 1};
    TRAINC_RETURN_IF_ERROR(communicator.wait(
        communicator.start({.kind = MeetingKind::kAllReduce, .ranges = std::span(&range, 1)})));
    return *value == 6 ? Status() : failed("{}", *value);
  };
  for (const Status &status : joinAll({placeOf(2), placeOf(0), placeOf(1)}, 3, sum))
    EXPECT_TRUE(status.ok()) << status.message();
}

TEST(LocalJoin, AnotherPlanIsNamedOnAllRanks) {
  LocalPlace other = placeOf(1);
  other.fingerprint = 8;
  for (const Status &status : joinAll({placeOf(0), other, placeOf(2)}, 3, nothing)) {
    EXPECT_EQ(status.exitCode(), 2);
    EXPECT_THAT(
        status.message(),
        HasSubstr("rank 1 runs another plan (checksum 0000000000000008) than rank 0 (0000000000000007)"));
  }
}

TEST(LocalJoin, ARankOfAnotherJobIsTurnedAway) {
  const auto join = [](uint32_t rank, const char *launch) {
    return std::async(std::launch::async, [place = placeOf(rank), launch]() mutable {
      place.launch = launch;
      return joinAll({place}, 3, nothing).front();
    });
  };
  auto host = join(0, "run=new");
  const Status old = join(2, "run=old").get();
  EXPECT_EQ(old.exitCode(), 2);
  EXPECT_THAT(old.message(), HasSubstr("rank 2 is of another job than rank 0"));
  auto ofNoLaunch = join(1, ""), own = join(2, "run=new");
  for (auto *each : {&host, &ofNoLaunch, &own})
    EXPECT_EQ(each->get().message(), "");
}

TEST(LocalJoin, TwoOfTheSameRankAreRefused) {
  for (const uint32_t twin : {0U, 1U}) {
    for (const Status &status : joinAll({placeOf(0), placeOf(1), placeOf(twin)}, 3, nothing))
      EXPECT_THAT(status.message(),
                  HasSubstr(fmt::format("say that they are rank {}; give each a RANK of its own, from 0 to 2",
                                        twin)));
  }
}

TEST(LocalJoin, ARankThatDoesNotComeIsNotWaitedForLonger) {
  LocalPlace first = placeOf(0), second = placeOf(1);
  first.waitSeconds = second.waitSeconds = 0.3;
  for (const Status &status : joinAll({first, second}, 3, nothing)) {
    EXPECT_EQ(status.exitCode(), 1);
    EXPECT_THAT(status.message(), HasSubstr("2 of 3 ranks have come within 0.3 s"));
  }
  EXPECT_THAT(LocalGroup::join(second, Mesh({{"shard", 3}}), kBytes).status().message(),
              HasSubstr("rank 1: rank 0 has not come within 0.3 s"));
}

TEST(LocalJoin, ARankThatCannotTakePartEndsTheWaitOfAll) {
  for (const uint32_t odd : {0U, 1U}) {
    std::thread declines([&] { LocalGroup::decline(placeOf(odd), 3, "none.plan: no such file"); });
    for (const Status &status : joinAll({placeOf(1 - odd), placeOf(2)}, 3, nothing)) {
      EXPECT_EQ(status.exitCode(), 1);
      EXPECT_EQ(status.message(),
                fmt::format("rank {} failed before it joined the others: none.plan: no such file", odd));
    }
    declines.join();
  }
}

TEST(LocalJoin, AReasonIsToldWithoutWaitingForRanksThatHaveNotCome) {
  const double begin = steadySeconds();
  std::thread declines([&] { LocalGroup::decline(placeOf(1), 3, "none.plan: no such file"); });
  EXPECT_EQ(joinAll({placeOf(0)}, 3, nothing).front().message(),
            "rank 1 failed before it joined the others: none.plan: no such file");
  EXPECT_LT(steadySeconds() - begin, 10);
  declines.join();
  LocalPlace host = placeOf(0);
  host.waitSeconds = 1;
  std::thread first([&] { LocalGroup::decline(host, 4, "none.plan: no such file"); });
  EXPECT_EQ(joinAll({placeOf(1)}, 3, nothing).front().message(),
            "rank 0 failed before it joined the others: none.plan: no such file");
  EXPECT_LT(steadySeconds() - begin, 15);
  first.join();
}

TEST(LocalJoin, WhereAllDeclineNobodyWaits) {
  std::vector<std::thread> ranks;
  for (const uint32_t rank : {0U, 1U, 2U})
    ranks.emplace_back([place = placeOf(rank)] { LocalGroup::decline(place, 3, "no such file"); });
  for (std::thread &rank : ranks)
    rank.join();
}

TEST(LocalJoin, AJobNeedsANameOfItsOwn) {
  LocalPlace first = placeOf(0), second = placeOf(0);
  first.waitSeconds = second.waitSeconds = 1;
  second.fingerprint = 8;
  const std::vector<Status> statuses = joinAll({first, second}, 2, nothing);
  EXPECT_THAT(statuses[0].message() + statuses[1].message(),
              AllOf(HasSubstr("1 of 2 ranks have come"), HasSubstr("another job of this user")));
}

/// Connects to the socket of a test, once a process listens there.
Descriptor connectAndSendNothing() {
  for (;;)
    if (Connection connection = connectLocally(meetingSocketName(placeOf(0))); connection.socket)
      return std::move(connection.socket);
}

TEST(LocalJoin, WhoIsSilentOrTalksNonsenseHoldsNobodyUp) {
  auto host =
      std::async(std::launch::async, [place = placeOf(0)] { return joinAll({place}, 3, nothing).front(); });
  std::vector<Descriptor> silent;
  for (int i = 0; i < 300; ++i) // more than are kept
    silent.push_back(connectAndSendNothing());
  EXPECT_TRUE(sendPacket(silent.back(), std::as_bytes(std::span("hello", 5))));
  silent[298] = Descriptor(); // leaves again
  for (const Status &status : joinAll({placeOf(1), placeOf(2)}, 3, nothing))
    EXPECT_EQ(status.message(), "");
  EXPECT_EQ(host.get().message(), "");
}

TEST(LocalJoin, AWelcomeWithoutTheMemoryIsRefused) {
  const auto listener = listenLocally(meetingSocketName(placeOf(0)), 2);
  ASSERT_TRUE(listener);
  const Descriptor unsealed(::memfd_create("unsealed", MFD_CLOEXEC));
  const std::pair<int, const char *> answers[] = {{-1, "expected a file in memory, found none"},
                                                  {unsealed.get(), "whose size is sealed"}};
  for (const auto &[file, reason] : answers) {
    auto rank =
        std::async(std::launch::async, [place = placeOf(1)] { return joinAll({place}, 2, nothing).front(); });
    Acceptor acceptor(*listener, 1000);
    const std::optional<IncomingConnection> connection = acceptor.next(steadySeconds() + 20);
    ASSERT_TRUE(connection);
    EXPECT_TRUE(sendPacket(connection->socket, std::as_bytes(std::span("welcome", 7)), file));
    const Status status = rank.get();
    EXPECT_EQ(status.exitCode(), 1);
    EXPECT_THAT(status.message(),
                AllOf(HasSubstr("something else than the ranks' memory"), HasSubstr(reason)));
  }
}

/// A child process of another user, which does `work` and ends when it is destroyed. Only root can make one.
class OtherUser {
public:
  static constexpr uid_t kUser = 65534;

  explicit OtherUser(const std::function<bool()> &work) : ready_(::eventfd(0, 0)) {
    child_ = ::fork();
    if (child_ != 0) {
      uint64_t done = 0;
      (void)!::read(ready_.get(), &done, sizeof(done));
      worked_ = done == 1;
      return;
    }
    const uint64_t done = ::setresuid(kUser, kUser, kUser) == 0 && work() ? 1 : 2;
    (void)!::write(ready_.get(), &done, sizeof(done));
    ::pause();
    ::_exit(0);
  }
  OtherUser(const OtherUser &) = delete;
  OtherUser &operator=(const OtherUser &) = delete;
  ~OtherUser() {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  bool worked() const { return worked_; }

private:
  Descriptor ready_;
  pid_t child_ = -1;
  bool worked_ = false;
};

TEST(LocalJoin, AnotherUserIsNotTakenForRankZero) {
  if (::geteuid() != 0)
    GTEST_SKIP() << "needs root, to be another user";
  const std::string name = meetingSocketName(placeOf(0));
  std::optional<Descriptor> listener;
  const OtherUser other([&] { return (listener = listenLocally(name, 2)).has_value(); });
  ASSERT_TRUE(other.worked());
  for (const uint32_t rank : {0U, 1U}) {
    const Status status = joinAll({placeOf(rank)}, 2, nothing).front();
    EXPECT_EQ(status.exitCode(), 1);
    EXPECT_THAT(status.message(),
                HasSubstr(fmt::format("rank {}: a process of another user (uid 65534) listens", rank)));
  }
}

TEST(LocalJoin, AnotherUserIsNotTakenForARank) {
  if (::geteuid() != 0)
    GTEST_SKIP() << "needs root, to be another user";
  LocalPlace place = placeOf(0);
  place.waitSeconds = 1;
  const std::string name = meetingSocketName(place);
  auto host = std::async(std::launch::async, [place] { return joinAll({place}, 2, nothing).front(); });
  const Descriptor own = connectAndSendNothing(); // rank 0 listens
  std::optional<Descriptor> socket;
  const OtherUser other([&] {
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    name.copy(address.sun_path + 1, name.size());
    socket.emplace(::socket(AF_UNIX, SOCK_SEQPACKET, 0));
    return ::connect(socket->get(), reinterpret_cast<const sockaddr *>(&address),
                     static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size())) == 0;
  });
  ASSERT_TRUE(other.worked());
  EXPECT_THAT(host.get().message(), HasSubstr("1 of 2 ranks have come within 1 s, and 1 of another user"));
}

} // namespace
} // namespace trainc
