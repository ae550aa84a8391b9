// Builder of cuDNN operation graphs.
#pragma once

#include "runtime/device/cuda/cudnn_library.h"

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace trainc {

/// cuDNN's state for one device.
class CudnnHandle {
public:
  /// Loads the library. The device's context must be current; all work runs on `stream`.
  static Result<CudnnHandle> create(cudaStream_t stream);

  CudnnHandle(CudnnHandle &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  CudnnHandle &operator=(CudnnHandle &&) = delete;
  ~CudnnHandle();

  cudnnHandle_t get() const { return handle_; }

private:
  explicit CudnnHandle(cudnnHandle_t handle) : handle_(handle) {}

  cudnnHandle_t handle_;
};

/// The attribute type of a C++ type.
template <typename T> constexpr cudnnBackendAttributeType_t cudnnTypeOf();
template <> constexpr cudnnBackendAttributeType_t cudnnTypeOf<cudnnHandle_t>() { return CUDNN_TYPE_HANDLE; }
template <> constexpr cudnnBackendAttributeType_t cudnnTypeOf<cudnnDataType_t>() {
  return CUDNN_TYPE_DATA_TYPE;
}
template <> constexpr cudnnBackendAttributeType_t cudnnTypeOf<bool>() { return CUDNN_TYPE_BOOLEAN; }
template <> constexpr cudnnBackendAttributeType_t cudnnTypeOf<int64_t>() { return CUDNN_TYPE_INT64; }
template <> constexpr cudnnBackendAttributeType_t cudnnTypeOf<cudnnBackendHeurMode_t>() {
  return CUDNN_TYPE_HEUR_MODE;
}
template <> constexpr cudnnBackendAttributeType_t cudnnTypeOf<cudnnBackendKnobType_t>() {
  return CUDNN_TYPE_KNOB_TYPE;
}
template <> constexpr cudnnBackendAttributeType_t cudnnTypeOf<cudnnBackendNumericalNote_t>() {
  return CUDNN_TYPE_NUMERICAL_NOTE;
}
template <> constexpr cudnnBackendAttributeType_t cudnnTypeOf<cudnnPointwiseMode_t>() {
  return CUDNN_TYPE_POINTWISE_MODE;
}
template <> constexpr cudnnBackendAttributeType_t cudnnTypeOf<cudnnReduceTensorOp_t>() {
  return CUDNN_TYPE_REDUCTION_OPERATOR_TYPE;
}

/// Owner of one backend descriptor.
class CudnnDescriptor {
public:
  static Result<CudnnDescriptor> create(cudnnBackendDescriptorType_t type);

  CudnnDescriptor(CudnnDescriptor &&other) noexcept
      : descriptor_(std::exchange(other.descriptor_, nullptr)) {}
  CudnnDescriptor &operator=(CudnnDescriptor &&other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~CudnnDescriptor();

  cudnnBackendDescriptor_t get() const { return descriptor_; }

  template <typename T>
  Status set(cudnnBackendAttributeName_t name, std::span<const T> values,
             cudnnBackendAttributeType_t type = cudnnTypeOf<T>()) {
    return cudnn().cudnnBackendSetAttribute(descriptor_, name, type, static_cast<int64_t>(values.size()),
                                            values.data());
  }
  template <typename T> Status set(cudnnBackendAttributeName_t name, T value) {
    return set(name, std::span<const T>(&value, 1));
  }
  /// Pointer attributes have no type of their own: descriptors, or addresses.
  Status set(cudnnBackendAttributeName_t name, cudnnBackendDescriptor_t value,
             cudnnBackendAttributeType_t type = CUDNN_TYPE_BACKEND_DESCRIPTOR) {
    return set(name, std::span<const cudnnBackendDescriptor_t>(&value, 1), type);
  }
  Status finalize() { return cudnn().cudnnBackendFinalize(descriptor_); }

  /// Reads an attribute with one element.
  template <typename T> Result<T> get(cudnnBackendAttributeName_t name) const {
    T value{};
    int64_t count = 0;
    TRAINC_RETURN_IF_ERROR(
        cudnn().cudnnBackendGetAttribute(descriptor_, name, cudnnTypeOf<T>(), 1, &count, &value));
    return value;
  }
  /// Reads all elements of an attribute, at most `maximum`.
  template <typename T>
  Result<std::vector<T>> getAll(cudnnBackendAttributeName_t name, int64_t maximum) const {
    std::vector<T> values(static_cast<size_t>(maximum));
    int64_t count = 0;
    TRAINC_RETURN_IF_ERROR(cudnn().cudnnBackendGetAttribute(descriptor_, name, cudnnTypeOf<T>(), maximum,
                                                            &count, values.data()));
    values.resize(static_cast<size_t>(count));
    return values;
  }
  /// Copies of the descriptors that an attribute holds, at most `maximum`.
  Result<std::vector<CudnnDescriptor>> getCopies(cudnnBackendAttributeName_t name,
                                                 cudnnBackendDescriptorType_t type, int64_t maximum) const;
  /// Number of descriptors that an attribute holds.
  Result<int64_t> count(cudnnBackendAttributeName_t name) const;

private:
  explicit CudnnDescriptor(cudnnBackendDescriptor_t descriptor) : descriptor_(descriptor) {}

  cudnnBackendDescriptor_t descriptor_;
};

/// A four-dimensional tensor with strides in elements.
struct CudnnTensor {
  cudnnDataType_t type;
  std::array<int64_t, 4> sizes, strides;
};

/// A row-major tensor without gaps.
CudnnTensor packedTensor(cudnnDataType_t type, std::array<int64_t, 4> sizes);

/// Builds a graph. After a failure all calls are ignored, and finish() returns the first error.
class CudnnGraphBuilder {
public:
  using Tensor = cudnnBackendDescriptor_t;

  /// A tensor in memory; calls pass its address by id.
  Tensor argument(int64_t id, const CudnnTensor &tensor) { return make(id, tensor, false, false); }
  /// A host scalar; calls pass its address by id.
  Tensor number(int64_t id, cudnnDataType_t type) {
    return make(id, {type, {1, 1, 1, 1}, {1, 1, 1, 1}}, false, true);
  }
  /// A virtual tensor, which is never in memory.
  Tensor between(const CudnnTensor &tensor) { return make(nextId_++, tensor, true, false); }

  void multiply(Tensor a, Tensor b, Tensor result);
  void reduce(cudnnReduceTensorOp_t how, Tensor x, Tensor result);
  /// Reinterprets the same elements with other sizes and strides.
  void reshape(Tensor x, Tensor result);
  void pointwise(cudnnPointwiseMode_t mode, Tensor x, Tensor result) {
    add(mode, {.x = x, .result = result});
  }
  void pointwise(cudnnPointwiseMode_t mode, Tensor x, Tensor b, Tensor result,
                 cudnnDataType_t compute = CUDNN_DATA_FLOAT) {
    add(mode, {.x = x, .b = b, .result = result, .compute = compute});
  }
  /// The index of each element of `like` along an axis.
  void index(Tensor like, int64_t axis, Tensor result) {
    add(CUDNN_POINTWISE_GEN_INDEX, {.x = like, .result = result, .axis = axis});
  }
  /// x where the condition holds, else b.
  void select(Tensor condition, Tensor x, Tensor b, Tensor result) {
    add(CUDNN_POINTWISE_BINARY_SELECT, {.x = x, .b = b, .condition = condition, .result = result});
  }

  /// All descriptors; the last one is the graph.
  Result<std::vector<CudnnDescriptor>> finish(const CudnnHandle &handle) &&;

private:
  struct Elementwise {
    Tensor x = nullptr, b = nullptr, condition = nullptr, result = nullptr;
    cudnnDataType_t compute = CUDNN_DATA_FLOAT;
    int64_t axis = -1;
  };
  using Attributes = std::span<const std::pair<cudnnBackendAttributeName_t, cudnnBackendDescriptor_t>>;

  Tensor make(int64_t id, const CudnnTensor &tensor, bool isVirtual, bool isNumber);
  void add(cudnnPointwiseMode_t mode, const Elementwise &operation);
  void addOperation(cudnnBackendDescriptorType_t type, Attributes attributes);
  /// Creates a descriptor, lets `fill` set it, and keeps it; null after a failure.
  template <typename Fill> cudnnBackendDescriptor_t keep(cudnnBackendDescriptorType_t type, Fill fill);

  std::vector<CudnnDescriptor> descriptors_;
  std::vector<cudnnBackendDescriptor_t> operations_;
  Status status_;
  int64_t nextId_ = 1000; ///< above the ids of arguments and numbers
};

} // namespace trainc
