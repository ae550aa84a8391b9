#include "runtime/device/cuda/cuda_device.h"

#include "plan/schema/cuda_levels.h"
#include "runtime/device/cuda/cuda_rates.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fmt/ranges.h>

namespace trainc {

namespace {

/// Staging for data that the host writes and reads in a step: batches, scalars.
constexpr uint64_t kRingBytes = uint64_t{32} << 20;
/// Staging for disk transfers.
constexpr uint64_t kDiskStageBytes = uint64_t{8} << 20;

std::string cublasLtText() { return "cuBLASLt " + vendorVersionText(cublasLt().cublasLtGetVersion.raw()); }
std::string cudnnText() { return "cuDNN " + vendorVersionText(cudnn().cudnnGetVersion.raw()); }

std::string codeText(const std::string &level) {
  const CudaLevel *known = findCudaLevel(level);
  return !known ? "no kernels" : known->isPtx ? level + " compiled by the driver" : level;
}

CudaExecutable &onGpu(Executable &executable) { return static_cast<CudaExecutable &>(executable); }

} // namespace

Result<std::unique_ptr<CudaDevice>> CudaDevice::open(CudaPlace place, StreamCommunicator *peers,
                                                     unsigned threads) {
  TRAINC_ASSIGN_OR_RETURN(CudaContext context, CudaContext::open(place));
  TRAINC_ASSIGN_OR_RETURN(const CudaMemory memory, context.memory());
  TRAINC_ASSIGN_OR_RETURN(CudaStreams streams, CudaStreams::create());
  std::unique_ptr<CudaDevice> device(
      new CudaDevice(std::move(context), peers, std::move(streams), memory, threads));
  TRAINC_RETURN_IF_ERROR(device->openCopies());
  return device;
}

CudaDevice::CudaDevice(CudaContext context, StreamCommunicator *peers, CudaStreams streams,
                       CudaMemory atStart, unsigned threads)
    : parts_{.context = std::move(context), .peers = peers, .streams = std::move(streams)}, wait_(peers),
      atStart_(atStart), threads_(threads) {}

/// Waits for running work, which uses what is destroyed here. If work failed, aborts collectives instead of
/// waiting, because pending collectives keep memory from being freed.
CudaDevice::~CudaDevice() {
  Status status = parts_.context.enter();
  if (status.ok())
    status = parts_.fault.status();
  if (status.ok())
    status = wait_.forStream(parts_.streams.main());
  if (!status.ok() && parts_.peers)
    parts_.peers->abort();
}

Status CudaDevice::openCopies() {
  TRAINC_ASSIGN_OR_RETURN(StagingRing ring,
                          StagingRing::create(parts_.streams.main(), kRingBytes,
                                              [this](CUevent event) { return wait_.forEvent(event); }));
  ring_.emplace(std::move(ring));
  TRAINC_ASSIGN_OR_RETURN(beside_, BesideCopies::create());
  return {};
}

std::string CudaDevice::description() const {
  const Result<uint64_t> besides = besideArenas();
  return fmt::format("cuda {} ({}, {}, driver for CUDA {}{}{}{}{}; {} MiB beside arenas)",
                     parts_.context.index(), parts_.context.name(), codeText(parts_.kernels.level()),
                     cudaVersionText(driver().version), parts_.products ? ", " + cublasLtText() : "",
                     parts_.attention ? ", " + cudnnText() : "",
                     parts_.peers ? ", " + parts_.peers->description() : "",
                     parts_.hostKernels ? ", " + parts_.hostKernels->description() : "",
                     (besides.ok() ? *besides : 0) >> 20);
}

/// Memory taken by kernels, libraries and graphs, and by other processes since the start.
Result<uint64_t> CudaDevice::besideArenas() const {
  TRAINC_ASSIGN_OR_RETURN(const CudaMemory now, parts_.context.memory());
  const uint64_t taken = now.free + parts_.arenas.deviceBytes() + peersBytes_;
  return atStart_.free > taken ? atStart_.free - taken : 0;
}

Result<DeviceMemoryUse> CudaDevice::memoryUse() const {
  TRAINC_ASSIGN_OR_RETURN(const uint64_t besides, besideArenas());
  DeviceMemoryUse use{.total = atStart_.total,
                      .freeAtStart = atStart_.free,
                      .arenas = parts_.arenas.deviceBytes() + peersBytes_,
                      .kernels = kernelBytes_,
                      .libraries = parts_.libraryBytes};
  use.others = besides - std::min(besides, use.besides());
  return use;
}

/// Generated kernels sum in orders that depend only on shapes; code for another level may use other
/// approximations.
std::string CudaDevice::arithmetic() const {
  std::string text = fmt::format("{}, {}", parts_.context.name(), parts_.kernels.level());
  if (parts_.products)
    text += fmt::format(", {}, algorithms {:016x}", cublasLtText(), algorithms_.digest());
  if (parts_.attention)
    text += fmt::format(", {}, engines {:016x}", cudnnText(), engines_.digest());
  return text;
}

Result<DeviceRates> CudaDevice::measureRates() { return measureGpu(parts_.context, parts_.streams.main()); }

Result<DeviceAddress> CudaDevice::allocate(std::string_view name, fb::Space space, uint64_t bytes,
                                           Communicator *communicator) {
  if (space == fb::Space::Device)
    return allocateOnGpu(name, bytes, FirstBytes::Zero, communicator);
  if (space == fb::Space::Disk && parts_.diskStage.size() == 0) {
    TRAINC_ASSIGN_OR_RETURN(parts_.diskStage, PinnedMemory::create(kDiskStageBytes));
  }
  return parts_.arenas.allocateBeside(name, space, bytes, diskFolder());
}

Result<DeviceAddress> CudaDevice::allocateScratch(std::string_view name, uint64_t bytes,
                                                  Communicator *communicator) {
  const char *const unwritten = std::getenv("TRAINC_UNWRITTEN_SCRATCH");
  const bool isLeft = unwritten && std::string_view(unwritten) == "1";
  return allocateOnGpu(name, bytes, isLeft ? FirstBytes::Unwritten : FirstBytes::Zero, communicator);
}

Result<DeviceAddress> CudaDevice::allocateOnGpu(std::string_view name, uint64_t bytes, FirstBytes first,
                                                Communicator *communicator) {
  if (!communicator)
    return parts_.arenas.allocate(name, bytes, first, parts_.context, parts_.streams.main());
  if (!parts_.peers)
    return invalidInput("ranks on GPUs exchange tensors by NCCL; start them with --comm=nccl");
  peersBytes_ += bytes;
  return parts_.peers->allocate(name, bytes, first);
}

Status CudaDevice::loadKernels(const fb::Plan &plan) {
  const CudaMemoryTaken taken(parts_.context, kernelBytes_);
  TRAINC_ASSIGN_OR_RETURN(parts_.kernels, CudaKernels::load(plan, parts_.context));
  if (std::ranges::any_of(*plan.kernels(), &fb::Kernel::on_host)) {
    parts_.hostKernels = std::make_unique<HostKernels>(threads_);
    TRAINC_RETURN_IF_ERROR(parts_.hostKernels->load(plan));
  }
  if (parts_.peers)
    parts_.peers->sumBy([this](const LocalSumCall &call, DeviceStream stream) {
      std::vector<DeviceAddress> args(call.inputs.begin(), call.inputs.end());
      args.insert(args.end(), {call.out, call.end});
      return parts_.kernels.launch(call.kernel, args, static_cast<CUstream>(stream));
    });
  return {};
}

Result<std::unique_ptr<Executable>> CudaDevice::prepare(Program program, Communicator *,
                                                        StepObserver *observer) {
  const CudaMemoryTaken taken(parts_.context, parts_.libraryBytes);
  auto executable = std::make_unique<CudaExecutable>(std::move(program), parts_, observer);
  TRAINC_RETURN_IF_ERROR(executable->prepare());
  for (const LtProduct &product : executable->issuer().products())
    algorithms_.update(std::as_bytes(std::span(&product.algorithm(), 1)));
  for (const CudnnAttention &attention : executable->issuer().attentions())
    engines_.update(std::as_bytes(std::span(attention.engine())));
  return std::unique_ptr<Executable>(std::move(executable));
}

void CudaDevice::note(Status status) {
  if (!status.ok())
    parts_.fault.note(std::move(status));
}

void CudaDevice::enqueue(Executable &executable, StepRange steps) {
  if (onProgress_)
    onProgress_();
  if (!parts_.fault.status().ok())
    return;
  if (std::ranges::find(inFlight_, executable.program().name) == inFlight_.end())
    inFlight_.push_back(executable.program().name);
  const NvtxRange range(executable.program());
  note(whileRunning(onGpu(executable).enqueue(steps)));
}

Status CudaDevice::runStep(Executable &executable, uint32_t index, uint64_t iteration) {
  TRAINC_RETURN_IF_ERROR(synchronise());
  const Program &program = executable.program();
  const Step &step = program.steps[index];
  note(onGpu(executable).issueAlone(index, iteration));
  if (parts_.fault.status().ok())
    note(located(program, step, wait_.forStream(parts_.streams.of(step.stream))));
  return parts_.fault.status();
}

void CudaDevice::write(DeviceAddress destination, std::span<const std::byte> source) {
  if (parts_.fault.status().ok())
    note(whileRunning(ring_->write(destination.value(), source)));
}

void CudaDevice::read(std::span<std::byte> destination, DeviceAddress source) {
  if (parts_.fault.status().ok())
    note(whileRunning(ring_->read(destination, source.value())));
}

Status CudaDevice::synchronise() {
  if (parts_.fault.status().ok())
    note(whileRunning(wait_.forStream(parts_.streams.main())));
  if (parts_.fault.status().ok())
    ring_->finish();
  inFlight_.clear();
  return parts_.fault.status();
}

/// Asynchronous device errors are returned by any later call. Only the entries in flight are known; steps
/// that know their instruction have named it.
Status CudaDevice::whileRunning(Status status) const {
  if (status.ok() || inFlight_.empty())
    return status;
  return Status(status.code(),
                fmt::format("while entry {} ran: {}", fmt::join(inFlight_, " or "), status.message()));
}

Status CudaDevice::readBeside(std::span<std::byte> destination, DeviceAddress source) {
  if (DiskArena *arena = parts_.arenas.diskArenaOf(source))
    return arena->readBytes(destination, source);
  if (parts_.arenas.isOnHost(source)) {
    std::memcpy(destination.data(), source.pointer(), destination.size());
    return {};
  }
  TRAINC_RETURN_IF_ERROR(parts_.context.enter());
  return beside_->read(destination, source.value());
}

Status CudaDevice::writeBeside(DeviceAddress destination, std::span<const std::byte> source) {
  if (DiskArena *arena = parts_.arenas.diskArenaOf(destination))
    return arena->writeBytes(destination, source);
  if (parts_.arenas.isOnHost(destination)) {
    std::memcpy(destination.pointer(), source.data(), source.size());
    return {};
  }
  TRAINC_RETURN_IF_ERROR(parts_.context.enter());
  return beside_->write(destination.value(), source);
}

} // namespace trainc
