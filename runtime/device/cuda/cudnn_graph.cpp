#include "runtime/device/cuda/cudnn_graph.h"

namespace trainc {

Result<CudnnHandle> CudnnHandle::create(cudaStream_t stream) {
  TRAINC_RETURN_IF_ERROR(loadCudnn());
  cudnnHandle_t created = nullptr;
  TRAINC_RETURN_IF_ERROR(cudnn().cudnnCreate(&created));
  CudnnHandle handle(created);
  TRAINC_RETURN_IF_ERROR(cudnn().cudnnSetStream(created, stream));
  return handle;
}

CudnnHandle::~CudnnHandle() {
  if (handle_ != nullptr)
    cudnn().cudnnDestroy.raw(handle_);
}

Result<CudnnDescriptor> CudnnDescriptor::create(cudnnBackendDescriptorType_t type) {
  cudnnBackendDescriptor_t created = nullptr;
  TRAINC_RETURN_IF_ERROR(cudnn().cudnnBackendCreateDescriptor(type, &created));
  return CudnnDescriptor(created);
}

CudnnDescriptor::~CudnnDescriptor() {
  if (descriptor_ != nullptr)
    cudnn().cudnnBackendDestroyDescriptor.raw(descriptor_);
}

Result<int64_t> CudnnDescriptor::count(cudnnBackendAttributeName_t name) const {
  int64_t count = 0;
  TRAINC_RETURN_IF_ERROR(
      cudnn().cudnnBackendGetAttribute(descriptor_, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr));
  return count;
}

Result<std::vector<CudnnDescriptor>> CudnnDescriptor::getCopies(cudnnBackendAttributeName_t name,
                                                                cudnnBackendDescriptorType_t type,
                                                                int64_t maximum) const {
  std::vector<CudnnDescriptor> copies;
  std::vector<cudnnBackendDescriptor_t> places;
  for (int64_t i = 0; i < maximum; ++i) {
    TRAINC_ASSIGN_OR_RETURN(CudnnDescriptor copy, create(type));
    places.push_back(copy.get());
    copies.push_back(std::move(copy));
  }
  int64_t count = 0;
  TRAINC_RETURN_IF_ERROR(cudnn().cudnnBackendGetAttribute(descriptor_, name, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                                          maximum, &count, places.data()));
  copies.erase(copies.begin() + count, copies.end());
  return copies;
}

CudnnTensor packedTensor(cudnnDataType_t type, std::array<int64_t, 4> sizes) {
  CudnnTensor tensor{type, sizes, {1, 1, 1, 1}};
  for (size_t i = 3; i > 0; --i)
    tensor.strides[i - 1] = tensor.strides[i] * sizes[i];
  return tensor;
}

template <typename Fill>
cudnnBackendDescriptor_t CudnnGraphBuilder::keep(cudnnBackendDescriptorType_t type, Fill fill) {
  if (!status_.ok())
    return nullptr;
  Result<CudnnDescriptor> created = CudnnDescriptor::create(type);
  status_ = created.status();
  if (status_.ok())
    status_ = fill(*created);
  if (status_.ok())
    status_ = created->finalize();
  if (!status_.ok())
    return nullptr;
  descriptors_.push_back(std::move(*created));
  return descriptors_.back().get();
}

CudnnGraphBuilder::Tensor CudnnGraphBuilder::make(int64_t id, const CudnnTensor &tensor, bool isVirtual,
                                                  bool isNumber) {
  constexpr int64_t kAlignment = 16;
  return keep(CUDNN_BACKEND_TENSOR_DESCRIPTOR, [&](CudnnDescriptor &each) {
    TRAINC_RETURN_IF_ERROR(each.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, id));
    TRAINC_RETURN_IF_ERROR(each.set(CUDNN_ATTR_TENSOR_DATA_TYPE, tensor.type));
    TRAINC_RETURN_IF_ERROR(each.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, kAlignment));
    TRAINC_RETURN_IF_ERROR(each.set(CUDNN_ATTR_TENSOR_DIMENSIONS, std::span<const int64_t>(tensor.sizes)));
    TRAINC_RETURN_IF_ERROR(each.set(CUDNN_ATTR_TENSOR_STRIDES, std::span<const int64_t>(tensor.strides)));
    TRAINC_RETURN_IF_ERROR(each.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, isVirtual));
    return each.set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, isNumber);
  });
}

void CudnnGraphBuilder::addOperation(cudnnBackendDescriptorType_t type, Attributes attributes) {
  operations_.push_back(keep(type, [&](CudnnDescriptor &each) {
    for (const auto &[name, value] : attributes)
      if (value != nullptr)
        TRAINC_RETURN_IF_ERROR(each.set(name, value));
    return Status();
  }));
}

void CudnnGraphBuilder::multiply(Tensor a, Tensor b, Tensor result) {
  const cudnnBackendDescriptor_t how = keep(CUDNN_BACKEND_MATMUL_DESCRIPTOR, [](CudnnDescriptor &each) {
    return each.set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_DATA_FLOAT);
  });
  addOperation(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR,
               std::array{std::pair(CUDNN_ATTR_OPERATION_MATMUL_ADESC, a),
                          std::pair(CUDNN_ATTR_OPERATION_MATMUL_BDESC, b),
                          std::pair(CUDNN_ATTR_OPERATION_MATMUL_CDESC, result),
                          std::pair(CUDNN_ATTR_OPERATION_MATMUL_DESC, how)});
}

void CudnnGraphBuilder::reduce(cudnnReduceTensorOp_t operation, Tensor x, Tensor result) {
  const cudnnBackendDescriptor_t how = keep(CUDNN_BACKEND_REDUCTION_DESCRIPTOR, [&](CudnnDescriptor &each) {
    TRAINC_RETURN_IF_ERROR(each.set(CUDNN_ATTR_REDUCTION_OPERATOR, operation));
    return each.set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_DATA_FLOAT);
  });
  addOperation(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR,
               std::array{std::pair(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x),
                          std::pair(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, result),
                          std::pair(CUDNN_ATTR_OPERATION_REDUCTION_DESC, how)});
}

void CudnnGraphBuilder::reshape(Tensor x, Tensor result) {
  addOperation(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR,
               std::array{std::pair(CUDNN_ATTR_OPERATION_RESHAPE_XDESC, x),
                          std::pair(CUDNN_ATTR_OPERATION_RESHAPE_YDESC, result)});
}

void CudnnGraphBuilder::add(cudnnPointwiseMode_t mode, const Elementwise &operation) {
  const cudnnBackendDescriptor_t how = keep(CUDNN_BACKEND_POINTWISE_DESCRIPTOR, [&](CudnnDescriptor &each) {
    TRAINC_RETURN_IF_ERROR(each.set(CUDNN_ATTR_POINTWISE_MODE, mode));
    if (operation.axis >= 0)
      TRAINC_RETURN_IF_ERROR(each.set(CUDNN_ATTR_POINTWISE_AXIS, operation.axis));
    return each.set(CUDNN_ATTR_POINTWISE_MATH_PREC, operation.compute);
  });
  addOperation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR,
               std::array{std::pair(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, how),
                          std::pair(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, operation.x),
                          std::pair(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, operation.b),
                          std::pair(CUDNN_ATTR_OPERATION_POINTWISE_TDESC, operation.condition),
                          std::pair(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, operation.result)});
}

Result<std::vector<CudnnDescriptor>> CudnnGraphBuilder::finish(const CudnnHandle &handle) && {
  keep(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, [&](CudnnDescriptor &graph) {
    TRAINC_RETURN_IF_ERROR(graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, handle.get()));
    return graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, std::span<const cudnnBackendDescriptor_t>(operations_),
                     CUDNN_TYPE_BACKEND_DESCRIPTOR);
  });
  if (!status_.ok())
    return status_;
  return std::move(descriptors_);
}

} // namespace trainc
