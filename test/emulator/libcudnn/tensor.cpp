#include "test/emulator/libcudnn/tensor.h"

#include "base/small_float.h"
#include "test/emulator/libcuda/extension.h"

#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace trainc::emulator {

namespace {

template <typename T> T elementAt(const std::byte *from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

float loadElement(cudnnDataType_t type, const std::byte *from) {
  return type == CUDNN_DATA_FLOAT      ? elementAt<float>(from)
         : type == CUDNN_DATA_INT32    ? static_cast<float>(elementAt<int32_t>(from))
         : type == CUDNN_DATA_BFLOAT16 ? static_cast<float>(elementAt<BFloat16>(from))
                                       : static_cast<float>(elementAt<Float16>(from));
}

void storeElement(cudnnDataType_t type, std::byte *to, float value) {
  const uint16_t bits =
      type == CUDNN_DATA_BFLOAT16 ? BFloat16::nearest(value).bits : Float16::nearest(value).bits;
  if (type == CUDNN_DATA_FLOAT)
    std::memcpy(to, &value, sizeof value);
  else
    std::memcpy(to, &bits, sizeof bits);
}

std::string placeText(uint64_t address, const Tensor &tensor) {
  return fmt::format("tensor {} of {} x {} x {} x {} at {:#x}", tensor.id, tensor.sizes[0], tensor.sizes[1],
                     tensor.sizes[2], tensor.sizes[3], address);
}

std::byte *bytesAt(uint64_t address, const Tensor &tensor) {
  return emulatorBytes(address, static_cast<uint64_t>(tensor.hull()) * bytesOf(tensor.type));
}

} // namespace

int64_t Tensor::hull() const {
  int64_t last = 0;
  for (size_t i = 0; i < 4; ++i)
    last += (sizes[i] - 1) * strides[i];
  return last + 1;
}

Tensor tensorOf(const Descriptor &descriptor) {
  Tensor tensor{.id = descriptor.one<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID),
                .type = descriptor.one<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE),
                .alignment = descriptor.one<int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT),
                .isVirtual = descriptor.one<bool>(CUDNN_ATTR_TENSOR_IS_VIRTUAL),
                .isByValue = descriptor.one<bool>(CUDNN_ATTR_TENSOR_IS_BY_VALUE)};
  const auto sizes = descriptor.all<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS),
             strides = descriptor.all<int64_t>(CUDNN_ATTR_TENSOR_STRIDES);
  std::copy_n(sizes.begin(), 4, tensor.sizes.begin());
  std::copy_n(strides.begin(), 4, tensor.strides.begin());
  return tensor;
}

std::optional<Refusal> check(const Tensor &tensor) {
  const auto bad = [&](const char *what) {
    return Refusal{CUDNN_STATUS_BAD_PARAM, fmt::format("tensor {}: {}", tensor.id, what)};
  };
  for (size_t i = 0; i < 4; ++i)
    if (tensor.sizes[i] < 1 || tensor.strides[i] < 1)
      return bad("a size or stride below 1");
  if (tensor.alignment < 1 || (tensor.alignment & (tensor.alignment - 1)) != 0)
    return bad("an alignment that is not a power of two");
  if (tensor.isVirtual && tensor.isByValue)
    return bad("virtual and by value");
  if (tensor.isByValue && tensor.count() != 1)
    return bad("by value, and of more than one element");
  if (bytesOf(tensor.type) == 0 || (!tensor.isVirtual && tensor.type == CUDNN_DATA_BOOLEAN))
    return Refusal{CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE,
                   fmt::format("tensor {}: data type {} is not emulated there", tensor.id,
                               static_cast<int>(tensor.type))};
  return std::nullopt;
}

size_t bytesOf(cudnnDataType_t type) {
  switch (type) {
  case CUDNN_DATA_FLOAT:
  case CUDNN_DATA_INT32:
    return 4;
  case CUDNN_DATA_HALF:
  case CUDNN_DATA_BFLOAT16:
    return 2;
  case CUDNN_DATA_BOOLEAN:
    return 1;
  default:
    return 0;
  }
}

float roundedTo(cudnnDataType_t type, float value) {
  return type == CUDNN_DATA_BFLOAT16 ? static_cast<float>(BFloat16::nearest(value))
         : type == CUDNN_DATA_HALF   ? static_cast<float>(Float16::nearest(value))
                                     : value;
}

std::optional<std::string> readFrom(uint64_t address, const Tensor &tensor, Elements &elements) {
  const std::byte *bytes = bytesAt(address, tensor);
  if (!bytes)
    return placeText(address, tensor) + " is not in one allocation";
  const size_t width = bytesOf(tensor.type);
  elements.resize(static_cast<size_t>(tensor.count()));
  bool isWritten = true;
  forEachPlace(tensor.sizes, [&](const Dimensions &at, int64_t number) {
    const uint64_t offset = static_cast<uint64_t>(tensor.offset(at)) * width;
    isWritten = isWritten && emulatorIsWritten(address + offset, width);
    elements[number] = loadElement(tensor.type, bytes + offset);
  });
  if (!isWritten)
    return placeText(address, tensor) + " has elements that were never written";
  return std::nullopt;
}

std::optional<std::string> writeTo(uint64_t address, const Tensor &tensor, const Elements &elements) {
  std::byte *bytes = bytesAt(address, tensor);
  if (!bytes)
    return placeText(address, tensor) + " is not in one allocation";
  const size_t width = bytesOf(tensor.type);
  forEachPlace(tensor.sizes, [&](const Dimensions &at, int64_t number) {
    const uint64_t offset = static_cast<uint64_t>(tensor.offset(at)) * width;
    storeElement(tensor.type, bytes + offset, elements[number]);
    emulatorNoteWritten(address + offset, width);
  });
  return std::nullopt;
}

float readNumber(const void *from, cudnnDataType_t type) {
  return loadElement(type, static_cast<const std::byte *>(from));
}

} // namespace trainc::emulator
