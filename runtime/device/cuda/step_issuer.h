// Single steps of entries, on CUDA streams.
#pragma once

#include "runtime/device/cuda/cuda_arenas.h"
#include "runtime/device/cuda/cuda_kernels.h"
#include "runtime/device/cuda/cuda_peers.h"
#include "runtime/device/cuda/cuda_streams.h"
#include "runtime/device/cuda/cudnn_attention.h"
#include "runtime/device/cuda/host_work.h"
#include "runtime/device/cuda/lt_product.h"
#include "runtime/device/device.h"

#include <memory>

namespace trainc {

/// What a device has that its entries run on.
struct CudaParts {
  CudaContext context;
  CudaPeers peers;
  CudaStreams streams;
  CudaArenas arenas;
  CudaKernels kernels;
  std::unique_ptr<HostKernels> hostKernels; ///< if the plan has some
  std::optional<LtHandle> products;         ///< once an entry calls it
  std::optional<CudnnHandle> attention;     ///< likewise
  PinnedMemory diskStage;                   ///< once there is an arena on disk
  CudaFault fault;
  uint64_t libraryBytes = 0; ///< of the GPU's memory, that libraries have taken so far
};

/// Puts steps of one program on their streams, one at a time; the order among streams is the caller's.
class StepIssuer {
public:
  StepIssuer(const Program &program, CudaParts &parts) : program_(program), parts_(parts) {}

  /// Makes the library calls ready. Fails (kInvalidInput) when the device cannot do some, with a line for
  /// each, which has the instruction's place.
  Status prepare();

  /// `host` gets what the host does of it. Fails (kFailed), with the instruction's place.
  Status issue(uint32_t step, uint64_t iteration, HostWork &host);

  /// Notes that steps run which were issued, once or in a graph.
  void noteRun(StepRange range) const;

  /// Of its library calls, in their order.
  const std::vector<LtProduct> &products() const { return products_; }
  const std::vector<CudnnAttention> &attentions() const { return attentions_; }

private:
  static constexpr uint32_t kNoCall = ~uint32_t{0};

  Status prepareStep(const Step &step);
  Status prepareProduct(const fb::MatrixProduct &product, std::span<const Address> operands);
  Status prepareAttention(const fb::Attention &attention, std::span<const Address> operands);
  Status callLibrary(uint32_t index, const LibraryStep &call, uint64_t iteration, CUstream stream);
  Status issueStep(uint32_t index, const Step &step, uint64_t iteration, HostWork &host);
  Status launch(const Step &step, const LaunchStep &launch, uint64_t iteration, HostLaunches &onHost);
  Status copy(const Step &step, const CopyStep &copy, uint64_t iteration, DiskTransfers &disk);
  Status meet(const Step &step, const CollectiveStep &collective);
  Collective collectiveOf(const CollectiveStep &step) const {
    return {.kind = step.kind, .group = step.group, .ranges = program_.rangesOf(step)};
  }
  std::span<const Address> args(uint32_t begin, uint32_t count) const {
    return std::span(program_.args).subspan(begin, count);
  }

  const Program &program_;
  CudaParts &parts_;
  std::vector<LtProduct> products_;
  std::vector<CudnnAttention> attentions_;
  std::vector<uint32_t> callOf_; ///< by step: its place among products, or attentions
};

} // namespace trainc
