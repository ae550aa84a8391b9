// Matrix product of a plan as a cuBLASLt call.
//
// Plans are row-major, cuBLASLt is column-major: cuBLASLt sees each matrix transposed, and computes
//   result^T = op(b)^T op(a)^T
// so its A is the plan's b, its B the plan's a. Additions of the plan become an epilogue of the call:
//
//   activation, with            side sums of nothing   of the result    of a     of b
//   None                        DEFAULT                                 BGRADB   BGRADA
//   None, bias                  BIAS
//   GeluTanh                    GELU
//   GeluTanh, auxiliary         GELU_AUX
//   GeluTanh, bias              GELU_BIAS
//   GeluTanh, auxiliary, bias   GELU_AUX_BIAS
//   GeluTanhGradient            DGELU                  DGELU_BGRAD
//
// `adds` is a beta of 1. There is no epilogue for Gelu and GeluGradient, which are the exact ones. Row and
// matrix strides of an auxiliary tensor are multiples of 8 elements. The compiler's GPU target emits nothing
// else.
//
// Factors are f32, bf16 or f16; other operands have the factors' type, or f32. Sums accumulate in f32; f32
// factors are rounded to TF32 if the plan says so.
//
// Fp8 factors have scales, which cuBLASLt reads from device memory. The plan uses cuBLASLt's layout: A
// transposed, B not. Fast accumulation, which keeps fewer bits, is never used.
#pragma once

#include "runtime/device/cuda/cublaslt_library.h"
#include "runtime/device/program.h"

#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace trainc {

/// cuBLASLt's state for one device; does not own workspaces.
class LtHandle {
public:
  /// Loads the library. The device's context must be current.
  static Result<LtHandle> create();

  LtHandle(LtHandle &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  LtHandle &operator=(LtHandle &&) = delete;
  ~LtHandle();

  cublasLtHandle_t get() const { return handle_; }

private:
  explicit LtHandle(cublasLtHandle_t handle) : handle_(handle) {}

  cublasLtHandle_t handle_;
};

/// One product, with the algorithm it uses for the whole run.
class LtProduct {
public:
  /// `operands` are in the order of ProductOperand. Fails with kInvalidInput if cuBLASLt does not support the
  /// product, or only with a larger workspace.
  static Result<LtProduct> create(const LtHandle &handle, const fb::MatrixProduct &call,
                                  std::span<const Address> operands);

  /// Enqueues one iteration on a stream.
  Status enqueue(const LtHandle &handle, std::span<const Address> operands, uint64_t iteration,
                 cudaStream_t stream);

  /// The algorithm, on which the bits of results depend.
  const cublasLtMatmulAlgo_t &algorithm() const { return algorithm_; }

private:
  struct FreeObject {
    void operator()(cublasLtMatmulDescOpaque_t *each) const {
      cublasLt().cublasLtMatmulDescDestroy.raw(each);
    }
    void operator()(cublasLtMatrixLayoutOpaque_t *each) const {
      cublasLt().cublasLtMatrixLayoutDestroy.raw(each);
    }
  };
  using Description = std::unique_ptr<cublasLtMatmulDescOpaque_t, FreeObject>;
  using Layout = std::unique_ptr<cublasLtMatrixLayoutOpaque_t, FreeObject>;

  explicit LtProduct(const fb::MatrixProduct &call) : call_(&call) {}
  Status describe(cublasLtEpilogue_t epilogue);
  Status createLayouts();
  Status chooseAlgorithm(const LtHandle &handle, std::span<const Address> operands);
  template <typename ChooseAddress> Status pointAt(std::span<const Address> operands, ChooseAddress choose);

  const fb::MatrixProduct *call_;
  Description description_;
  Layout a_, b_, result_; ///< layouts of cuBLASLt's A, B and result
  cublasLtMatmulAlgo_t algorithm_{};
};

/// Epilogue of a verified product; nothing if cuBLASLt has none.
std::optional<cublasLtEpilogue_t> epilogueOf(const fb::MatrixProduct &call);

} // namespace trainc
