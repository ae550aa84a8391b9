// Steps of hand-made plans on clusters of round numbers, with times that follow by hand.
#include "plan/simulate/simulation.h"

#include "plan/facts/work.h"
#include "test/unit/plan/simulate/payload.h"

#include <gmock/gmock.h>

namespace trainc {
namespace {

using namespace test;
using testing::HasSubstr;

/// One flop and one byte a second, but for products.
Cluster slowCluster() {
  Cluster cluster;
  cluster.name = "slow";
  Machine &machine = cluster.machine;
  machine.peakFlopsPerSecond = 8;
  machine.flopsPerSecond = machine.tf32FlopsPerSecond = machine.bf16FlopsPerSecond = 4;
  machine.attentionFlopsPerSecond = machine.libraryAttentionFlopsPerSecond =
      machine.libraryAttentionGradFlopsPerSecond = 2;
  machine.bytesPerSecond = 1e6;
  machine.linkBytesPerSecond = 64;
  machine.hostBytesPerSecond = 100;
  machine.diskReadBytesPerSecond = 10;
  machine.diskWriteBytesPerSecond = 5;
  machine.memoryBytes = 1 << 20;
  return cluster;
}

/// The rows' kernel, a copy from the disk and one to the host, and a product.
class SimulationTest : public testing::Test {
protected:
  SimulationTest() {
    device_ = builder_.buffer("x", PlanBuilder::kScratch, fb::DType::F32, 1024);
    disk_ = builder_.buffer("d", builder_.arena("disk", fb::Space::Disk), fb::DType::F32, 1024);
    host_ = builder_.buffer("h", builder_.arena("host", fb::Space::Host), fb::DType::F32, 1024);
    builder_.plan.training = std::make_unique<fb::TrainingT>();
    builder_.plan.training->micro_batch = 3;
    builder_.plan.training->accumulate = 5;
    builder_.plan.training->seq_len = 2;
  }

  PlanBuilder::Body &body(const char *entry) { return builder_.entry(entry).instructions; }
  uint32_t gemm(uint64_t flops) {
    const uint32_t kernel = builder_.kernel("k", 1, {{fb::Access::Read, fb::DType::F32, 4}});
    builder_.plan.kernels[kernel]->kind = fb::KernelKind::Gemm;
    builder_.plan.kernels[kernel]->flops = flops;
    builder_.plan.kernels[kernel]->moved_bytes = 0;
    return kernel;
  }
  Simulation simulated(const Cluster &cluster = slowCluster()) {
    payload_.emplace(builder_.plan);
    Result<Simulation> step = simulate(payload_->plan(), cluster);
    EXPECT_TRUE(step.ok()) << step.status().message();
    return std::move(*step);
  }

  PlanBuilder builder_;
  std::optional<Payload> payload_;
  uint32_t device_, disk_, host_;
};

TEST_F(SimulationTest, AStepIsAllItsEntriesRuns) {
  const uint32_t kernel = gemm(8);
  builder_.launch(body("micro_step"), kernel, {at(device_)});
  builder_.plan.entries.back()->flops = 8;
  builder_.launch(body("update"), kernel, {at(device_)});
  builder_.launch(body("eval"), kernel, {at(device_)});
  const Simulation step = simulated();
  EXPECT_DOUBLE_EQ(step.seconds, 6 * 2);
  EXPECT_DOUBLE_EQ(step.tokens, 3 * 5 * 2);
  EXPECT_DOUBLE_EQ(step.flops, 5 * 8) << "as entries say";
  EXPECT_DOUBLE_EQ(step.executedFlops, 6 * 8) << "as instructions do";
  EXPECT_DOUBLE_EQ(step.mfu(), 40. / 12 / 8);
  ASSERT_EQ(step.rows.size(), 1u);
  EXPECT_EQ(step.rows[0].count, 6);
  EXPECT_EQ(step.rows[0].source, "test.op at test.mlir:1");
}

TEST_F(SimulationTest, LoopsRunTheirInstructionsSoOften) {
  auto &entry = body("update");
  builder_.launch(builder_.loop(entry, 10), gemm(8), {at(device_)});
  const Simulation step = simulated();
  EXPECT_DOUBLE_EQ(step.seconds, 10 * 2);
  EXPECT_EQ(step.rows[0].count, 10);
}

TEST_F(SimulationTest, TransfersRunAtTheRatesOfTheirWays) {
  auto &entry = body("update");
  builder_.launch(entry, gemm(1200), {at(device_)}); // 300 s
  builder_.copy(entry, at(disk_), at(device_), 4000);
  PlanBuilder::on(entry, fb::Stream::Disk); // 400 s
  builder_.copy(entry, at(device_), at(host_), 4000);
  PlanBuilder::on(entry, fb::Stream::CopyOut); // 40 s
  builder_.copy(entry, at(device_), at(disk_), 500);
  PlanBuilder::on(entry, fb::Stream::Disk); // 100 s
  const Simulation step = simulated();
  EXPECT_DOUBLE_EQ(step.seconds, 500);
  const StreamSeconds &disk = step.streams[static_cast<size_t>(fb::Stream::Disk)];
  EXPECT_DOUBLE_EQ(disk.busy, 500);
  EXPECT_DOUBLE_EQ(disk.exposed, 200);
  EXPECT_DOUBLE_EQ(step.streams[static_cast<size_t>(fb::Stream::CopyOut)].busy, 40);
  EXPECT_EQ(step.memory.arenas, 2 * 4096u) << "a CPU's memory is its host's";
  EXPECT_EQ(step.memory.disk, 4096u);
}

TEST_F(SimulationTest, GroupsOfRanksExchangeOnTheirLinks) {
  builder_.setRanks({4, 2});
  auto &entry = body("update");
  const RangeSpec all{at(device_), at(device_), 1024};
  builder_.collective(entry, {fb::CollectiveKind::AllReduce, {all}, kBothAxes});
  builder_.collective(entry, {fb::CollectiveKind::AllGather, {all}, kShard});
  builder_.collective(entry, {fb::CollectiveKind::AllReduce, {all}, kReplica});
  // Each sends 2 x 3/4, 1/2 and 2 x 1/2 of 4096 bytes.
  EXPECT_DOUBLE_EQ(simulated().seconds, 96 + 32 + 64);
  Cluster nodes = slowCluster();
  nodes.machine.nodeRanks = 2;
  nodes.machine.networkBytesPerSecond = 32;
  // Through the network at half of the rate; two replica groups share each node's way.
  EXPECT_DOUBLE_EQ(simulated(nodes).seconds, 2 * 96 + 32 + 4 * 64);
}

TEST_F(SimulationTest, WhatCannotRunIsRefused) {
  builder_.launch(body("update"), gemm(8), {at(device_)});
  Cluster gpus = slowCluster();
  gpus.major = 9;
  const auto errorOf = [&](const Cluster &cluster) {
    const Payload payload(builder_.plan);
    return simulate(payload.plan(), cluster).status().message();
  };
  EXPECT_THAT(errorOf(gpus), HasSubstr("the plan is for target cpu, and the devices of 'slow' are GPUs"));
  builder_.plan.entries.back()->name = "eval";
  EXPECT_EQ(errorOf(slowCluster()), "the plan has no entry that a training step runs");
}

/// Each rate is asked for by the plans that need it alone: on a cluster that has all but one.
TEST_F(SimulationTest, ARateThatIsNeededAndUnknownIsRefused) {
  builder_.setRanks({4, 2});
  auto &entry = body("update");
  const RangeSpec all{at(device_), at(device_), 1024};
  const auto errorWithout = [&](double Machine::*rate) {
    Cluster cluster = slowCluster();
    cluster.machine.nodeRanks = 2;
    cluster.machine.networkBytesPerSecond = 32;
    cluster.machine.*rate = std::numeric_limits<double>::infinity();
    const Payload payload(builder_.plan);
    return simulate(payload.plan(), cluster).status().message();
  };
  const auto expectNeeded = [&](double Machine::*rate, auto add, const char *error) {
    EXPECT_EQ(errorWithout(rate), "");
    add();
    EXPECT_EQ(errorWithout(rate),
              fmt::format("the plan {}; add it to the cluster file, or name another cluster", error));
  };
  builder_.collective(entry, {fb::CollectiveKind::AllGather, {all}, kShard}); // within nodes
  expectNeeded(
      &Machine::networkBytesPerSecond,
      [&] { builder_.collective(entry, {fb::CollectiveKind::AllReduce, {all}, kReplica}); },
      "has collectives between nodes, and cluster 'slow' has no network.bytes_per_second");
  expectNeeded(
      &Machine::hostBytesPerSecond, [&] { builder_.copy(entry, at(device_), at(host_), 4000); },
      "copies between device and host, and cluster 'slow' has no host.bytes_per_second");
  expectNeeded(
      &Machine::diskWriteBytesPerSecond, [&] { builder_.copy(entry, at(device_), at(disk_), 4000); },
      "writes to disk, and cluster 'slow' has no disk.write_bytes_per_second");
  expectNeeded(
      &Machine::diskReadBytesPerSecond,
      [&] { builder_.copy(builder_.loop(entry, 10), at(disk_), at(device_), 4000); },
      "reads from disk, and cluster 'slow' has no disk.read_bytes_per_second");
}

} // namespace
} // namespace trainc
