// A plan's matrix product as a call of cuBLASLt.
//
// Plans are row-major, cuBLASLt is column-major: it sees each matrix transposed, and computes
//   result^T = op(b)^T op(a)^T
// so its A is the plan's b, its B the plan's a. What the plan adds to a product is an epilogue of the call:
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
// `adds` is a beta of 1. There is no epilogue for Gelu and GeluGradient, which are the exact ones. An
// auxiliary tensor has rows that are multiples of 8 elements apart, and so are its matrices. The compiler's
// target for GPUs emits nothing else.
//
// Factors are f32, bf16 or f16; the other operands of the factors' type, or f32. Sums are made in f32, of f32
// factors rounded to TF32 where the plan says so.
//
// Fp8 factors have scales, which cuBLASLt reads from device memory. The plan's layout of them is cuBLASLt's:
// A transposed, B as it is. Their sums are never those of fast accumulation, which keeps fewer bits.
#pragma once

#include "runtime/device/cuda/cublaslt_library.h"
#include "runtime/device/program.h"

#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace trainc {

/// The library's state for one device, beside its workspaces.
class LtHandle {
public:
  /// Loads the library. The device's context is the calling thread's.
  static Result<LtHandle> create();

  LtHandle(LtHandle &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  LtHandle &operator=(LtHandle &&) = delete;
  ~LtHandle();

  cublasLtHandle_t get() const { return handle_; }

private:
  explicit LtHandle(cublasLtHandle_t handle) : handle_(handle) {}

  cublasLtHandle_t handle_;
};

/// One product, with the algorithm that it keeps for the whole run.
class LtProduct {
public:
  /// `operands` are the call's, in the order of ProductOperand. Fails (kInvalidInput) when cuBLASLt has no
  /// such product, or none that does with the workspace.
  static Result<LtProduct> create(const LtHandle &handle, const fb::MatrixProduct &call,
                                  std::span<const Address> operands);

  /// Puts it on a stream, for one iteration of its operands.
  Status enqueue(const LtHandle &handle, std::span<const Address> operands, uint64_t iteration,
                 cudaStream_t stream);

  /// What results depend on beside numbers.
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
  Status layOut();
  Status chooseAlgorithm(const LtHandle &handle, std::span<const Address> operands);
  template <typename ChooseAddress> Status pointAt(std::span<const Address> operands, ChooseAddress choose);

  const fb::MatrixProduct *call_;
  Description description_;
  Layout a_, b_, result_; ///< cuBLASLt's A and B
  cublasLtMatmulAlgo_t algorithm_{};
};

/// The epilogue of a verified product; none where cuBLASLt has none.
std::optional<cublasLtEpilogue_t> epilogueOf(const fb::MatrixProduct &call);

} // namespace trainc
