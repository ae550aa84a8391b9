#include "runtime/device/disk_arena.h"

#include "base/arena.h"
#include "plan/schema/limits.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace trainc {

namespace {

/// Size of the aligned buffer for unaligned transfers.
constexpr uint64_t kBounceBytes = uint64_t{4} << 20;

/// Whether the folder itself is the cause, so that a retry in the same folder cannot succeed.
bool isOfFolder(int error) {
  constexpr int kOfFolders[] = {ENOENT, ENOTDIR, EACCES,     EPERM,       EROFS,
                                ELOOP,  EISDIR,  EOPNOTSUPP, ENAMETOOLONG};
  return std::ranges::find(kOfFolders, error) != std::end(kOfFolders);
}

const char *adviceOn(int error, const std::filesystem::path &given) {
  if (error == EMFILE || error == ENFILE)
    return "raise the number of files that may be open (ulimit -n)";
  return given.empty() ? "set TMPDIR to another folder" : "name another folder with --offload-dir";
}

/// `given` is the folder that the caller passed; may be empty.
Status cannotMake(std::string_view name, uint64_t bytes, const std::filesystem::path &given, int error) {
  return {isOfFolder(error) ? StatusCode::kInvalidInput : StatusCode::kFailed,
          fmt::format("cannot make arena '{}' of {} bytes in {}: {}; {}", name, bytes,
                      DiskArena::folderFor(given).string(), std::strerror(error), adviceOn(error, given))};
}

/// Turns off direct I/O; returns whether it was on.
bool leftDirect(int file) {
  const int flags = fcntl(file, F_GETFL);
  return flags >= 0 && (flags & O_DIRECT) != 0 && fcntl(file, F_SETFL, flags & ~O_DIRECT) == 0;
}

Result<ArenaMapping> bounceFor(std::string_view name, uint64_t bytes) {
  return ArenaMapping::create(name, std::min(wholeBlocks(bytes) + kDiskAlignment, kBounceBytes),
                              /*reserveOnly=*/false);
}

/// Calls `visit(begin, bytes)` for pieces of [offset, offset + bytes) that end on block boundaries.
template <typename Visitor> Status forEachPiece(uint64_t offset, uint64_t bytes, Visitor visit) {
  for (uint64_t begin = offset; begin < offset + bytes;) {
    const uint64_t end = std::min(begin / kDiskAlignment * kDiskAlignment + kBounceBytes, offset + bytes);
    TRAINC_RETURN_IF_ERROR(visit(begin, end - begin));
    begin = end;
  }
  return {};
}

/// Size of the file of an arena. No transfer reaches the byte after the arena, so a truncated file stays
/// shorter, even if a transfer that had already begun grows it again. The byte takes no space on the disk.
uint64_t sizeOfFile(uint64_t bytes) { return bytes + 1; }

/// Fails if the file was truncated or its size cannot be read.
Status checkSize(int file, uint64_t bytes) {
  struct stat status{};
  if (fstat(file, &status) != 0)
    return failed("{}", std::strerror(errno));
  if (static_cast<uint64_t>(status.st_size) < sizeOfFile(bytes))
    return failed("its file was cut: it has {} bytes, {} were expected", status.st_size, sizeOfFile(bytes));
  return {};
}

} // namespace

std::filesystem::path DiskArena::folderFor(const std::filesystem::path &folder) {
  if (!folder.empty())
    return folder;
  const char *temporary = std::getenv("TMPDIR"); // a missing folder is reported when it is opened
  return temporary && *temporary ? temporary : "/tmp";
}

Result<DiskArena> DiskArena::create(std::string_view name, uint64_t bytes,
                                    const std::filesystem::path &given) {
  const int file = open(folderFor(given).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file < 0)
    return cannotMake(name, bytes, given, errno);
  DiskArena arena(name, file, MAP_FAILED, wholeBlocks(std::max<uint64_t>(bytes, 1)));
  if (const int error = posix_fallocate(file, 0, static_cast<off_t>(arena.bytes_)); error != 0)
    return cannotMake(name, bytes, given, error);
  if (ftruncate(file, static_cast<off_t>(sizeOfFile(arena.bytes_))) != 0)
    return cannotMake(name, bytes, given, errno);
  // Direct I/O, because the page cache would hold in memory what was offloaded for lack of memory. The plan
  // aligns copies, and arenas are aligned to kArenaAlignment, so direct I/O fails only if the file system
  // does not support it. Transfers then go through the page cache.
  (void)fcntl(file, F_SETFL, O_DIRECT);
  arena.reserved_ =
      mmap(nullptr, arena.bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (arena.reserved_ == MAP_FAILED)
    return failed("cannot reserve addresses for the {} bytes of arena '{}': {}", bytes, name,
                  std::strerror(errno));
  return arena;
}

DiskArena::DiskArena(DiskArena &&other) noexcept
    : name_(std::move(other.name_)), file_(std::exchange(other.file_, -1)),
      reserved_(std::exchange(other.reserved_, MAP_FAILED)), bytes_(other.bytes_),
      ring_(std::move(other.ring_)), unaligned_(std::move(other.unaligned_)) {}

DiskArena::~DiskArena() {
  if (reserved_ != MAP_FAILED)
    munmap(reserved_, bytes_);
  if (file_ >= 0)
    close(file_);
}

template <typename Transfer> Status DiskArena::transfer(const char *verb, uint64_t bytes, Transfer transfer) {
  // Writing past the end of a truncated file would fill the gap with zeros, which later reads would return.
  if (const Status whole = checkSize(file_, bytes_); !whole.ok())
    return failed("cannot {} {} bytes of arena '{}' on disk: {}", verb, bytes, name_, whole.message());
  int error = transfer();
  if (error == EINVAL && leftDirect(file_)) // the disk's blocks are larger than kDiskAlignment
    error = transfer();
  if (error == 0)
    return {};
  return failed("cannot {} {} bytes of arena '{}' on disk: {}", verb, bytes, name_,
                error < 0 ? "the file ends before" : std::strerror(error));
}

Status DiskArena::read(std::span<std::byte> destination, DeviceAddress source) {
  const uint64_t offset = source.value() - address().value();
  return transfer("read", destination.size(), [&] { return ring_.read(file_, destination, offset); });
}

Status DiskArena::write(DeviceAddress destination, std::span<const std::byte> source) {
  const uint64_t offset = destination.value() - address().value();
  return transfer("write", source.size(), [&] { return ring_.write(file_, source, offset); });
}

Status DiskArena::readBytes(std::span<std::byte> destination, DeviceAddress source) {
  TRAINC_ASSIGN_OR_RETURN(const ArenaMapping bounce, bounceFor(name_, destination.size()));
  const uint64_t offset = source.value() - address().value();
  return forEachPiece(offset, destination.size(), [&](uint64_t begin, uint64_t bytes) -> Status {
    const uint64_t skipped = begin % kDiskAlignment;
    TRAINC_RETURN_IF_ERROR(
        read({bounce.data(), wholeBlocks(skipped + bytes)}, address() + (begin - skipped)));
    std::memcpy(destination.data() + (begin - offset), bounce.data() + skipped, bytes);
    return {};
  });
}

Status DiskArena::writeBytes(DeviceAddress destination, std::span<const std::byte> source) {
  TRAINC_ASSIGN_OR_RETURN(const ArenaMapping bounce, bounceFor(name_, source.size()));
  const uint64_t offset = destination.value() - address().value();
  return forEachPiece(offset, source.size(), [&](uint64_t begin, uint64_t bytes) -> Status {
    const std::scoped_lock lock(*unaligned_); // the same blocks may hold bytes of other writers
    const uint64_t skipped = begin % kDiskAlignment;
    const std::span<std::byte> blocks(bounce.data(), wholeBlocks(skipped + bytes));
    TRAINC_RETURN_IF_ERROR(read(blocks, address() + (begin - skipped)));
    std::memcpy(bounce.data() + skipped, source.data() + (begin - offset), bytes);
    return write(address() + (begin - skipped), blocks);
  });
}

} // namespace trainc
