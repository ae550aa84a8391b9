#include "runtime/data/token_writer.h"

#include "runtime/base/file.h"

#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace trainc {

Result<TokenWriter> TokenWriter::open(std::filesystem::path path, SafetensorsDType dtype) {
  TRAINC_ASSIGN_OR_RETURN(path, replaceableFile(path));
  std::filesystem::path aside = fmt::format("{}.{}.tmp", path.string(), ::getpid());
  std::FILE *file = std::fopen(aside.c_str(), "wbe");
  if (!file)
    return failed("{}: cannot write: {}", path.string(), std::strerror(errno));
  return TokenWriter(std::move(path), std::move(aside), dtype, file);
}

TokenWriter::~TokenWriter() {
  if (file_)
    ::unlink(aside_.c_str());
}

Status TokenWriter::write(std::span<const uint32_t> ids) {
  count_ += ids.size();
  size_t written = 0;
  if (dtype_ == SafetensorsDType::kU16) {
    const std::vector<uint16_t> narrow(ids.begin(), ids.end());
    written = std::fwrite(narrow.data(), sizeof(uint16_t), narrow.size(), file_.get());
  } else {
    written = std::fwrite(ids.data(), sizeof(uint32_t), ids.size(), file_.get());
  }
  return written == ids.size() ? Status() : systemError();
}

Status TokenWriter::sync() {
  const bool done = std::fflush(file_.get()) == 0 && ::fsync(::fileno(file_.get())) == 0;
  return done ? Status() : systemError();
}

Status TokenWriter::publish() {
  if (std::rename(aside_.c_str(), path_.c_str()) != 0)
    return systemError();
  file_.reset();
  return {};
}

Status TokenWriter::systemError() const {
  return failed("{}: cannot write: {}", path_.string(), std::strerror(errno));
}

} // namespace trainc
