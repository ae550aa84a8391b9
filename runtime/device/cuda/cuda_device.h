// An NVIDIA GPU as a device.
#pragma once

#include "base/hash.h"
#include "plan/schema/gpu_peaks.h"
#include "runtime/device/cuda/cuda_executable.h"
#include "runtime/device/cuda/nvtx_ranges.h"
#include "runtime/device/cuda/staging.h"
#include "runtime/device/device.h"

namespace trainc {

/// Runs entries as CUDA graphs. The thread that opens the device drives it.
class CudaDevice final : public Device {
public:
  /// `peers` is the communicator of ranks on GPUs and must outlive the device; null for a single rank.
  /// `threads` run host kernels. Fails like CudaContext::open().
  static Result<std::unique_ptr<CudaDevice>> open(CudaPlace place, StreamCommunicator *peers = nullptr,
                                                  unsigned threads = 1);
  /// Destroy all prepared entries first, because their graphs may hold collectives.
  ~CudaDevice() override;

  std::string description() const override;
  std::string arithmetic() const override;
  Result<DeviceRates> measureRates() override;
  double halfFlopsOnSheet() const override { return trainc::halfFlopsOnSheet(parts_.context.name()); }
  Result<DeviceAddress> allocate(std::string_view name, fb::Space space, uint64_t bytes,
                                 Communicator *communicator) override;
  /// Zeroed, unless the environment sets TRAINC_UNWRITTEN_SCRATCH=1.
  Result<DeviceAddress> allocateScratch(std::string_view name, uint64_t bytes,
                                        Communicator *communicator) override;
  uint64_t allocatedBytes() const override { return parts_.arenas.bytes(); }
  /// None: blocks use shared memory on the chip.
  BlockMemory blockMemory() const override { return {}; }
  Result<DeviceMemoryUse> memoryUse() const override;
  Status loadKernels(const fb::Plan &plan) override;
  Result<std::unique_ptr<Executable>> prepare(Program program, Communicator *communicator,
                                              StepObserver *observer) override;
  void beginTrainingStep(uint64_t number) override { NvtxRange::beginStep(number); }
  void endTrainingStep() override { NvtxRange::endStep(); }
  void enqueue(Executable &executable, StepRange steps) override;
  Status runStep(Executable &executable, uint32_t step, uint64_t iteration) override;
  void write(DeviceAddress destination, std::span<const std::byte> source) override;
  void read(std::span<std::byte> destination, DeviceAddress source) override;
  Status synchronise() override;
  Status readBeside(std::span<std::byte> destination, DeviceAddress source) override;
  Status writeBeside(DeviceAddress destination, std::span<const std::byte> source) override;
  std::span<std::byte> hostView(DeviceSpan) override { return {}; }
  void onProgress(std::function<void()> callback) override { onProgress_ = std::move(callback); }

private:
  CudaDevice(CudaContext context, StreamCommunicator *peers, CudaStreams streams, CudaMemory atStart,
             unsigned threads);
  Status openCopies();
  Result<DeviceAddress> allocateOnGpu(std::string_view name, uint64_t bytes, FirstBytes first,
                                      Communicator *communicator);
  void note(Status status);
  Status whileRunning(Status status) const;
  Result<uint64_t> besideArenas() const;

  CudaParts parts_;
  CudaWait wait_;
  std::optional<StagingRing> ring_;
  std::unique_ptr<BesideCopies> beside_;
  CudaMemory atStart_; ///< after the context was created
  unsigned threads_;   ///< for host kernels
  uint64_t kernelBytes_ = 0;
  uint64_t peersBytes_ = 0;                ///< arenas that the communicator allocated
  StreamHash algorithms_;                  ///< hash of the algorithms of all prepared products
  StreamHash engines_;                     ///< hash of the engines of all prepared attention calls
  std::vector<std::string_view> inFlight_; ///< entries enqueued since the last synchronise()
  std::function<void()> onProgress_;
};

} // namespace trainc
