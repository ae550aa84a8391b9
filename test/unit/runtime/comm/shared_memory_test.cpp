// Access rights to the memory that ranks share.
#include "runtime/comm/local/shared_memory.h"

#include "test/unit/runtime/memory_access.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>

namespace trainc {
namespace {

using testing::HasSubstr;

const Mesh kMesh({{"shard", 3}});
constexpr uint64_t kRankBytes = 8192;

TEST(SharedMemory, ARankWritesToItsOwnPartAlone) {
  const auto memory = SharedMemory::create(kMesh, kRankBytes);
  ASSERT_TRUE(memory.ok()) << memory.status().message();
  const test::MemoryProbe probe;
  std::vector<std::shared_ptr<SharedMemory>> views;
  for (uint32_t rank = 0; rank < kMesh.ranks(); ++rank) {
    views.push_back(*(*memory)->viewOf(rank));
    for (uint32_t part = 0; part < kMesh.ranks(); ++part)
      for (const uint64_t at : {uint64_t{0}, kRankBytes - 1}) {
        std::byte *address = views[rank]->memory(part) + at;
        EXPECT_TRUE(probe.canRead(address)) << rank << " " << part;
        EXPECT_EQ(probe.canWrite(address), rank == part) << rank << " " << part;
      }
  }
  *views[1]->memory(1) = std::byte{7};
  EXPECT_EQ(*views[0]->memory(1), std::byte{7}) << "they are views of the same memory";
}

TEST(SharedMemory, PartsLieBetweenGuards) {
  const auto memory = SharedMemory::create(kMesh, kRankBytes);
  const auto view = *(*memory)->viewOf(1);
  const test::MemoryProbe probe;
  for (uint32_t part = 0; part < kMesh.ranks(); ++part) {
    EXPECT_FALSE(probe.canRead(view->memory(part) - 1)) << part;
    EXPECT_FALSE(probe.canRead(view->memory(part) + kRankBytes)) << part;
  }
}

TEST(SharedMemory, NobodyChangesItsSize) {
  const auto memory = SharedMemory::create(kMesh, kRankBytes);
  EXPECT_NE(::ftruncate((*memory)->descriptor(), 0), 0);
  EXPECT_NE(::ftruncate((*memory)->descriptor(), 1 << 30), 0);
  EXPECT_NE(::fcntl((*memory)->descriptor(), F_ADD_SEALS, F_SEAL_WRITE), 0);
}

/// A memory file like that of create(), with size and seals from the arguments.
Descriptor madeUp(uint64_t bytes, int seals) {
  Descriptor file(::memfd_create("other", MFD_ALLOW_SEALING));
  EXPECT_EQ(::ftruncate(file.get(), static_cast<off_t>(bytes)), 0);
  EXPECT_EQ(::fcntl(file.get(), F_ADD_SEALS, seals), 0);
  return file;
}

TEST(SharedMemory, OnlyWhatRankZeroMadeIsTaken) {
  constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  const auto memory = SharedMemory::create(kMesh, kRankBytes);
  const auto attach = [](Descriptor file) {
    return SharedMemory::attach(std::move(file), kMesh, kRankBytes).status().message();
  };
  struct stat info{};
  ASSERT_EQ(::fstat((*memory)->descriptor(), &info), 0);
  const auto size = static_cast<uint64_t>(info.st_size);
  EXPECT_EQ(attach(Descriptor(::dup((*memory)->descriptor()))), "");
  EXPECT_EQ(attach(madeUp(size, kSeals)), "");
  EXPECT_THAT(attach(Descriptor()), HasSubstr("expected a file in memory, found none"));
  EXPECT_THAT(attach(Descriptor(::open("/dev/null", O_RDWR))), HasSubstr("another kind of descriptor"));
  EXPECT_THAT(attach(madeUp(size - 4096, kSeals)), HasSubstr(fmt::format("expected {} bytes", size)));
  for (const int missing : {F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_SEAL})
    EXPECT_THAT(attach(madeUp(size, kSeals & ~missing)), HasSubstr("whose size is sealed")) << missing;
}

} // namespace
} // namespace trainc
