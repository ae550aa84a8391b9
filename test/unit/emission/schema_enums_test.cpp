// Enums of the dialects have the words of the schema's, and so have schedules.
#include "lib/Plan/SchemaEnums.h"
#include "plan/facts/schedules.h"
#include "plan/schema/enum_words.h"

#include <gtest/gtest.h>

namespace trainc {
namespace {

template <typename Enum> class SchemaEnums : public testing::Test {};

using Enums =
    testing::Types<plan::Space, plan::Role, plan::Access, plan::KernelKind, plan::Stream, plan::AttentionPass,
                   ScalarDirection, BatchExtent, CollectiveKind, Activation, SideSum>;
TYPED_TEST_SUITE(SchemaEnums, Enums);

TYPED_TEST(SchemaEnums, HaveTheWordsOfTheSchema) {
  using Schema = decltype(inSchema(TypeParam()));
  for (uint32_t value = 0; value <= static_cast<uint32_t>(Schema::MAX); ++value) {
    const auto own = static_cast<TypeParam>(value);
    EXPECT_EQ(stringifyEnum(own).str(), wordOf(inSchema(own)));
  }
}

TEST(Schedules, HaveTheWordsOfTheSchema) {
  for (const fb::ScheduleKind kind : fb::EnumValuesScheduleKind())
    EXPECT_EQ(formulaOf(kind).name, wordOf(kind));
}

} // namespace
} // namespace trainc
