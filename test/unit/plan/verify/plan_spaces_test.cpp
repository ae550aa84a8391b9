// Offloaded states are transferred completely, and not exchanged.
#include "test/unit/plan/verify/verifier_support.h"

#include <gmock/gmock.h>

namespace trainc::test {
namespace {

using testing::HasSubstr;

/// Indices in spacesPlan() of the copies of 'stored' on disk.
constexpr size_t kStore = 2, kFetch = 5;

/// One more buffer on disk like 'stored'.
uint32_t addLikeStored(PlanBuilder &builder) {
  const uint32_t stored = operation<fb::CopyT>(builder, 0, kStore).destination->buffer();
  auto other = std::make_unique<fb::BufferT>(*builder.plan.buffers[stored]);
  other->name = "other";
  other->offset += other->bytes;
  builder.plan.arenas[other->arena]->bytes += other->bytes;
  builder.plan.buffers.push_back(std::move(other));
  return uint32_t(builder.plan.buffers.size() - 1);
}

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
  *copy.destination = at(copy.destination->buffer(), 4096);
  EXPECT_THAT(messageOf(builder), HasSubstr("to be stored as often as any other, found those from 4096 on"));
}

TEST(SpacesVerifier, RefusesPlacesThatDependOnTheRank) {
  PlanBuilder builder = spacesPlan();
  builder.setRanks({2, 2});
  auto &copy = operation<fb::CopyT>(builder, 0, kStore);
  copy.bytes -= 4096;
  *copy.destination = at(copy.destination->buffer(), 0, 0, 4096);
  EXPECT_THAT(messageOf(builder), HasSubstr("entry init, instruction 2"));
  EXPECT_THAT(messageOf(builder), HasSubstr("copy: expected the same bytes of 'stored' on all ranks, found a "
                                            "stride of 4096 bytes by the rank"));
}

TEST(SpacesVerifier, RefusesAParameterThatNobodyStoresAtFirst) {
  PlanBuilder builder = spacesPlan();
  builder.plan.buffers[addLikeStored(builder)]->role = fb::Role::Parameter;
  EXPECT_THAT(messageOf(builder),
              HasSubstr("expected a copy in entry init or refresh that stores 'other', found none"));
}

TEST(PlacesVerifier, RefusesToFetchAllOfAnotherState) {
  PlanBuilder builder = spacesPlan();
  *operation<fb::CopyT>(builder, 0, kFetch).source = at(addLikeStored(builder));
  EXPECT_THAT(messageOf(builder), HasSubstr("entry init, instruction 5"));
  EXPECT_THAT(messageOf(builder),
              HasSubstr("copy: expected a place that buffer 'z' says, found it fetched to "
                        "'z' from 'other' at 0"));
}

TEST(PlacesVerifier, RefusesToStoreToAllOfAnotherState) {
  PlanBuilder builder = spacesPlan();
  *operation<fb::CopyT>(builder, 0, kStore).destination = at(addLikeStored(builder));
  EXPECT_THAT(messageOf(builder), HasSubstr("entry init, instruction 2"));
  EXPECT_THAT(messageOf(builder), HasSubstr("copy: expected a place that buffer 'x' says, found it stored "
                                            "from 'x' to 'other' at 0"));
}

TEST(PlacesVerifier, RefusesACopyBesideTheBeginOfItsBuffer) {
  PlanBuilder builder = spacesPlan();
  const auto &copy = operation<fb::CopyT>(builder, 0, kFetch);
  builder.plan.buffers[copy.destination->buffer()]->bytes += 4096;
  builder.plan.arenas[PlanBuilder::kScratch]->bytes += 4096;
  *copy.destination = at(copy.destination->buffer(), 4096);
  EXPECT_THAT(messageOf(builder), HasSubstr("copy: expected it at the begin of 'z', found it at 4096"));
}

TEST(PlacesVerifier, RefusesAPlaceThatNoCopyMoves) {
  PlanBuilder builder = spacesPlan();
  const uint32_t other = addLikeStored(builder),
                 x = operation<fb::CopyT>(builder, 0, kStore).source->buffer();
  builder.plan.buffers[x]->stored.push_back(at(other, 4096));
  EXPECT_THAT(messageOf(builder),
              HasSubstr("expected a copy for what is stored from 'x' to 'other' at 4096, found none"));
}

TEST(PlacesVerifier, RefusesPlacesThatAreNotFarther) {
  PlanBuilder builder = spacesPlan();
  const auto &copy = operation<fb::CopyT>(builder, 0, kFetch);
  fb::BufferT &z = *builder.plan.buffers[copy.destination->buffer()];
  *z.fetched = *copy.destination;
  EXPECT_THAT(
      messageOf(builder),
      HasSubstr("buffer 'z': expected a place farther from the device than device, found 'z' in device"));
  *z.fetched = at(99);
  EXPECT_THAT(messageOf(builder), HasSubstr("buffer 'z': expected a place in a buffer below"));
}

/// Instruction 3 overwrites x after its copies, and the result is never read.
TEST(SpacesVerifier, RefusesWhatNobodyReadsBesideStatesOfTraining) {
  PlanBuilder builder = spacesPlan();
  builder.plan.buffers[operation<fb::CopyT>(builder, 0, kStore).destination->buffer()]->role =
      fb::Role::Optimizer;
  EXPECT_THAT(messageOf(builder), HasSubstr("entry init, instruction 3"));
  EXPECT_THAT(messageOf(builder),
              HasSubstr("expected a later instruction that reads 'x', which it writes, found nothing"));
  auto &body = builder.plan.entries[0]->instructions;
  body.erase(body.begin() + 3);
  body.back()->after = {3, 4};
  EXPECT_EQ(messageOf(builder), "accepted");
}

} // namespace
} // namespace trainc::test
