// Restrictions of the emulated cuDNN, and their messages.
#include "test/unit/emulator/libcuda/emulated_gpu.h"

#include <array>
#include <cudnn_graph.h>
#include <gmock/gmock.h>

namespace trainc::emulator {
namespace {

using testing::HasSubstr;

#define EXPECT_CUDNN(call) EXPECT_EQ(call, CUDNN_STATUS_SUCCESS)

class EmulatedCudnn : public testing::Test {
protected:
  using Object = cudnnBackendDescriptor_t;

  EmulatedCudnn() { EXPECT_CUDNN(cudnnCreate(&handle)); }
  ~EmulatedCudnn() override { EXPECT_CUDNN(cudnnDestroy(handle)); }

  static Object create(cudnnBackendDescriptorType_t type) {
    Object made = nullptr;
    EXPECT_CUDNN(cudnnBackendCreateDescriptor(type, &made));
    return made;
  }
  template <typename T>
  static cudnnStatus_t set(Object object, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                           std::vector<T> values) {
    return cudnnBackendSetAttribute(object, name, type, static_cast<int64_t>(values.size()), values.data());
  }

  /// A tensor of sizes [1, 2, rows, columns], row-major.
  Object tensor(int64_t rows, int64_t columns, cudnnDataType_t type, bool isVirtual = false) {
    const Object made = create(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    EXPECT_CUDNN(set<int64_t>(made, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, {++tensors_}));
    EXPECT_CUDNN(set<cudnnDataType_t>(made, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, {type}));
    EXPECT_CUDNN(set<int64_t>(made, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, {16}));
    EXPECT_CUDNN(set<int64_t>(made, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, {1, 2, rows, columns}));
    EXPECT_CUDNN(set<int64_t>(made, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64,
                              {2 * rows * columns, rows * columns, columns, 1}));
    const bool flag = isVirtual;
    EXPECT_CUDNN(cudnnBackendSetAttribute(made, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &flag));
    EXPECT_CUDNN(cudnnBackendFinalize(made));
    return made;
  }

  static Object product(Object a, Object b, Object c) {
    const Object how = create(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
    EXPECT_CUDNN(set(how, CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE,
                     std::vector<cudnnDataType_t>{CUDNN_DATA_FLOAT}));
    EXPECT_CUDNN(cudnnBackendFinalize(how));
    const Object made = create(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
    const std::pair<cudnnBackendAttributeName_t, Object> parts[] = {{CUDNN_ATTR_OPERATION_MATMUL_DESC, how},
                                                                    {CUDNN_ATTR_OPERATION_MATMUL_ADESC, a},
                                                                    {CUDNN_ATTR_OPERATION_MATMUL_BDESC, b},
                                                                    {CUDNN_ATTR_OPERATION_MATMUL_CDESC, c}};
    for (const auto &[name, part] : parts)
      EXPECT_CUDNN(set<Object>(made, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, {part}));
    EXPECT_CUDNN(cudnnBackendFinalize(made));
    return made;
  }

  static Object exponential(Object x, Object y) {
    const Object how = create(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    EXPECT_CUDNN(set(how, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE,
                     std::vector<cudnnPointwiseMode_t>{CUDNN_POINTWISE_EXP}));
    EXPECT_CUDNN(set(how, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE,
                     std::vector<cudnnDataType_t>{CUDNN_DATA_FLOAT}));
    EXPECT_CUDNN(cudnnBackendFinalize(how));
    const Object made = create(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    const std::pair<cudnnBackendAttributeName_t, Object> parts[] = {
        {CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, how},
        {CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x},
        {CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y}};
    for (const auto &[name, part] : parts)
      EXPECT_CUDNN(set<Object>(made, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, {part}));
    EXPECT_CUDNN(cudnnBackendFinalize(made));
    return made;
  }

  Object graphOf(const std::vector<Object> &operations) {
    const Object graph = create(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    EXPECT_CUDNN(set<cudnnHandle_t>(graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, {handle}));
    EXPECT_CUDNN(set(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, operations));
    return graph;
  }

  void expectRefusal(const std::vector<Object> &operations, cudnnStatus_t status, const char *text) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(cudnnBackendFinalize(graphOf(operations)), status);
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr(text));
  }

  EmulatedGpu gpu;
  cudnnHandle_t handle = nullptr;

private:
  int64_t tensors_ = 0;
};

TEST_F(EmulatedCudnn, AttributesHaveTypesAndNumbers) {
  const Object made = create(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  const int64_t one = 1;
  EXPECT_EQ(cudnnBackendSetAttribute(made, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_FLOAT, 1, &one),
            CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE);
  EXPECT_EQ(cudnnBackendSetAttribute(made, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 1, &one),
            CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(cudnnBackendSetAttribute(made, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, nullptr),
            CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
  EXPECT_EQ(cudnnBackendSetAttribute(made, CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_INT64, 1, &one),
            CUDNN_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(cudnnBackendFinalize(made), CUDNN_STATUS_BAD_PARAM);
  EXPECT_CUDNN(cudnnBackendDestroyDescriptor(made));
  EXPECT_EQ(cudnnBackendDestroyDescriptor(made), CUDNN_STATUS_BAD_PARAM);
}

TEST_F(EmulatedCudnn, DescriptorsAreFinalizedOnceAndBeforeUse) {
  const Object x = tensor(8, 8, CUDNN_DATA_BFLOAT16);
  EXPECT_EQ(cudnnBackendFinalize(x), CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(set<int64_t>(x, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, {7}),
            CUDNN_STATUS_NOT_INITIALIZED);
  const Object raw = create(CUDNN_BACKEND_TENSOR_DESCRIPTOR),
               operation = create(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
  EXPECT_EQ(set<Object>(operation, CUDNN_ATTR_OPERATION_MATMUL_ADESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, {raw}),
            CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED);
  EXPECT_EQ(set<Object>(operation, CUDNN_ATTR_OPERATION_MATMUL_DESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, {x}),
            CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE);
}

TEST_F(EmulatedCudnn, GraphsFitTogether) {
  const Object a = tensor(8, 16, CUDNN_DATA_BFLOAT16), b = tensor(16, 8, CUDNN_DATA_BFLOAT16),
               wide = tensor(16, 8, CUDNN_DATA_FLOAT), c = tensor(8, 8, CUDNN_DATA_FLOAT, true),
               raised = tensor(8, 8, CUDNN_DATA_BFLOAT16, true), out = tensor(8, 8, CUDNN_DATA_BFLOAT16),
               v = tensor(8, 8, CUDNN_DATA_BFLOAT16);
  expectRefusal({product(a, a, c)}, CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "does not fit");
  expectRefusal({product(a, wide, c)}, CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE, "is in memory, not of 16 bits");
  expectRefusal({product(a, b, c)}, CUDNN_STATUS_BAD_PARAM, "is used by nothing");
  expectRefusal({exponential(c, raised), product(raised, v, out), product(a, b, c)}, CUDNN_STATUS_BAD_PARAM,
                "is read before it is made");
  expectRefusal({product(a, b, out)}, CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN,
                "1 products are not attention");
  EXPECT_CUDNN(
      cudnnBackendFinalize(graphOf({product(a, b, c), exponential(c, raised), product(raised, v, out)})));
}

TEST_F(EmulatedCudnn, HeadsAreMultiplesOfEight) {
  const Object a = tensor(8, 12, CUDNN_DATA_BFLOAT16), b = tensor(12, 8, CUDNN_DATA_BFLOAT16),
               c = tensor(8, 8, CUDNN_DATA_FLOAT, true), raised = tensor(8, 8, CUDNN_DATA_BFLOAT16, true),
               v = tensor(8, 8, CUDNN_DATA_BFLOAT16), out = tensor(8, 8, CUDNN_DATA_BFLOAT16);
  expectRefusal({product(a, b, c), exponential(c, raised), product(raised, v, out)},
                CUDNN_STATUS_NOT_SUPPORTED_SHAPE, "heads of 12 and 8, expected multiples of 8 up to 256");
}

TEST_F(EmulatedCudnn, PacksNameEachTensorOnce) {
  const Object pack = create(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  EXPECT_CUDNN(set<int64_t>(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, {1, 1}));
  EXPECT_CUDNN(
      set<void *>(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, {nullptr, nullptr}));
  EXPECT_EQ(cudnnBackendFinalize(pack), CUDNN_STATUS_BAD_PARAM_DUPLICATED_ENTRIES);
}

TEST_F(EmulatedCudnn, SaysItsVersionAndItsErrors) {
  EXPECT_EQ(cudnnGetVersion(), size_t{CUDNN_VERSION});
  EXPECT_EQ(cudnnBackendDestroyDescriptor(nullptr), CUDNN_STATUS_BAD_PARAM);
  std::array<char, 64> text{};
  cudnnGetLastErrorString(text.data(), text.size());
  EXPECT_STREQ(text.data(), "the descriptor is null");
  EXPECT_STREQ(cudnnGetErrorString(CUDNN_STATUS_BAD_PARAM), "CUDNN_STATUS_BAD_PARAM");
}

} // namespace
} // namespace trainc::emulator
