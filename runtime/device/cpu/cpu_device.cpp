#include "runtime/device/cpu/cpu_device.h"

#include "base/clock.h"
#include "plan/facts/target.h"
#include "plan/facts/view.h"
#include "runtime/comm/communicator.h"
#include "runtime/device/cpu/cpu_share.h"
#include "runtime/device/cpu/interpreter.h"
#include "runtime/device/cpu/library_call.h"

#include <algorithm>
#include <cstring>
#include <unistd.h>

namespace trainc {

namespace {

/// Bytes that one thread copies at a time: large enough to amortise the start of a thread.
constexpr uint64_t kCopyChunk = uint64_t{1} << 18;
/// Bytes of the measured copy: several times the caches' size, if known, within these bounds.
constexpr uint64_t kMinMeasuredBytes = uint64_t{32} << 20, kMaxMeasuredBytes = uint64_t{128} << 20;
constexpr int kMeasuredCopies = 3;

uint64_t measuredBytes() {
  const long cache = ::sysconf(_SC_LEVEL3_CACHE_SIZE);
  return std::clamp(cache > 0 ? 4 * static_cast<uint64_t>(cache) : 0, kMinMeasuredBytes, kMaxMeasuredBytes);
}

} // namespace

CpuDevice::CpuDevice(unsigned threads) : pool_(threads ? threads : availableCpus()), runner_(pool_) {}

std::string CpuDevice::description() const {
  return fmt::format("cpu ({}, {} thread{})", level().empty() ? "no kernels" : level(), pool_.threads(),
                     pool_.threads() == 1 ? "" : "s");
}

/// Takes the best of a few copies, because other processes may use the machine. FLOP rates stay unknown: a
/// CPU reports nothing to derive them from.
Result<DeviceRates> CpuDevice::measureRates() {
  DeviceRates rates;
  const uint64_t bytes = measuredBytes();
  const Result<ArenaMapping> memory = ArenaMapping::create("measured copy", 2 * bytes, /*reserveOnly=*/false);
  if (!memory.ok())
    return rates;
  std::byte *const source = memory->data(), *const destination = source + bytes;
  copy(source, destination, bytes); // touches all pages
  for (int i = 0; i < kMeasuredCopies; ++i) {
    const double begin = steadySeconds();
    copy(destination, source, bytes);
    rates.copiedBytes =
        std::max(rates.copiedBytes, 2.0 * static_cast<double>(bytes) / (steadySeconds() - begin));
  }
  return rates;
}

/// Host and device memory are the same, so pinned memory is ordinary memory.
Result<DeviceAddress> CpuDevice::allocate(std::string_view name, fb::Space space, uint64_t bytes,
                                          Communicator *communicator) {
  if (space == fb::Space::Disk) {
    TRAINC_ASSIGN_OR_RETURN(DiskArena arena, DiskArena::create(name, bytes, diskFolder()));
    return diskArenas_.emplace_back(std::move(arena)).address();
  }
  if (communicator && space == fb::Space::Device)
    return communicator->allocate(name, bytes);
  TRAINC_ASSIGN_OR_RETURN(ArenaMapping arena, ArenaMapping::create(name, bytes, /*reserveOnly=*/false));
  return DeviceAddress(arenas_.emplace_back(std::move(arena)).data());
}

Status CpuDevice::loadKernels(const fb::Plan &plan) {
  if (!targetOf(plan).isHost)
    return invalidInput(
        "plan '{}' is for {}, and this is a CPU; run it with --device={}, or compile the model "
        "with --target=cpu",
        view(plan.name()), view(plan.target()), view(plan.target()));
  return runner_.load(plan);
}

void CpuDevice::launch(uint32_t kernel, void *const *args, uint64_t grid) {
  runner_.launch(kernel, args, grid, TileRunner(pool_, onProgress_));
}

void CpuDevice::call(const fb::Instruction &call, void *const *args) {
  const TileRunner tiles(pool_, onProgress_);
  if (const fb::MatrixProduct *product = call.operation_as_MatrixProduct())
    runMatrixProduct(*product, args, tiles);
  else
    runAttention(*call.operation_as_Attention(), args, tiles);
}

DiskArena *CpuDevice::diskArenaOf(DeviceAddress address) {
  const auto found =
      std::ranges::find_if(diskArenas_, [&](const DiskArena &arena) { return arena.holds(address); });
  return found == diskArenas_.end() ? nullptr : &*found;
}

DiskStream::Number CpuDevice::startOnDisk(DeviceAddress destination, DeviceAddress source, uint64_t bytes,
                                          StepPlace of, TimeSpan *ran) {
  DiskArena *arena = diskArenaOf(destination);
  const bool toDisk = arena != nullptr;
  if (!toDisk)
    arena = diskArenaOf(source);
  return diskStream_.start({.arena = arena,
                            .onDisk = toDisk ? destination : source,
                            .memory = {(toDisk ? source : destination).pointer(), bytes},
                            .toDisk = toDisk,
                            .ran = ran,
                            .of = of});
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

Result<std::unique_ptr<Executable>> CpuDevice::prepare(Program program, Communicator *communicator,
                                                       StepObserver *observer) {
  for (const Step &step : program.steps)
    TRAINC_RETURN_IF_ERROR(located(program, step, checkLibraryWorkspace(*step.instruction)));
  return std::unique_ptr<Executable>(
      std::make_unique<Interpreter>(std::move(program), *this, communicator, observer));
}

void CpuDevice::enqueue(Executable &executable, StepRange steps) {
  if (status_.ok())
    status_ = static_cast<Interpreter &>(executable).run(steps);
}

Status CpuDevice::runStep(Executable &executable, uint32_t step, uint64_t iteration) {
  if (status_.ok())
    status_ = static_cast<Interpreter &>(executable).runAlone(step, iteration);
  return status_;
}

Status CpuDevice::waitForCopies() {
  if (Interpreter *entry = takeOutlasting()) {
    const Status ended = entry->endOutlasting();
    if (status_.ok())
      status_ = ended;
  }
  return status_;
}

void CpuDevice::write(DeviceAddress destination, std::span<const std::byte> source) {
  copy(destination.pointer(), source.data(), source.size());
}

void CpuDevice::read(std::span<std::byte> destination, DeviceAddress source) {
  copy(destination.data(), source.pointer(), destination.size());
}

Status CpuDevice::readBeside(std::span<std::byte> destination, DeviceAddress source) {
  if (DiskArena *arena = diskArenaOf(source)) {
    TRAINC_RETURN_IF_ERROR(diskStream_.waitForStores()); // the last copies may produce these bytes
    return arena->readBytes(destination, source);
  }
  std::memcpy(destination.data(), source.pointer(), destination.size());
  return {};
}

Status CpuDevice::writeBeside(DeviceAddress destination, std::span<const std::byte> source) {
  if (DiskArena *arena = diskArenaOf(destination)) {
    TRAINC_RETURN_IF_ERROR(diskStream_.waitForAll());
    return arena->writeBytes(destination, source);
  }
  std::memcpy(destination.pointer(), source.data(), source.size());
  return {};
}

std::span<std::byte> CpuDevice::hostView(DeviceSpan span) {
  return diskArenaOf(span.address) ? std::span<std::byte>() : std::span(span.address.pointer(), span.bytes);
}

} // namespace trainc
