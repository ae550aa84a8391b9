// Transfers and sums of NCCL collectives, on emulated GPUs.
#include "base/small_float.h"
#include "runtime/comm/tree_sum.h"
#include "test/unit/runtime/comm/nccl/nccl_ranks.h"
#include "test/unit/runtime/comm/tcp/tcp_ranks.h"

namespace trainc {
namespace {

using test::GpuValues;
using test::inChild;
using test::NcclJob;
using test::onThreads;

class NcclCollectivesTest : public testing::TestWithParam<test::Grid> {
protected:
  test::Variables devices(uint64_t seed = 1) const {
    return {{"TRAINC_EMULATOR_DEVICES", std::to_string(GetParam().ranks)},
            {"TRAINC_EMULATOR_SEED", std::to_string(seed)}};
  }
};

/// Sums of such values are exact in every type.
template <typename Element> std::vector<Element> smallIntegers(uint32_t rank, uint64_t elements) {
  std::vector<Element> values;
  for (uint64_t i = 0; i < elements; ++i) {
    const auto value = static_cast<float>(i % 13 + rank);
    if constexpr (std::is_same_v<Element, float>)
      values.push_back(value);
    else
      values.push_back(Element::nearest(value));
  }
  return values;
}

template <typename Element> float sumOfIntegers(const Members &members, uint64_t i) {
  float sum = 0;
  for (uint32_t place = 0; place < members.count; ++place)
    sum += static_cast<float>(i % 13 + members.rankAt(place));
  return sum;
}

template <typename Element> constexpr fb::DType kTypeOf = fb::DType::F32;
template <> constexpr fb::DType kTypeOf<BFloat16> = fb::DType::BF16;
template <> constexpr fb::DType kTypeOf<Float16> = fb::DType::F16;

template <typename Element>
void sumInGroup(NcclCommunicator &communicator, const test::Grid &grid, Axes axes) {
  const Members members = grid.members(axes, communicator.rank());
  const uint64_t part = 3000, elements = part * members.count;
  const GpuValues<Element> source(communicator, smallIntegers<Element>(communicator.rank(), elements));
  const GpuValues<Element> sums(communicator, elements), mine(communicator, part);
  if (members.count < 2)
    return;
  const Status all = test::run(communicator, {.kind = MeetingKind::kAllReduce, .axes = axes},
                               {source.address(), sums.address(), elements, kTypeOf<Element>});
  EXPECT_TRUE(all.ok()) << all.message();
  const Status parts = test::run(communicator, {.kind = MeetingKind::kReduceScatter, .axes = axes},
                                 {source.address(), mine.address(), elements, kTypeOf<Element>});
  EXPECT_TRUE(parts.ok()) << parts.message();
  const std::vector<Element> summed = sums.read(), scattered = mine.read();
  for (uint64_t i = 0; i < elements; ++i)
    ASSERT_EQ(static_cast<float>(summed[i]), sumOfIntegers<Element>(members, i)) << "element " << i;
  const uint64_t begin = members.placeOf(communicator.rank()) * part;
  for (uint64_t i = 0; i < part; ++i)
    ASSERT_EQ(static_cast<float>(scattered[i]), sumOfIntegers<Element>(members, begin + i))
        << "element " << i;
}

TEST_P(NcclCollectivesTest, SumsOfAllTypesAndGroups) {
  inChild(devices(), [&] {
    onThreads({GetParam()}, [&](NcclCommunicator &communicator) {
      for (const Axes axes : {kAllAxes, test::kShard, test::kReplica}) {
        sumInGroup<float>(communicator, GetParam(), axes);
        sumInGroup<BFloat16>(communicator, GetParam(), axes);
        sumInGroup<Float16>(communicator, GetParam(), axes);
      }
    });
  });
}

TEST_P(NcclCollectivesTest, GathersPartsInPlaceAndApart) {
  const uint32_t n = GetParam().ranks;
  const uint64_t part = 100001; // more than the emulator moves at once
  inChild(devices(), [&] {
    onThreads({GetParam()}, [&](NcclCommunicator &communicator) {
      const uint32_t rank = communicator.rank();
      std::vector<float> values(part);
      for (uint64_t i = 0; i < part; ++i)
        values[i] = test::value(rank, i);
      const GpuValues<float> source(communicator, values), apart(communicator, n * part);
      std::vector<float> whole(n * part);
      std::copy(values.begin(), values.end(), whole.begin() + static_cast<ptrdiff_t>(rank * part));
      const GpuValues<float> inPlace(communicator, whole);
      ASSERT_TRUE(test::run(communicator, {.kind = MeetingKind::kAllGather},
                            {source.address(), apart.address(), n * part, fb::DType::F32})
                      .ok());
      ASSERT_TRUE(test::run(communicator, {.kind = MeetingKind::kAllGather},
                            {inPlace.address(rank * part), inPlace.address(), n * part, fb::DType::F32})
                      .ok());
      for (uint32_t place = 0; place < n; ++place)
        for (uint64_t i = 0; i < part; ++i)
          whole[place * part + i] = test::value(place, i);
      EXPECT_TRUE(test::sameBits(apart.read(), whole));
      EXPECT_TRUE(test::sameBits(inPlace.read(), whole));
    });
  });
}

/// Values whose sums depend on the order.
std::vector<float> unevenValues(uint32_t rank, uint64_t elements) {
  std::vector<float> values(elements);
  for (uint64_t i = 0; i < elements; ++i)
    values[i] = test::value(rank, i);
  return values;
}

std::vector<float> allReduced(NcclCommunicator &communicator, uint64_t elements) {
  const GpuValues<float> values(communicator, unevenValues(communicator.rank(), elements));
  const Status status = test::run(communicator, test::kAllReduce,
                                  {values.address(), values.address(), elements, fb::DType::F32});
  EXPECT_TRUE(status.ok()) << status.message();
  return values.read();
}

TEST_P(NcclCollectivesTest, OwnOrderIsTheTreesForTwoRanksAlone) {
  const uint64_t elements = 20000;
  for (const uint64_t seed : {1, 2})
    inChild(devices(seed), [&] {
      onThreads({GetParam()}, [&](NcclCommunicator &communicator) {
        const bool same =
            test::sameBits(allReduced(communicator, elements), test::treeSums(GetParam().ranks, elements));
        EXPECT_EQ(same, GetParam().ranks <= 2);
      });
    });
}

/// Workspaces of a sum by a kernel: for all data of the others, and for pieces of it.
const uint64_t kWorkspaces[] = {uint64_t{1} << 20, 4096};

TEST_P(NcclCollectivesTest, SumsOverTheTreeHaveItsBits) {
  const uint32_t n = GetParam().ranks;
  const uint64_t part = 50001, elements = n * part;
  inChild(devices(3), [&] {
    onThreads({GetParam()}, [&](NcclCommunicator &communicator) {
      communicator.sumBy(test::treeSumOnDevice);
      const std::vector<float> expected = test::treeSums(n, elements);
      const std::vector<float> own = unevenValues(communicator.rank(), elements);
      for (const uint64_t workspace : kWorkspaces) {
        const GpuValues<float> source(communicator, own), inPlace(communicator, own),
            mine(communicator, part);
        const CollectiveRange all = test::summedByKernel(
            communicator, {inPlace.address(), inPlace.address(), elements, fb::DType::F32}, workspace);
        const CollectiveRange parts = test::summedByKernel(
            communicator, {source.address(), mine.address(), elements, fb::DType::F32}, workspace);
        const Status reduced = test::run(communicator, test::kAllReduce, all),
                     scattered = test::run(communicator, test::kReduceScatter, parts);
        EXPECT_TRUE(reduced.ok() && scattered.ok()) << reduced.message() << scattered.message();
        EXPECT_TRUE(test::sameBits(inPlace.read(), expected));
        EXPECT_TRUE(
            test::sameBits(mine.read(), std::span(expected).subspan(communicator.rank() * part, part)));
      }
    });
  });
}

std::vector<BFloat16> smallValues(uint32_t rank, uint64_t elements) {
  std::vector<BFloat16> values;
  for (uint64_t i = 0; i < elements; ++i)
    values.push_back(test::smallValue<BFloat16>(rank, i));
  return values;
}

TEST_P(NcclCollectivesTest, SumsOfBf16OverTheTreeAreRoundedOnce) {
  const uint32_t n = GetParam().ranks;
  const uint64_t elements = 10000;
  inChild(devices(), [&] {
    onThreads({GetParam()}, [&](NcclCommunicator &communicator) {
      communicator.sumBy(test::treeSumOnDevice);
      for (const uint64_t workspace : kWorkspaces) {
        const GpuValues<BFloat16> memory(communicator, smallValues(communicator.rank(), elements));
        const CollectiveRange range = test::summedByKernel(
            communicator, {memory.address(), memory.address(), elements, fb::DType::BF16}, workspace);
        const Status status = test::run(communicator, test::kAllReduce, range);
        ASSERT_TRUE(status.ok()) << status.message();
        const std::vector<BFloat16> sums = memory.read();
        for (uint64_t i = 0; i < elements; ++i)
          ASSERT_TRUE(test::sameNumber(sums[i], test::smallTreeSum<BFloat16>(n, i))) << "element " << i;
      }
    });
  });
}

TEST_P(NcclCollectivesTest, SumsOfBf16MayStayF32) {
  const uint32_t n = GetParam().ranks;
  const uint64_t part = 5001, elements = n * part;
  inChild(devices(), [&] {
    onThreads({GetParam()}, [&](NcclCommunicator &communicator) {
      communicator.sumBy(test::treeSumOnDevice);
      for (const uint64_t workspace : kWorkspaces) {
        const GpuValues<BFloat16> source(communicator, smallValues(communicator.rank(), elements));
        const GpuValues<float> mine(communicator, part);
        const CollectiveRange range = test::summedByKernel(
            communicator, {source.address(), mine.address(), elements, fb::DType::BF16, true}, workspace);
        const Status status = test::run(communicator, test::kReduceScatter, range);
        ASSERT_TRUE(status.ok()) << status.message();
        std::vector<std::vector<float>> wide(n);
        std::vector<const std::byte *> inputs;
        for (uint32_t rank = 0; rank < n; ++rank) {
          for (const BFloat16 value : smallValues(rank, elements))
            wide[rank].push_back(static_cast<float>(value));
          inputs.push_back(reinterpret_cast<const std::byte *>(wide[rank].data()));
        }
        std::vector<float> expected(elements);
        TreeSum(n).sum(fb::DType::F32, inputs, fb::DType::F32, reinterpret_cast<std::byte *>(expected.data()),
                       elements);
        EXPECT_TRUE(
            test::sameBits(mine.read(), std::span(expected).subspan(communicator.rank() * part, part)));
      }
    });
  });
}

TEST_P(NcclCollectivesTest, SumsByKernelsAndByNcclGoTogether) {
  const Members all{0, 1, GetParam().ranks};
  inChild(devices(), [&] {
    onThreads({GetParam()}, [&](NcclCommunicator &communicator) {
      communicator.sumBy(test::treeSumOnDevice);
      const GpuValues<float> one(communicator, smallIntegers<float>(communicator.rank(), 5)),
          three(communicator, smallIntegers<float>(communicator.rank(), 3000));
      const GpuValues<BFloat16> two(communicator, smallIntegers<BFloat16>(communicator.rank(), 4097));
      const std::array<CollectiveRange, 3> ranges = {
          test::summedByKernel(communicator, {one.address(), one.address(), 5, fb::DType::F32}, 1024),
          CollectiveRange{two.address(), two.address(), 4097, fb::DType::BF16},
          test::summedByKernel(communicator, {three.address(), three.address(), 3000, fb::DType::F32}, 1024)};
      const Status status =
          communicator.wait(communicator.start({.kind = MeetingKind::kAllReduce, .ranges = ranges}));
      ASSERT_TRUE(status.ok()) << status.message();
      for (const GpuValues<float> *values : {&one, &three}) {
        const std::vector<float> sums = values->read();
        for (uint64_t i = 0; i < sums.size(); ++i)
          ASSERT_EQ(sums[i], sumOfIntegers<float>(all, i));
      }
      const std::vector<BFloat16> sums = two.read();
      for (uint64_t i = 0; i < sums.size(); ++i)
        ASSERT_EQ(static_cast<float>(sums[i]), sumOfIntegers<BFloat16>(all, i));
    });
  });
}

TEST_P(NcclCollectivesTest, ManyRangesOfUnequalTypesGoTogether) {
  const uint32_t n = GetParam().ranks;
  inChild(devices(), [&] {
    onThreads({GetParam()}, [&](NcclCommunicator &communicator) {
      const GpuValues<float> one(communicator, smallIntegers<float>(communicator.rank(), 5));
      const GpuValues<BFloat16> two(communicator, smallIntegers<BFloat16>(communicator.rank(), 4097));
      const std::array<CollectiveRange, 3> ranges = {{{one.address(), one.address(), 5, fb::DType::F32},
                                                      {two.address(), two.address(), 4097, fb::DType::BF16},
                                                      {one.address(5), one.address(5), 0, fb::DType::F32}}};
      const Status status =
          communicator.wait(communicator.start({.kind = MeetingKind::kAllReduce, .ranges = ranges}));
      ASSERT_TRUE(status.ok()) << status.message();
      const Members all{0, 1, n};
      for (uint64_t i = 0; i < 5; ++i)
        EXPECT_EQ(one.read()[i], sumOfIntegers<float>(all, i));
      const std::vector<BFloat16> sums = two.read();
      for (uint64_t i = 0; i < 4097; ++i)
        ASSERT_EQ(static_cast<float>(sums[i]), sumOfIntegers<BFloat16>(all, i));
    });
  });
}

TEST_P(NcclCollectivesTest, AGraphRunsCollectivesInEachLaunch) {
  inChild(devices(7), [&] {
    onThreads({GetParam()}, [&](NcclCommunicator &communicator) {
      const GpuValues<float> values(communicator, std::vector<float>(1000, 1));
      const CollectiveRange range{values.address(), values.address(), 1000, fb::DType::F32};
      const Collective collective{.kind = MeetingKind::kAllReduce, .ranges = std::span(&range, 1)};
      const Result<CudaStream> stream = makeCudaStream(0);
      ASSERT_TRUE(stream.ok());
      CUgraph graph = nullptr;
      CUgraphExec executable = nullptr;
      ASSERT_TRUE(driver().cuStreamBeginCapture(stream->get(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL).ok());
      const Status status = communicator.enqueue(collective, stream->get(), "update, instruction 3");
      ASSERT_TRUE(status.ok()) << status.message();
      ASSERT_TRUE(driver().cuStreamEndCapture(stream->get(), &graph).ok());
      ASSERT_TRUE(driver().cuGraphInstantiateWithFlags(&executable, graph, 0).ok());
      for (int launch = 0; launch < 3; ++launch)
        ASSERT_TRUE(driver().cuGraphLaunch(executable, stream->get()).ok());
      const Status end = test::synchronise(communicator, stream->get());
      EXPECT_TRUE(end.ok()) << end.message();
      const auto n = static_cast<float>(GetParam().ranks);
      EXPECT_EQ(values.read(), std::vector<float>(1000, n * n * n));
      EXPECT_TRUE(driver().cuGraphExecDestroy(executable).ok() && driver().cuGraphDestroy(graph).ok());
    });
  });
}

TEST_P(NcclCollectivesTest, HostsMeetBesideTheDevices) {
  inChild(devices(), [&] {
    onThreads({GetParam()}, [&](NcclCommunicator &communicator) {
      EXPECT_TRUE(communicator.barrier().ok());
      const uint32_t own = communicator.rank() * 10;
      std::vector<uint32_t> all(GetParam().ranks);
      ASSERT_TRUE(
          communicator.exchange(std::as_bytes(std::span(&own, 1)), std::as_writable_bytes(std::span(all)))
              .ok());
      for (uint32_t rank = 0; rank < all.size(); ++rank)
        EXPECT_EQ(all[rank], rank * 10);
      EXPECT_TRUE(communicator.poll().ok());
      EXPECT_TRUE(communicator.barrier().ok());
    });
  });
}

INSTANTIATE_TEST_SUITE_P(Grids, NcclCollectivesTest,
                         testing::Values(test::Grid{2, 1}, test::Grid{3, 3}, test::Grid{4, 2},
                                         test::Grid{4, 1}),
                         [](const testing::TestParamInfo<test::Grid> &info) {
                           return fmt::format("{}_by_{}", info.param.ranks, info.param.shardRanks);
                         });

TEST(NcclProcesses, RanksAreProcessesToo) {
  inChild({{"TRAINC_EMULATOR_DEVICES", "3"}}, [] {
    test::onProcesses({.grid = {3, 1}}, /*supervised=*/true, [](NcclCommunicator &communicator) {
      for (int times = 0; times < 3; ++times)
        EXPECT_FALSE(allReduced(communicator, 1000).empty());
      EXPECT_EQ(communicator.bytesSent(), 3 * (2 * 2 * 4000 / 3)); // each way, 2 of 3 parts
    });
  });
}

TEST(NcclProcesses, HostsMayMeetOverTcp) {
  inChild({{"TRAINC_EMULATOR_DEVICES", "3"}}, [] {
    test::onTcpRanks(
        3, test::kNever, [](TcpPlace &) {},
        [](uint32_t rank, Result<std::unique_ptr<Communicator>> hosts) {
          ASSERT_TRUE(hosts.ok()) << hosts.status().message();
          const auto made = NcclCommunicator::create(
              std::move(*hosts), {.place = {.index = rank, .ranks = 3}, .mesh = Mesh({{"shard", 3}})});
          ASSERT_TRUE(made.ok()) << made.status().message();
          EXPECT_TRUE((*made)->barrier().ok());
          EXPECT_EQ(allReduced(**made, 1000).size(), 1000U);
          EXPECT_TRUE((*made)->barrier().ok()); // a rank that leaves fails those that still wait
        });
  });
}

} // namespace
} // namespace trainc
