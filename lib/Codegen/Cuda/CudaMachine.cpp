// The table of GPUs: rates of their data sheets, and which share of them kernels reach. Nothing in it was
// measured by us.
#include "lib/Codegen/Cuda/CudaMachine.h"

#include "runtime/schema/cuda_levels.h"
#include "runtime/schema/gpu_peaks.h"
#include "llvm/ADT/STLExtras.h"

using namespace trainc;

namespace {

/// A generation, and what kernels reach of its dense products of bf16 numbers.
struct Generation {
  double products, attention, libraryAttention, libraryAttentionGrad;
  int major, minor; ///< its compute capability
};

struct Gpu {
  llvm::StringLiteral word, name;
  /// Data sheets: f32 outside tensor cores, dense bf16, memory, NVLink each way.
  double f32, bf16, bytes, link;
  Generation generation;
};

} // namespace

/// Products: FlashAttention-3 (arXiv 2407.08608, section 1) gives 80 to 90 % for large ones on an H100; those
/// of small models have short sums, and the GPU lowers its clock under them, so 70 % are taken. On an A100 80
/// %.
///
/// Attention by libraries: FlashAttention-3 reaches 430 to 620 TFLOP/s forward with heads of 128 and no mask
/// on an H100 (pytorch/benchmark, pull request 2391), and the paper less with heads of 64, causal masks and
/// short sequences, and less backward. FlashAttention-2 reaches 50 to 73 % of an A100 at most (arXiv
/// 2307.08691).
///
/// Attention by kernels of the plan runs on the same instructions as FlashAttention-2, which reaches 35 % of
/// an H100 at most (arXiv 2407.08608, section 1), and less with short sequences.
static constexpr Generation kAmpere{.products = 0.8,
                                    .attention = 0.4,
                                    .libraryAttention = 0.45,
                                    .libraryAttentionGrad = 0.35,
                                    .major = 8,
                                    .minor = 0},
    kHopper{.products = 0.7,
            .attention = 0.2,
            .libraryAttention = 0.4,
            .libraryAttentionGrad = 0.3,
            .major = 9,
            .minor = 0};

/// NVIDIA's data sheets: A100 (2021), H100 (2024), H200 (2024). Dense rates are half of those that count
/// sparse matrices. NVLink's are for both ways together there.
static constexpr Gpu kGpus[] = {
    {"h100-sxm", "H100 SXM 80GB", 67e12, kH100HalfFlops, 3.35e12, 450e9, kHopper},
    {"h100-pcie", "H100 PCIe 80GB", 51e12, kH100PcieHalfFlops, 2.0e12, 300e9, kHopper},
    {"h200", "H200 SXM 141GB", 67e12, kH100HalfFlops, 4.8e12, 450e9, kHopper},
    {"a100", "A100 SXM 80GB", 19.5e12, kA100HalfFlops, 2.039e12, 300e9, kAmpere},
};

/// Sums on one core outside tensor cores, memory, NVLink, what collectives keep beside computation: our
/// assumptions.
static constexpr double kF32Share = 0.8, kByteShare = 0.9, kLinkShare = 0.75, kLinkShareBesideCompute = 0.9;

/// cuBLAS reads rows that begin on no border of 16 bytes in smaller pieces (NVIDIA, Matrix Multiplication
/// Background User's Guide: "most efficient when multiples of 16 bytes"). How much that costs is our
/// assumption.
static constexpr double kUnalignedShare = 0.5;

/// A product that adds up columns beside does so outside tensor cores, from what its blocks have in their
/// memory: our assumption.
static constexpr double kSideSumShare = 0.9;

/// Between the end of a node of a graph and the first instruction of the next: 1.3 us for kernels that do
/// nothing (NVIDIA's blog, "Constant time launch for straight-line CUDA graphs", 2024), and the start of its
/// blocks.
static constexpr double kNodeSeconds = 2e-6;

/// An access to memory takes 0.6 us under load, and a thread asks for two of 16 bytes at a time: our
/// assumptions.
static constexpr double kAccessSeconds = 0.6e-6, kThreadBytes = 32 / kAccessSeconds;

/// Ranks meet through NVLink: our assumption.
static constexpr double kMeetSeconds = 15e-6;

static const Gpu &gpuOf(llvm::StringRef word) {
  return *llvm::find_if(kGpus, [&](const Gpu &each) { return each.word == word; });
}

/// cuDNN's documentation of its deterministic algorithm; cuda.md says what other GPUs do.
bool trainc::codegen::repeatsAttentionGradients(llvm::StringRef word) {
  const int major = gpuOf(word).generation.major;
  return major == 9 || major == 10;
}

bool trainc::codegen::multipliesFp8(llvm::StringRef word) {
  const Generation &generation = gpuOf(word).generation;
  return hasF8Products(generation.major, generation.minor);
}

Machine trainc::codegen::gpuMachine(llvm::StringRef word) {
  const Gpu &gpu = gpuOf(word);
  const double products = gpu.generation.products * gpu.bf16;
  return {.name = gpu.name,
          .peakFlopsPerSecond = gpu.bf16,
          .flopsPerSecond = kF32Share * gpu.f32,
          .tf32FlopsPerSecond = products / 2,
          .bf16FlopsPerSecond = products,
          .unalignedShare = kUnalignedShare,
          .sideSumShare = kSideSumShare,
          .attentionFlopsPerSecond = gpu.generation.attention * gpu.bf16,
          .libraryAttentionFlopsPerSecond = gpu.generation.libraryAttention * gpu.bf16,
          .libraryAttentionGradFlopsPerSecond = gpu.generation.libraryAttentionGrad * gpu.bf16,
          .bytesPerSecond = kByteShare * gpu.bytes,
          .threadBytesPerSecond = kThreadBytes,
          .accessSeconds = kAccessSeconds,
          .launchSeconds = kNodeSeconds,
          .linkBytesPerSecond = kLinkShare * gpu.link,
          .linkShareBesideCompute = kLinkShareBesideCompute,
          .meetSeconds = kMeetSeconds};
}
