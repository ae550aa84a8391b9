#include "runtime/data/loader.h"

#include "runtime/data/philox.h"
#include "test/unit/runtime/data/support.h"
#include "test/unit/runtime/no_threads.h"

#include <map>
#include <set>

namespace trainc {
namespace {

using namespace test;

TEST(Philox, KnownAnswers) { // from the kat_vectors file of the paper's authors
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (std::array<uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (std::array<uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (std::array<uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

std::vector<uint64_t> epochOf(const SampleOrder &order, uint64_t epoch) {
  std::vector<uint64_t> samples;
  for (uint64_t i = 0; i < order.samples(); ++i)
    samples.push_back(order(epoch * order.samples() + i));
  return samples;
}

TEST(SampleOrder, EachEpochVisitsAllOnce) {
  for (const uint64_t count : {1, 2, 3, 4, 5, 7, 8, 9, 100, 1000, 1024, 1025}) {
    const auto order = SampleOrder::shuffled(count, 42);
    for (uint64_t epoch = 0; epoch < 4; ++epoch) {
      const auto samples = epochOf(order, epoch);
      EXPECT_EQ(std::set(samples.begin(), samples.end()).size(), count) << count;
      EXPECT_LT(*std::max_element(samples.begin(), samples.end()), count);
    }
  }
}

TEST(SampleOrder, DependsOnSeedAndEpoch) {
  const auto order = SampleOrder::shuffled(1000, 1);
  EXPECT_EQ(epochOf(order, 0), epochOf(SampleOrder::shuffled(1000, 1), 0));
  EXPECT_NE(epochOf(order, 0), epochOf(order, 1));
  EXPECT_NE(epochOf(order, 0), epochOf(SampleOrder::shuffled(1000, 2), 0));
  EXPECT_NE(epochOf(order, 0), epochOf(SampleOrder::shuffled(1000, 1 + (uint64_t{1} << 32)), 0));
}

TEST(SampleOrder, IsFixedForEver) { // a change would break resumed runs
  const auto order = SampleOrder::shuffled(1000003, 7);
  EXPECT_THAT((std::vector<uint64_t>{order(0), order(1), order(2), order(1000003), order(uint64_t{1} << 50)}),
              testing::ElementsAre(640901, 493435, 660635, 21635, 704863));
}

TEST(SampleOrder, ShufflesEvenly) {
  // The place of sample 0 over many epochs: chi-squared with 4 degrees of freedom stays below 18.5 with p =
  // 0.999.
  constexpr int kEpochs = 5000;
  const auto order = SampleOrder::shuffled(5, 3);
  std::array<int, 5> places{};
  for (uint64_t epoch = 0; epoch < kEpochs; ++epoch)
    for (uint64_t i = 0; i < 5; ++i)
      if (order(epoch * 5 + i) == 0)
        ++places[i];
  double chiSquared = 0;
  for (const int count : places)
    chiSquared += (count - kEpochs / 5.0) * (count - kEpochs / 5.0) / (kEpochs / 5.0);
  EXPECT_LT(chiSquared, 18.5);
  // Neighbours do not stay neighbours.
  const auto large = epochOf(SampleOrder::shuffled(100000, 3), 0);
  int adjacent = 0;
  for (size_t i = 1; i < large.size(); ++i)
    adjacent += large[i] == large[i - 1] + 1 ? 1 : 0;
  EXPECT_LT(adjacent, 10);
}

TEST(SampleOrder, Sequential) {
  const auto order = SampleOrder::sequential(3);
  EXPECT_EQ(order(0), 0U);
  EXPECT_EQ(order(5), 2U);
}

class LoaderTest : public testing::Test {
protected:
  /// Ten samples; sample i is the one token i+1 with the label i+2.
  void SetUp() override {
    std::vector<uint16_t> tokens(11);
    for (size_t i = 0; i < tokens.size(); ++i)
      tokens[i] = static_cast<uint16_t>(i + 1);
    open(tokens);
  }
  void open(const std::vector<uint16_t> &tokens) {
    path_ = folder_.write("t.bin", bytesOf(tokens));
    auto dataset = Dataset::open(
        {path_}, {{"tokens", fb::DType::I32, {1}, 20}, {"labels", fb::DType::I32, {1}, 20, -100}});
    ASSERT_OK(dataset);
    dataset_ = std::move(*dataset);
  }
  const Folder folder_;
  std::string path_;
  Dataset dataset_;
};

TEST_F(LoaderTest, GivesMicroBatchesInOrder) {
  Loader loader(dataset_, SampleOrder::sequential(10), {.microBatch = 2, .accumulate = 3});
  const auto first = loader.next(0);
  ASSERT_OK(first);
  EXPECT_THAT(valuesOf<int32_t>(first->step(0)), testing::ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(valuesOf<int32_t>(first->micro(1, 2)), testing::ElementsAre(6, 7));
  const auto second = loader.next(1);
  ASSERT_OK(second);
  EXPECT_THAT(valuesOf<int32_t>(second->step(0)), testing::ElementsAre(7, 8, 9, 10, 1, 2));
}

TEST_F(LoaderTest, NeedsNoThread) {
  const NoThreads none;
  Loader loader(dataset_, SampleOrder::sequential(10), {.microBatch = 2});
  for (uint64_t step = 0; step < 9; ++step)
    for (int replay = 0; replay < 2; ++replay) {
      const auto batch = loader.next(step);
      ASSERT_OK(batch);
      EXPECT_EQ(valuesOf<int32_t>(batch->step(0))[0], static_cast<int32_t>(step * 2 % 10 + 1));
    }
}

TEST_F(LoaderTest, ReportsAFileThatBecomesShorter) {
  std::filesystem::resize_file(path_, 6);
  Loader loader(dataset_, SampleOrder::sequential(10), {.microBatch = 2});
  ASSERT_OK(loader.next(0)); // the tokens 1, 2 and 3
  EXPECT_INVALID(loader.next(1), path_ + ": byte 6: the file was truncated while in use; it had 22 bytes");
}

TEST_F(LoaderTest, KeepsAStepForReplay) {
  Loader loader(dataset_, SampleOrder::sequential(10), {.microBatch = 1, .firstStep = 4});
  for (uint64_t step = 4; step < 30; ++step)
    for (int replay = 0; replay < 2; ++replay) {
      const auto batch = loader.next(step);
      ASSERT_OK(batch);
      EXPECT_THAT(valuesOf<int32_t>(batch->step(0)), testing::ElementsAre(step % 10 + 1));
    }
  const auto jump = loader.next(40);
  ASSERT_FALSE(jump.ok());
  EXPECT_EQ(jump.status().exitCode(), 1);
  EXPECT_EQ(jump.status().message(), "data loader: step 40 asked for after step 29; steps follow each other");
}

TEST_F(LoaderTest, SamplesOfAStepDoNotDependOnItsDivision) {
  const auto order = SampleOrder::shuffled(10, 5);
  const auto collect = [&](uint64_t micro, uint64_t accumulate, uint64_t ranks) {
    std::vector<std::unique_ptr<Loader>> loaders;
    for (uint64_t rank = 0; rank < ranks; ++rank)
      loaders.push_back(std::make_unique<Loader>(
          dataset_, order,
          LoaderOptions{
              .microBatch = micro, .accumulate = accumulate, .rank = rank, .ranks = ranks, .firstStep = 3}));
    std::vector<int32_t> all;
    for (const auto &loader : loaders)
      for (uint64_t m = 0; m < accumulate; ++m) {
        const auto batch = loader->next(3);
        EXPECT_TRUE(batch.ok());
        const auto values = valuesOf<int32_t>(batch->micro(0, m));
        all.insert(all.end(), values.begin(), values.end());
      }
    return all;
  };
  const auto whole = collect(8, 1, 1);
  EXPECT_EQ(collect(2, 4, 1), whole);
  EXPECT_EQ(collect(2, 1, 4), whole);
  EXPECT_EQ(collect(1, 2, 4), whole);
}

TEST_F(LoaderTest, ReportsBadValues) {
  open({1, 2, 3, 20, 5});
  Loader loader(dataset_, SampleOrder::sequential(4), {.microBatch = 2});
  ASSERT_OK(loader.next(0)); // its label 3 is fine
  EXPECT_INVALID(
      loader.next(1),
      path_ + ": byte 6: sample 3, column 'tokens', element 0: 20 is not below the model's limit "
              "20; was the file made with another tokenizer, or with another --data-dtype than uint16?");
}

TEST_F(LoaderTest, StopsWithoutBeingAsked) {
  for (int i = 0; i < 20; ++i)
    Loader loader(dataset_, SampleOrder::sequential(10), {.microBatch = 4});
}

} // namespace
} // namespace trainc
