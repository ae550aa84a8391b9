// Enums of the dialects have the values of the plan file's, by name.
#include "lib/Plan/SchemaEnums.h"
#include "plan/facts/schedules.h"

#include <cctype>
#include <gtest/gtest.h>
#include <string>

namespace trainc {
namespace {

/// "CopyIn" as "copy_in".
std::string snakeCase(const std::string &name) {
  std::string text;
  for (size_t i = 0; i < name.size(); ++i) {
    if (i > 0 && std::isupper(static_cast<unsigned char>(name[i])))
      text += '_';
    text += static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
  }
  return text;
}

template <typename Enum, typename Schema>
void expectEqualNames(llvm::StringRef (*word)(Enum), const char *(*name)(Schema), uint32_t last) {
  for (uint32_t value = 0; value <= last; ++value) {
    const auto own = static_cast<Enum>(value);
    EXPECT_EQ(snakeCase(name(inSchema(own))), word(own).str());
  }
}

TEST(SchemaEnums, HaveTheNamesOfTheDialects) {
  using namespace plan;
  expectEqualNames(stringifySpace, fb::EnumNameSpace, getMaxEnumValForSpace());
  expectEqualNames(stringifyRole, fb::EnumNameRole, getMaxEnumValForRole());
  expectEqualNames(stringifyAccess, fb::EnumNameAccess, getMaxEnumValForAccess());
  expectEqualNames(stringifyKernelKind, fb::EnumNameKernelKind, getMaxEnumValForKernelKind());
  expectEqualNames(stringifyStream, fb::EnumNameStream, getMaxEnumValForStream());
  expectEqualNames(stringifyAttentionPass, fb::EnumNameAttentionPass, getMaxEnumValForAttentionPass());
  expectEqualNames(stringifyScalarDirection, fb::EnumNameDirection, getMaxEnumValForScalarDirection());
  expectEqualNames(stringifyBatchExtent, fb::EnumNameBatchExtent, getMaxEnumValForBatchExtent());
  expectEqualNames(stringifyCollectiveKind, fb::EnumNameCollectiveKind, getMaxEnumValForCollectiveKind());
  expectEqualNames(stringifyRankGroup, fb::EnumNameGroup, getMaxEnumValForRankGroup());
  expectEqualNames(stringifyActivation, fb::EnumNameActivation, getMaxEnumValForActivation());
  expectEqualNames(stringifySideSum, fb::EnumNameSideSum, getMaxEnumValForSideSum());
}

TEST(SchemaEnums, HaveTheNamesOfSchedules) {
  for (const fb::ScheduleKind kind : fb::EnumValuesScheduleKind())
    EXPECT_EQ(snakeCase(fb::EnumNameScheduleKind(kind)), formulaOf(kind).name);
}

} // namespace
} // namespace trainc
