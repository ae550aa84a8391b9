#include "base/file.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>

namespace trainc {
namespace {

/// Acts as user nobody during its lifetime, so that files of another user are inaccessible even to root.
class AsNobody {
public:
  AsNobody() : before_(::geteuid()) { (void)!::seteuid(before_ == 0 ? 65534 : before_); }
  ~AsNobody() { (void)!::seteuid(before_); }
  AsNobody(const AsNobody &) = delete;
  AsNobody &operator=(const AsNobody &) = delete;

private:
  uid_t before_;
};

TEST(SyncFolder, IsDoneWhereTheFileSystemSyncsNoFolders) {
  EXPECT_EQ(syncFolder("/proc/self").message(), ""); // fsync: EINVAL
}

TEST(SyncFolder, AFolderThatCannotBeReadMayBeWrittenTo) {
  std::string folder = std::filesystem::temp_directory_path() / "trainc-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  std::filesystem::permissions(folder, std::filesystem::perms(0333));
  {
    const AsNobody nobody;
    EXPECT_EQ(syncFolder(folder).message(), "");
  }
  std::filesystem::permissions(folder, std::filesystem::perms(0700));
  std::filesystem::remove_all(folder);
  EXPECT_EQ(syncFolder(folder).message(), folder + ": cannot open: No such file or directory");
}

} // namespace
} // namespace trainc
