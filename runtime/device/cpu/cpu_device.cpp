#include "runtime/device/cpu/cpu_device.h"

#include <cstring>
#include <sched.h>

namespace trainc {

namespace {

/// Bytes that one thread copies at a time: large enough to hide the start of a thread.
constexpr uint64_t kCopyChunk = uint64_t{1} << 18;
/// After each of so many pieces of a thread's tiles it tells that there is progress.
constexpr uint64_t kPieces = 16;

} // namespace

unsigned availableCpus() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0)
    return static_cast<unsigned>(CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

CpuDevice::CpuDevice(unsigned threads) : pool_(threads ? threads : availableCpus()) {}

std::string CpuDevice::description() const {
  return fmt::format("cpu ({}, {} threads)", kernels_.level().empty() ? "no kernels" : kernels_.level(),
                     pool_.threads());
}

Result<std::byte *> CpuDevice::allocateArena(std::string_view name, uint64_t bytes) {
  TRAINC_ASSIGN_OR_RETURN(ArenaMapping arena, ArenaMapping::create(name, bytes, /*reserveOnly=*/false));
  return arenas_.emplace_back(std::move(arena)).data();
}

Status CpuDevice::loadKernels(const fb::Plan &plan) {
  TRAINC_ASSIGN_OR_RETURN(kernels_, KernelLibrary::load(plan));
  return {};
}

void CpuDevice::launch(uint32_t kernel, void *const *args, uint64_t grid) {
  const KernelFunction function = kernels_.kernel(kernel);
  pool_.run(grid, [=, this](uint64_t begin, uint64_t end) {
    const uint64_t piece = onProgress_ ? (end - begin + kPieces - 1) / kPieces : end - begin;
    for (; begin < end; begin += piece) {
      function(args, static_cast<int64_t>(begin), static_cast<int64_t>(std::min(begin + piece, end)));
      if (onProgress_)
        onProgress_();
    }
  });
}

void CpuDevice::copy(std::byte *destination, const std::byte *source, uint64_t bytes) {
  pool_.run(bytes, kCopyChunk, [=](uint64_t begin, uint64_t end) {
    std::memcpy(destination + begin, source + begin, end - begin);
  });
}

void CpuDevice::zero(std::byte *destination, uint64_t bytes) {
  pool_.run(bytes, kCopyChunk,
            [=](uint64_t begin, uint64_t end) { std::memset(destination + begin, 0, end - begin); });
}

void CpuDevice::toDevice(std::byte *destination, std::span<const std::byte> source) {
  copy(destination, source.data(), source.size());
}

void CpuDevice::fromDevice(std::span<std::byte> destination, const std::byte *source) {
  copy(destination.data(), source, destination.size());
}

} // namespace trainc
