// States outside the device's memory are moved whole.
#include "test/unit/runtime/plan/verifier_support.h"

#include <gmock/gmock.h>

namespace trainc::test {
namespace {

using testing::HasSubstr;

/// Of spacesPlan(): the copies of 'stored' on disk.
constexpr size_t kStore = 2, kFetch = 5;

TEST(SpacesVerifier, RefusesToFetchAPart) {
  PlanBuilder builder = spacesPlan();
  operation<fb::CopyT>(builder, 0, kFetch).bytes = 8192;
  EXPECT_THAT(
      messageOf(builder),
      HasSubstr("entry init: expected each of the 16384 bytes of 'stored' to be fetched as often as any "
                "other, found those from 8192 on fetched more or less often than those before"));
}

TEST(SpacesVerifier, RefusesToStoreAPart) {
  PlanBuilder builder = spacesPlan();
  auto &copy = operation<fb::CopyT>(builder, 0, kStore);
  copy.bytes -= 4096;
  *copy.destination = fb::Operand(4096, 0, 0, copy.destination->buffer());
  EXPECT_THAT(messageOf(builder), HasSubstr("to be stored as often as any other, found those from 4096 on"));
}

TEST(SpacesVerifier, RefusesPlacesThatDependOnTheRank) {
  PlanBuilder builder = spacesPlan();
  builder.plan.ranks = builder.plan.shard_ranks = 2;
  auto &copy = operation<fb::CopyT>(builder, 0, kStore);
  copy.bytes -= 4096;
  *copy.destination = fb::Operand(0, 0, 4096, copy.destination->buffer());
  EXPECT_THAT(messageOf(builder), HasSubstr("entry init, instruction 2"));
  EXPECT_THAT(messageOf(builder), HasSubstr("copy: expected the same bytes of 'stored' on all ranks, found a "
                                            "stride of 4096 bytes by the rank"));
}

TEST(SpacesVerifier, RefusesAParameterThatNobodyStoresAtFirst) {
  PlanBuilder builder = spacesPlan();
  const uint32_t stored = operation<fb::CopyT>(builder, 0, kStore).destination->buffer();
  auto weights = std::make_unique<fb::BufferT>(*builder.plan.buffers[stored]);
  weights->name = "weights";
  weights->role = fb::Role::Parameter;
  weights->offset += weights->bytes;
  builder.plan.arenas[weights->arena]->bytes += weights->bytes;
  builder.plan.buffers.push_back(std::move(weights));
  EXPECT_THAT(messageOf(builder),
              HasSubstr("expected a copy in entry init or refresh that stores 'weights', found none"));
}

/// Instruction 3 overwrites x behind its copies, and nobody reads that.
TEST(SpacesVerifier, RefusesWhatNobodyReadsBesideStatesOfTraining) {
  PlanBuilder builder = spacesPlan();
  builder.plan.buffers[operation<fb::CopyT>(builder, 0, kStore).destination->buffer()]->role =
      fb::Role::Optimizer;
  EXPECT_THAT(messageOf(builder), HasSubstr("entry init, instruction 3"));
  EXPECT_THAT(messageOf(builder),
              HasSubstr("expected something behind it that reads 'x', which it writes, found nothing"));
  auto &body = builder.plan.entries[0]->instructions;
  body.erase(body.begin() + 3);
  body.back()->after = {3, 4};
  EXPECT_EQ(messageOf(builder), "accepted");
}

} // namespace
} // namespace trainc::test
