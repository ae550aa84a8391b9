// Copies to disk that outlast their entry, and waits for them.
#include "plan/facts/outlasting.h"
#include "plan/facts/pieces.h"
#include "test/unit/plan/plans/plan_builder.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <random>

namespace trainc::test {
namespace {

constexpr uint64_t kBlock = 4096, kBlocks = 16;

/// Two entries over one scratch buffer of some blocks and as many on disk.
class Outlasting : public testing::Test {
protected:
  PlanBuilder builder_;
  uint32_t scratch_ = builder_.buffer("scratch", PlanBuilder::kScratch, fb::DType::U8, kBlocks *kBlock);
  uint32_t kept_ = builder_.buffer("kept", PlanBuilder::kPersistent, fb::DType::U8, kBlock);
  uint32_t disk_ = builder_.buffer("disk", builder_.arena("disk", fb::Space::Disk, /*persistent=*/true),
                                   fb::DType::U8, kBlocks *kBlock);
  PlanBuilder::Body &first_ = builder_.entry("update").instructions;
  PlanBuilder::Body &second_ = builder_.entry("micro_step").instructions;

  void onDisk(PlanBuilder::Body &body, fb::Operand from, fb::Operand to, uint64_t blocks = 1) {
    builder_.copy(body, from, to, blocks * kBlock);
    PlanBuilder::on(body, fb::Stream::Disk);
  }
  void store(PlanBuilder::Body &body, uint64_t block, uint64_t blocks = 1) {
    onDisk(body, at(scratch_, block * kBlock), at(disk_), blocks);
  }
  void fetch(PlanBuilder::Body &body, uint64_t block) {
    onDisk(body, at(disk_), at(scratch_, block * kBlock));
  }
  void zero(PlanBuilder::Body &body, uint64_t block, uint64_t blocks = 1) {
    builder_.zero(body, at(scratch_, block * kBlock), blocks * kBlock);
  }

  const fb::Plan &plan() {
    bytes_.emplace(builder_.payload());
    return *fb::GetPlan(bytes_->payload().data());
  }
  std::vector<uint32_t> copies() {
    const fb::Plan &plan = this->plan();
    return outlastingCopies(plan, *plan.entries()->Get(0));
  }
  std::vector<TaskWait> waits() {
    const fb::Plan &plan = this->plan();
    return outlastingWaits(plan, *plan.entries()->Get(0), *plan.entries()->Get(1));
  }

private:
  std::optional<PlanBytes> bytes_;
};

TEST_F(Outlasting, StoresOfScratchAfterTheLastFetch) {
  store(first_, 0);
  fetch(first_, 1);
  store(first_, 2);
  zero(first_, 3);
  store(first_, 3);
  EXPECT_THAT(copies(), testing::ElementsAre(2, 4));
}

/// The host, or the next entry, may write there at once.
TEST_F(Outlasting, NoneOfWhatIsKept) {
  store(first_, 0);
  onDisk(first_, at(kept_), at(disk_));
  store(first_, 2);
  EXPECT_THAT(copies(), testing::ElementsAre(2));
}

TEST_F(Outlasting, WhatWritesTheirMemoryWaits) {
  for (uint64_t block = 0; block < 4; ++block)
    store(first_, block);
  builder_.copy(second_, at(scratch_, 1 * kBlock), at(scratch_, 8 * kBlock), kBlock); // reads
  fetch(second_, 3);                                                                  // on the disk's stream
  zero(second_, 4, 4);                                                                // after the copies
  zero(second_, 2);
  zero(second_, 0, 3); // done by then
  zero(builder_.loop(second_, 2), 3);
  EXPECT_THAT(waits(), testing::ElementsAre(TaskWait{3, 2}, TaskWait{5, 3}));
}

TEST_F(Outlasting, ALoopWritesWhereItsIterationsGo) {
  store(first_, 7);
  builder_.zero(builder_.loop(second_, 4), at(scratch_, 0, 2 * kBlock), kBlock); // 0, 2, 4, 6
  EXPECT_THAT(waits(), testing::ElementsAre()) << "the hull ends before";
  builder_.zero(builder_.loop(second_, 5), at(scratch_, 0, 2 * kBlock), kBlock);
  EXPECT_THAT(waits(), testing::ElementsAre(TaskWait{1, 0})) << "hulls are compared";
}

/// Random entries: waits exist exactly where bytes need them.
TEST_F(Outlasting, WaitsAreThoseThatBytesNeed) {
  std::mt19937 random(1);
  const auto below = [&](uint64_t end) { return random() % end; };
  for (int round = 0; round < 200; ++round) {
    first_.clear();
    second_.clear();
    std::vector<Span> stored, written;
    for (uint64_t count = below(6); count > 0; --count) {
      const uint64_t block = below(kBlocks - 3), blocks = 1 + below(3);
      store(first_, block, blocks);
      stored.push_back({int64_t(block), int64_t(block + blocks)});
    }
    for (uint64_t count = below(8); count > 0; --count) {
      const uint64_t block = below(kBlocks - 3), blocks = 1 + below(3);
      zero(second_, block, blocks);
      written.push_back({int64_t(block), int64_t(block + blocks)});
    }
    std::vector<TaskWait> expected;
    uint32_t ended = 0;
    for (uint32_t i = 0; i < written.size(); ++i) {
      uint32_t needed = ended;
      for (uint32_t copy = ended; copy < stored.size(); ++copy)
        if (stored[copy].begin < written[i].end && written[i].begin < stored[copy].end)
          needed = copy + 1;
      if (needed > ended)
        expected.push_back({i, needed - 1});
      ended = needed;
    }
    ASSERT_THAT(waits(), testing::ElementsAreArray(expected)) << "round " << round;
  }
}

} // namespace
} // namespace trainc::test
