#include "base/new_folder.h"

#include "base/file.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sys/stat.h>

namespace trainc {

namespace fs = std::filesystem;

Result<NewFolder> NewFolder::create(std::string_view option, fs::path path) {
  if (!path.has_filename()) // "tuned/"
    path = path.parent_path();
  std::error_code error;
  if (fs::exists(fs::symlink_status(path, error)))
    return invalidInput("{} {}: exists already; expected the name of a new folder", option, path.string());
  std::string name = path.string() + ".partial-XXXXXX";
  if (!::mkdtemp(name.data()))
    return failed("{} {}: no folder can be made there: {}", option, path.string(), std::strerror(errno));
  // As other folders: mkdtemp() leaves others out.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  if (::chmod(name.c_str(), 0777 & ~mask) != 0)
    return failed("{}: {}", name, std::strerror(errno));
  return NewFolder(name, std::move(path));
}

NewFolder::NewFolder(NewFolder &&other) noexcept
    : temporary_(std::exchange(other.temporary_, {})), final_(std::exchange(other.final_, {})) {}

NewFolder::~NewFolder() {
  std::error_code error;
  if (!temporary_.empty())
    fs::remove_all(temporary_, error);
}

Status NewFolder::publish() {
  std::error_code error;
  fs::rename(temporary_, final_, error);
  if (error)
    return failed("{}: {}", final_.string(), error.message());
  temporary_.clear();
  return syncFolder(fs::absolute(final_, error).parent_path());
}

} // namespace trainc
