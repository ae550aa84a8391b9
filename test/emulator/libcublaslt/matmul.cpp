// Entry points that choose an algorithm, and multiply.
#include "test/emulator/libcublaslt/library.h"
#include "test/emulator/libcublaslt/product.h"
#include "test/emulator/libcuda/workspace_use.h"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <utility>
#include <vector>

namespace trainc::emulator {

namespace {

constexpr uint64_t kWorkspaceBytes = 32 << 10;
constexpr uint64_t kWorkspaceAlignment = 16;
constexpr uint64_t kKernelBytes = 1 << 20; ///< device memory taken by the first product
/// Alignment needed by 16-byte loads.
constexpr uint32_t kMaxAlignment = 16;
constexpr uint64_t kMagic = 0x656d756c61746564;

/// Content of a cublasLtMatmulAlgo_t of the emulator.
struct Algorithm {
  uint64_t magic = kMagic;
  uint64_t problem = 0;                 ///< the problem it was found for
  std::array<uint32_t, 4> alignments{}; ///< of A, B, C and D, from the preference
  uint32_t biasAlignment = 1;           ///< of the operation's pointer
};
static_assert(sizeof(Algorithm) <= sizeof(cublasLtMatmulAlgo_t));

cublasStatus_t needProblem(const Call &call, cublasLtMatmulDesc_t operation,
                           const std::array<cublasLtMatrixLayout_t, 4> &handles, Problem &problem) {
  std::shared_ptr<Operation> found;
  TRAINC_CUBLAS(call.need(call.library.operations, operation, found));
  std::array<std::shared_ptr<Layout>, 4> layouts;
  for (size_t i = 0; i < layouts.size(); ++i)
    TRAINC_CUBLAS(call.need(call.library.layouts, handles[i], layouts[i]));
  problem = {*found, *layouts[0], *layouts[1], *layouts[2], *layouts[3]};
  if (const auto refusal = check(problem, emulatorCapability()))
    return call.refuse(refusal->status, "{}", refusal->text);
  return CUBLAS_STATUS_SUCCESS;
}

/// Bytes of device memory.
struct Extent {
  uint64_t begin, end;
  bool overlaps(const Extent &other) const { return begin < other.end && other.begin < end; }
};

/// The lines of a batch of matrices, which may be interleaved with others.
std::vector<Extent> linesOf(uint64_t address, const Layout &layout) {
  const bool isByColumns = layout.order == CUBLASLT_ORDER_COL;
  const uint64_t lines = isByColumns ? layout.columns : layout.rows;
  const uint64_t bytes = bytesOf(layout.type);
  std::vector<Extent> extents;
  for (int64_t batch = 0; batch < layout.batches; ++batch)
    for (uint64_t line = 0; line < lines; ++line) {
      const uint64_t begin = address + (batch * layout.batchStride + line * layout.ld) * bytes;
      extents.push_back({begin, begin + (isByColumns ? layout.rows : layout.columns) * bytes});
    }
  std::ranges::sort(extents, {}, &Extent::begin);
  return extents;
}

bool overlap(const std::vector<Extent> &some, const std::vector<Extent> &others) {
  if (!Extent{some.front().begin, some.back().end}.overlaps({others.front().begin, others.back().end}))
    return false;
  return std::ranges::any_of(some, [&](const Extent &each) {
    // The last one that begins before the end of this one also ends last.
    const auto next = std::ranges::lower_bound(others, each.end, {}, &Extent::begin);
    return next != others.begin() && std::prev(next)->overlaps(each);
  });
}

bool isSame(const Layout &one, const Layout &other) {
  return one.order == other.order && one.ld == other.ld && one.batchStride == other.batchStride;
}

/// Alignment of a pointer; 1 if it is not known yet.
uint32_t alignmentOf(uint64_t address) {
  return address == 0 ? 1 : static_cast<uint32_t>(1 << std::countr_zero(address | kMaxAlignment));
}

/// Checks the alignments that the algorithm assumes, and no others.
cublasStatus_t needPointers(const Call &call, const Problem &problem, const Addresses &addresses,
                            const Algorithm &algorithm) {
  const std::pair<const char *, uint64_t> matrices[] = {
      {"A", addresses.a}, {"B", addresses.b}, {"C", addresses.c}, {"D", addresses.d}};
  for (size_t i = 0; i < 4; ++i)
    if (matrices[i].second == 0 || matrices[i].second % algorithm.alignments[i] != 0)
      return call.refuse(CUBLAS_STATUS_INVALID_VALUE, "{} is at {:#x}, expected a multiple of {}",
                         matrices[i].first, matrices[i].second, algorithm.alignments[i]);
  const std::vector<Extent> written = linesOf(addresses.d, problem.d);
  if (overlap(written, linesOf(addresses.a, problem.a)) || overlap(written, linesOf(addresses.b, problem.b)))
    return call.refuse(CUBLAS_STATUS_INVALID_VALUE, "D overlaps a factor");
  const bool isInPlace = addresses.c == addresses.d && isSame(problem.c, problem.d);
  if (!isInPlace && overlap(written, linesOf(addresses.c, problem.c)))
    return call.refuse(CUBLAS_STATUS_INVALID_VALUE, "C overlaps D and is not the same");
  const Operation &operation = problem.operation;
  for (const uint64_t scale : {operation.scaleA, operation.scaleB})
    if (scale % sizeof(float) != 0)
      return call.refuse(CUBLAS_STATUS_INVALID_VALUE, "a scale is at {:#x}, expected an f32", scale);
  const EpilogueParts parts = partsOf(operation.epilogue);
  if (parts.usesBias() && (operation.bias == 0 || operation.bias % bytesOf(problem.d.type) != 0))
    return call.refuse(CUBLAS_STATUS_INVALID_VALUE, "the epilogue needs a bias, which is at {:#x}",
                       operation.bias);
  if (parts.hasAux && (operation.aux == 0 || operation.aux % kMaxAlignment != 0))
    return call.refuse(CUBLAS_STATUS_INVALID_VALUE,
                       "the epilogue needs an auxiliary matrix at a multiple of {}, which is at {:#x}",
                       kMaxAlignment, operation.aux);
  if (parts.usesBias() && operation.bias % algorithm.biasAlignment != 0)
    return call.refuse(CUBLAS_STATUS_INVALID_VALUE,
                       "the bias is at {:#x}, expected a multiple of {}, as where the algorithm was chosen",
                       operation.bias, algorithm.biasAlignment);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t needWorkspace(const Call &call, const Problem &problem, const Addresses &addresses,
                             uint64_t workspace, size_t bytes) {
  if (bytes < kWorkspaceBytes || workspace == 0 || workspace % kWorkspaceAlignment != 0)
    return call.refuse(CUBLAS_STATUS_INVALID_VALUE,
                       "{} bytes of workspace at {:#x}, expected {} at a multiple of {}", bytes, workspace,
                       kWorkspaceBytes, kWorkspaceAlignment);
  const std::vector<Extent> used{{workspace, workspace + kWorkspaceBytes}};
  for (const auto &[address, layout] :
       {std::pair(addresses.a, &problem.a), std::pair(addresses.b, &problem.b),
        std::pair(addresses.c, &problem.c), std::pair(addresses.d, &problem.d)})
    if (overlap(used, linesOf(address, *layout)))
      return call.refuse(CUBLAS_STATUS_INVALID_VALUE, "the workspace overlaps a matrix");
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t enqueue(const Call &call, CUstream stream, const Problem &problem, const Addresses &addresses,
                       float alpha, float beta, uint64_t workspace) {
  const std::string what =
      fmt::format("product of {} x {} x {}", problem.rows(), problem.depth(), problem.columns());
  auto use = std::make_shared<WorkspaceUse>(workspace, kWorkspaceBytes);
  CUresult result = emulatorEnqueue(stream, what, [use] { return use->begin(); });
  if (result == CUDA_SUCCESS)
    result = emulatorEnqueue(stream, what, [=]() -> std::optional<std::string> {
      if (auto spoilt = use->end())
        return spoilt;
      return multiply(problem, addresses, alpha, beta);
    });
  if (result != CUDA_SUCCESS)
    return call.refuse(CUBLAS_STATUS_EXECUTION_FAILED, "the stream refuses work: result {}",
                       static_cast<int>(result));
  return CUBLAS_STATUS_SUCCESS;
}

} // namespace

} // namespace trainc::emulator

using namespace trainc::emulator;

extern "C" {

cublasStatus_t CUBLASWINAPI
cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
                               cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c,
                               cublasLtMatrixLayout_t d, cublasLtMatmulPreference_t preferenceHandle,
                               int wanted, cublasLtMatmulHeuristicResult_t results[], int *found) {
  return entry("cublasLtMatmulAlgoGetHeuristic", [&](Call &call) {
    std::shared_ptr<Handle> object;
    std::shared_ptr<Preference> preference;
    TRAINC_CUBLAS(call.need(call.library.handles, handle, object));
    TRAINC_CUBLAS(call.need(call.library.preferences, preferenceHandle, preference));
    if (wanted < 1 || !results || !found)
      return call.refuse(CUBLAS_STATUS_INVALID_VALUE, "{} results at {}, their number at {}", wanted,
                         fmt::ptr(results), fmt::ptr(found));
    *found = 0;
    Problem problem;
    TRAINC_CUBLAS(needProblem(call, operation, {a, b, c, d}, problem));
    if (preference->workspaceBytes < kWorkspaceBytes)
      return call.refuse(CUBLAS_STATUS_NOT_SUPPORTED, "at most {} bytes of workspace, the algorithm needs {}",
                         preference->workspaceBytes, kWorkspaceBytes);
    if (problem.isOfFp8() && std::ranges::min(preference->alignments) < kMaxAlignment)
      return call.refuse(CUBLAS_STATUS_NOT_SUPPORTED, "fp8 needs pointers at multiples of {}", kMaxAlignment);
    Algorithm algorithm{.problem = identityOf(problem), .biasAlignment = alignmentOf(problem.operation.bias)};
    for (size_t i = 0; i < 4; ++i)
      algorithm.alignments[i] = std::clamp(preference->alignments[i], 1U, kMaxAlignment);
    results[0] = {};
    std::memcpy(&results[0].algo, &algorithm, sizeof algorithm);
    results[0].workspaceSize = kWorkspaceBytes;
    results[0].state = CUBLAS_STATUS_SUCCESS;
    results[0].wavesCount = 1;
    *found = 1;
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t CUBLASWINAPI cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
                                           const void *alpha, const void *a, cublasLtMatrixLayout_t aLayout,
                                           const void *b, cublasLtMatrixLayout_t bLayout, const void *beta,
                                           const void *c, cublasLtMatrixLayout_t cLayout, void *d,
                                           cublasLtMatrixLayout_t dLayout,
                                           const cublasLtMatmulAlgo_t *algorithm, void *workspace,
                                           size_t workspaceBytes, cudaStream_t stream) {
  return entry("cublasLtMatmul", [&](Call &call) {
    std::shared_ptr<Handle> object;
    TRAINC_CUBLAS(call.need(call.library.handles, handle, object));
    if (!alpha || !beta || !algorithm)
      return call.refuse(CUBLAS_STATUS_INVALID_VALUE, "alpha {}, beta {}, algorithm {}", alpha, beta,
                         fmt::ptr(algorithm));
    Problem problem;
    TRAINC_CUBLAS(needProblem(call, operation, {aLayout, bLayout, cLayout, dLayout}, problem));
    Algorithm chosen;
    std::memcpy(static_cast<void *>(&chosen), algorithm, sizeof chosen);
    if (chosen.magic != kMagic || chosen.problem != identityOf(problem))
      return call.refuse(CUBLAS_STATUS_INVALID_VALUE,
                         "the algorithm is not the one that was found for this product");
    const auto number = [](const void *address) { return reinterpret_cast<uint64_t>(address); };
    const Addresses addresses{number(a), number(b), number(c), number(d)};
    TRAINC_CUBLAS(needPointers(call, problem, addresses, chosen));
    TRAINC_CUBLAS(needWorkspace(call, problem, addresses, number(workspace), workspaceBytes));
    if (!std::exchange(object->hasKernels, true))
      emulatorTakeMemory(kKernelBytes);
    return enqueue(call, stream, problem, addresses, *static_cast<const float *>(alpha),
                   *static_cast<const float *>(beta), number(workspace));
  });
}

} // extern "C"
