#include "base/mapped_file.h"

#include "base/input_file.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace trainc {

namespace {

/// A mapping as seen by the signal handler, which must not allocate or lock.
struct Watch {
  std::atomic<uintptr_t> begin{0}, end{0}; ///< begin is 0 if no mapping is registered; end is written first
  std::atomic<bool> taken{false}, lost{false};
};

/// The last entry stands for all mappings beyond the table's capacity. The handler never finds these, so
/// their lost pages end the process.
std::array<Watch, 4097> watches;
constexpr size_t kUnwatched = watches.size() - 1;

size_t watch(std::span<const std::byte> bytes) {
  for (size_t i = 0; i < kUnwatched; ++i) {
    if (watches[i].taken.exchange(true))
      continue;
    const auto begin = reinterpret_cast<uintptr_t>(bytes.data());
    watches[i].lost.store(false);
    watches[i].end.store(begin + bytes.size());
    watches[i].begin.store(begin);
    return i;
  }
  return kUnwatched;
}

void unwatch(size_t index) {
  if (index == kUnwatched)
    return;
  watches[index].begin.store(0);
  watches[index].taken.store(false);
}

/// Maps zeros over the rest of the mapping that contains `address`, from its page on. Returns false if no
/// mapping contains it.
bool replaceLostPages(uintptr_t address) {
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  for (Watch &each : watches) {
    const uintptr_t begin = each.begin.load(), end = (each.end.load() + page - 1) / page * page;
    if (begin == 0 || address < begin || address >= end)
      continue;
    each.lost.store(true);
    const uintptr_t from = address / page * page;
    return mmap(reinterpret_cast<void *>(from), end - from, PROT_READ,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
  }
  return false;
}

/// Async-signal-safe. si_addr lies in the page that faulted.
void onBusError(int, siginfo_t *info, void *) {
  const int error = errno;
  if (info->si_code <= 0 || !replaceLostPages(reinterpret_cast<uintptr_t>(info->si_addr))) {
    (void)std::signal(SIGBUS, SIG_DFL);
    (void)std::raise(SIGBUS);
  }
  errno = error;
}

} // namespace

Result<MappedFile> MappedFile::open(const std::filesystem::path &path) {
  TRAINC_ASSIGN_OR_RETURN(const InputFile file, InputFile::open(path));
  const auto size = static_cast<size_t>(file.size());
  if (size == 0)
    return MappedFile();
  void *address = mmap(nullptr, size, PROT_READ, MAP_SHARED, file.descriptor(), 0);
  if (address == MAP_FAILED)
    return failed("{}: cannot map {} bytes: {}", file.path(), size, std::strerror(errno));
  const std::span bytes(static_cast<const std::byte *>(address), size);
  return MappedFile(bytes, watch(bytes));
}

MappedFile::MappedFile(MappedFile &&other) noexcept
    : bytes_(std::exchange(other.bytes_, {})), watch_(other.watch_) {}

MappedFile &MappedFile::operator=(MappedFile &&other) noexcept {
  std::swap(bytes_, other.bytes_);
  std::swap(watch_, other.watch_);
  return *this;
}

MappedFile::~MappedFile() {
  if (bytes_.empty())
    return;
  unwatch(watch_);
  munmap(const_cast<std::byte *>(bytes_.data()), bytes_.size());
}

bool MappedFile::isLost() const { return !bytes_.empty() && watches[watch_].lost.load(); }

void surviveLostPages() {
  struct sigaction action{};
  action.sa_sigaction = onBusError;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  (void)::sigaction(SIGBUS, &action, nullptr);
}

Status lostPages(const std::string &path) {
  return failed("{}: the file became shorter, or could not be read any more, while its bytes were used",
                path);
}

} // namespace trainc
