// Enqueues single steps of entries on CUDA streams.
#pragma once

#include "runtime/comm/stream_communicator.h"
#include "runtime/device/cuda/cuda_arenas.h"
#include "runtime/device/cuda/cuda_kernels.h"
#include "runtime/device/cuda/cuda_streams.h"
#include "runtime/device/cuda/cudnn_attention.h"
#include "runtime/device/cuda/host_work.h"
#include "runtime/device/cuda/lt_product.h"
#include "runtime/device/device.h"

#include <memory>

namespace trainc {

/// Resources of a device that its entries share.
struct CudaParts {
  CudaContext context;
  StreamCommunicator *peers; ///< null for a single rank
  CudaStreams streams;
  CudaArenas arenas = {};
  CudaKernels kernels = {};
  std::unique_ptr<HostKernels> hostKernels = {}; ///< if the plan has host kernels
  std::optional<LtHandle> products = {};         ///< created for the first entry with such calls
  std::optional<CudnnHandle> attention = {};     ///< created for the first entry with such calls
  PinnedMemory diskStage = {};                   ///< allocated with the first disk arena
  CudaFault fault = {};
  uint64_t libraryBytes = 0; ///< GPU memory that libraries have taken so far
};

/// Enqueues steps of one program on their streams, one at a time; the caller orders the streams.
class StepIssuer {
public:
  StepIssuer(const Program &program, CudaParts &parts) : program_(program), parts_(parts) {}

  /// Prepares the library calls. Fails with kInvalidInput if the device does not support some of them; the
  /// message has one line for each, with the instruction.
  Status prepare();

  /// Enqueues one step; host functions are added to `host`. Fails with kFailed, naming the instruction.
  Status issue(uint32_t step, uint64_t iteration, HostWork &host);

  /// Records that issued steps run, once or in a graph.
  void noteRun(StepRange range) const;

  /// Library calls of the program, in order.
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
    return {.kind = step.kind, .axes = step.axes, .ranges = program_.rangesOf(step)};
  }
  std::span<const Address> args(uint32_t begin, uint32_t count) const {
    return std::span(program_.args).subspan(begin, count);
  }

  const Program &program_;
  CudaParts &parts_;
  std::vector<LtProduct> products_;
  std::vector<CudnnAttention> attentions_;
  std::vector<uint32_t> callOf_; ///< by step: index among products or attentions
};

} // namespace trainc
