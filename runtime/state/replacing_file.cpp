#include "runtime/state/replacing_file.h"

#include "runtime/base/file.h"

#include <unistd.h>

namespace trainc {

Result<ReplacingFile> ReplacingFile::create(const std::filesystem::path &path, uint64_t bytes) {
  TRAINC_ASSIGN_OR_RETURN(std::filesystem::path target, replaceableFile(path));
  std::filesystem::path aside = fmt::format("{}.{}.tmp", target.string(), ::getpid());
  Result<DurableFile> file = DurableFile::create(aside, bytes);
  if (!file.ok()) {
    ::unlink(aside.c_str());
    return file.status();
  }
  return ReplacingFile(std::move(target), std::move(aside), std::move(*file));
}

ReplacingFile::ReplacingFile(ReplacingFile &&other) noexcept
    : target_(std::move(other.target_)), aside_(std::exchange(other.aside_, {})),
      file_(std::move(other.file_)) {}

ReplacingFile::~ReplacingFile() {
  if (!aside_.empty())
    ::unlink(aside_.c_str());
}

Status ReplacingFile::publish() {
  TRAINC_RETURN_IF_ERROR(file_.close());
  const Status status = publishFile(aside_, target_);
  if (status.ok())
    aside_.clear();
  return status;
}

} // namespace trainc
