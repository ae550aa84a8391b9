// Ranks as threads of a test.
#pragma once

#include "runtime/comm/local/local_group.h"
#include "runtime/exec/executor.h"

#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace trainc::test {

/// Calls `body(communicator)` on a thread for each rank, with communicators that fit `plan` but for the
/// number of ranks, and waits for all. Nobody counts as dead because the machine is busy.
template <typename Body> void onRanks(const fb::Plan &plan, uint32_t ranks, Body body) {
  const CommunicatorNeeds needs = communicatorNeeds(plan);
  auto group = LocalGroup::create(ranks == plan.ranks() ? Mesh(plan) : Mesh({{"shard", ranks}}), needs.bytes,
                                  {.timeoutSeconds = 60, .inFlight = needs.inFlight});
  ASSERT_TRUE(group.ok()) << group.status().message();
  std::vector<std::thread> threads;
  for (uint32_t rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      auto communicator = group->communicator(rank);
      ASSERT_TRUE(communicator.ok()) << communicator.status().message();
      body(**communicator);
    });
  for (std::thread &thread : threads)
    thread.join();
}

template <typename Body> void onRanks(const fb::Plan &plan, Body body) { onRanks(plan, plan.ranks(), body); }

} // namespace trainc::test
