// Files: headers, checksums, versions; each damage has its own message.
#include "plan/file/file.h"
#include "test/unit/plan/plans/plan_builder.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>

namespace trainc::test {
namespace {

using testing::HasSubstr;

std::filesystem::path temporary(const char *name) {
  return std::filesystem::path(testing::TempDir()) / fmt::format("trainc-{}-{}", getpid(), name);
}

TEST(PlanFile, WritesAndOpens) {
  const auto path = temporary("good.plan");
  ASSERT_TRUE(writePlanFile(path, fullPlan().payload()).ok());
  const auto file = PlanFile::open(path);
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(file->plan().name()->str(), "test");
  EXPECT_EQ(std::filesystem::file_size(path) - 64, fullPlan().payload().size());
  std::filesystem::remove(path);
}

TEST(PlanFile, MayHaveMillionsOfTables) {
  PlanBuilder large;
  for (uint32_t line = 0; line < 1100000; ++line)
    large.source("nn.relu", line);
  const auto payload = large.payload();
  const auto plan = readPayload(std::as_bytes(std::span(payload)));
  EXPECT_TRUE(plan.ok()) << plan.status().message();
}

TEST(PlanFile, UnwritableFolder) {
  const Status status = writePlanFile("/nonexistent-folder/a.plan", fullPlan().payload());
  EXPECT_EQ(status.exitCode(), 1);
  EXPECT_THAT(status.message(), HasSubstr("No such file"));
}

TEST(PlanFile, MissingFile) {
  const auto file = PlanFile::open(temporary("absent.plan"));
  EXPECT_EQ(file.status().exitCode(), 2);
  EXPECT_THAT(file.status().message(), HasSubstr("cannot open"));
}

TEST(PlanFile, EmptyFile) {
  const auto path = temporary("empty.plan");
  std::ofstream(path).close();
  EXPECT_THAT(PlanFile::open(path).status().message(), HasSubstr("not a plan file"));
  std::filesystem::remove(path);
}

TEST(PlanFile, EveryTruncationIsRefused) {
  PlanBytes bytes(fullPlan().payload());
  for (size_t size = 8; size < bytes.file().size(); size += size < 200 ? 1 : 97) {
    const auto result = readPlan(bytes.file().first(size), "test.plan");
    ASSERT_FALSE(result.ok());
    EXPECT_THAT(result.status().message(), HasSubstr("truncated")) << size;
  }
}

TEST(PlanFile, EveryHeaderByteMatters) {
  PlanBytes bytes(fullPlan().payload());
  for (size_t i = 0; i < sizeof(PlanFileHeader); ++i) {
    bytes.file()[i] ^= std::byte{0x10};
    EXPECT_FALSE(bytes.read().ok()) << i;
    bytes.file()[i] ^= std::byte{0x10};
  }
  EXPECT_TRUE(bytes.read().ok());
}

TEST(PlanFile, Corrupted) {
  PlanBytes bytes(fullPlan().payload());
  bytes.payload()[1000] ^= std::byte{1};
  EXPECT_THAT(bytes.read().status().message(), HasSubstr("corrupted plan: expected checksum"));
}

TEST(PlanFile, NewerAndOlder) {
  PlanBytes bytes(fullPlan().payload());
  bytes.header().minorVersion = kPlanMinorVersion + 1;
  EXPECT_THAT(bytes.read().status().message(), HasSubstr("is newer than this program's"));
  bytes.header().minorVersion = 0;
  bytes.header().majorVersion = 0;
  EXPECT_THAT(bytes.read().status().message(), HasSubstr("is older than this program's"));
}

TEST(PlanFile, ChangedKernelCode) {
  PlanBuilder builder = fullPlan();
  PlanBytes good(builder.payload());
  builder.plan.objects[0]->image[100] ^= 1;
  PlanBytes changed(builder.payload());
  changed.header().codeChecksum = good.header().codeChecksum;
  EXPECT_THAT(changed.read().status().message(), HasSubstr("kernel code does not match"));
}

} // namespace
} // namespace trainc::test
