// Enums of the dialects have the words of the schema's, and so have schedules.
#include "lib/Plan/SchemaEnums.h"
#include "plan/facts/schedules.h"
#include "plan/schema/enum_words.h"

#include <gtest/gtest.h>

namespace trainc {
namespace {

template <typename Own, typename Schema> void expectEqualWords(EnumPair<Own, Schema>) {
  for (size_t value = 0; value <= static_cast<size_t>(Schema::MAX); ++value)
    EXPECT_EQ(stringifyEnum(static_cast<Own>(value)).str(), wordOf(static_cast<Schema>(value)));
}

template <typename... Pairs> void expectEqualWords(EnumPairs<Pairs...>) { (expectEqualWords(Pairs()), ...); }

TEST(SchemaEnums, HaveTheWordsOfTheSchema) { expectEqualWords(SchemaEnums()); }

TEST(Schedules, HaveTheWordsOfTheSchema) {
  for (const fb::ScheduleKind kind : fb::EnumValuesScheduleKind())
    EXPECT_EQ(formulaOf(kind).name, wordOf(kind));
}

} // namespace
} // namespace trainc
