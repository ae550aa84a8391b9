// Entry points that create, change, read and destroy descriptors.
#include "test/emulator/libcudnn/attributes.h"
#include "test/emulator/libcudnn/finalization.h"
#include "test/emulator/libcudnn/library.h"

#include <algorithm>

namespace trainc::emulator {

namespace {

/// Type of the descriptors in an attribute; nothing if several are allowed.
std::optional<cudnnBackendDescriptorType_t> typeWithin(cudnnBackendAttributeName_t name) {
  switch (name) {
  case CUDNN_ATTR_OPERATIONGRAPH_OPS:
    return std::nullopt;
  case CUDNN_ATTR_OPERATION_MATMUL_DESC:
    return CUDNN_BACKEND_MATMUL_DESCRIPTOR;
  case CUDNN_ATTR_OPERATION_REDUCTION_DESC:
    return CUDNN_BACKEND_REDUCTION_DESCRIPTOR;
  case CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR:
    return CUDNN_BACKEND_POINTWISE_DESCRIPTOR;
  case CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH:
  case CUDNN_ATTR_ENGINE_OPERATION_GRAPH:
    return CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR;
  case CUDNN_ATTR_ENGINECFG_ENGINE:
    return CUDNN_BACKEND_ENGINE_DESCRIPTOR;
  case CUDNN_ATTR_ENGINECFG_KNOB_CHOICES:
    return CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR;
  case CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG:
    return CUDNN_BACKEND_ENGINECFG_DESCRIPTOR;
  default:
    return CUDNN_BACKEND_TENSOR_DESCRIPTOR;
  }
}

/// Finds the rule of an attribute with the caller's type.
cudnnStatus_t needRule(const CudnnCall &call, const Descriptor &descriptor, cudnnBackendAttributeName_t name,
                       cudnnBackendAttributeType_t type, const AttributeRule *&rule) {
  rule = ruleOf(descriptor.type, name);
  if (!rule)
    return call.refuse(CUDNN_STATUS_NOT_SUPPORTED,
                       "attribute {} of a descriptor of type {} is none, or not emulated",
                       static_cast<int>(name), static_cast<int>(descriptor.type));
  if (rule->type != type)
    return call.refuse(CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE, "attribute {} is of type {}, not {}",
                       static_cast<int>(name), static_cast<int>(rule->type), static_cast<int>(type));
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t setDescriptors(const CudnnCall &call, const AttributeRule &rule, const void *elements,
                             AttributeValue &value) {
  const auto *handles = static_cast<const cudnnBackendDescriptor_t *>(elements);
  const std::optional<cudnnBackendDescriptorType_t> expected = typeWithin(rule.name);
  for (int64_t i = 0; i < value.count; ++i) {
    std::shared_ptr<Descriptor> each;
    TRAINC_CUDNN(call.need(call.library.descriptors, handles[i], each));
    if (!each->isFinal)
      return call.refuse(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "element {} of attribute {} is not finalized",
                         i, static_cast<int>(rule.name));
    if (expected && each->type != *expected)
      return call.refuse(CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE,
                         "element {} of attribute {} is a descriptor of type {}, expected {}", i,
                         static_cast<int>(rule.name), static_cast<int>(each->type),
                         static_cast<int>(*expected));
    value.descriptors.push_back(std::move(each));
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t setAttribute(const CudnnCall &call, Descriptor &descriptor, const AttributeRule &rule,
                           int64_t count, const void *elements) {
  if (descriptor.isFinal)
    return call.refuse(CUDNN_STATUS_NOT_INITIALIZED, "the descriptor is finalized");
  if (rule.isMade || count < rule.minimum || count > rule.maximum)
    return call.refuse(CUDNN_STATUS_BAD_PARAM, "{} elements of attribute {}, expected {}", count,
                       static_cast<int>(rule.name),
                       rule.isMade ? "none" : fmt::format("{} to {}", rule.minimum, rule.maximum));
  if (count > 0 && !elements)
    return call.refuse(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "the elements are null");
  AttributeValue value{.type = rule.type, .count = count, .bytes = {}, .descriptors = {}};
  if (rule.type == CUDNN_TYPE_BACKEND_DESCRIPTOR)
    TRAINC_CUDNN(setDescriptors(call, rule, elements, value));
  const auto *bytes = static_cast<const std::byte *>(elements);
  value.bytes.assign(bytes, bytes + static_cast<size_t>(count) * bytesOf(rule.type));
  descriptor.attributes[rule.name] = std::move(value);
  return CUDNN_STATUS_SUCCESS;
}

/// Copies into descriptors that the caller has created, as cuDNN requires.
cudnnStatus_t copyDescriptors(const CudnnCall &call, const AttributeValue &value, int64_t count,
                              void *elements) {
  auto *handles = static_cast<cudnnBackendDescriptor_t *>(elements);
  for (int64_t i = 0; i < count; ++i) {
    std::shared_ptr<Descriptor> place;
    TRAINC_CUDNN(call.need(call.library.descriptors, handles[i], place));
    const Descriptor &source = *value.descriptors[static_cast<size_t>(i)];
    if (place->type != source.type || place->isFinal)
      return call.refuse(CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE,
                         "place {} is a descriptor of type {}, expected a new one of type {}", i,
                         static_cast<int>(place->type), static_cast<int>(source.type));
    *place = source;
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t getAttribute(const CudnnCall &call, const Descriptor &descriptor, const AttributeRule &rule,
                           int64_t wanted, int64_t *found, void *elements) {
  if (!descriptor.isFinal)
    return call.refuse(CUDNN_STATUS_NOT_INITIALIZED, "the descriptor is not finalized");
  if (wanted < 0 || (wanted > 0 && !elements) || (wanted == 0 && !found))
    return call.refuse(CUDNN_STATUS_BAD_PARAM, "{} elements at {}", wanted, elements);
  if (!descriptor.has(rule.name)) {
    if (found)
      *found = 0;
    return CUDNN_STATUS_SUCCESS;
  }
  const AttributeValue &value = descriptor.attributes.at(rule.name);
  if (found)
    *found = value.count;
  const int64_t count = std::min(wanted, value.count);
  if (rule.type == CUDNN_TYPE_BACKEND_DESCRIPTOR)
    return copyDescriptors(call, value, count, elements);
  std::memcpy(elements, value.bytes.data(), static_cast<size_t>(count) * bytesOf(rule.type));
  return CUDNN_STATUS_SUCCESS;
}

} // namespace

} // namespace trainc::emulator

using namespace trainc::emulator;

extern "C" {

cudnnStatus_t CUDNNWINAPI cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                                       cudnnBackendDescriptor_t *descriptor) {
  return cudnnEntry("cudnnBackendCreateDescriptor", [&](CudnnCall &call) {
    if (!descriptor)
      return call.refuse(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "the place for the descriptor is null");
    if (!isEmulated(type))
      return call.refuse(CUDNN_STATUS_NOT_SUPPORTED, "descriptors of type {} are not emulated",
                         static_cast<int>(type));
    *descriptor = call.library.descriptors.add(std::make_shared<Descriptor>(type));
    return CUDNN_STATUS_SUCCESS;
  });
}

cudnnStatus_t CUDNNWINAPI cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  return cudnnEntry("cudnnBackendDestroyDescriptor", [&](CudnnCall &call) {
    std::shared_ptr<Descriptor> object;
    TRAINC_CUDNN(call.need(call.library.descriptors, descriptor, object));
    call.library.descriptors.remove(descriptor);
    return CUDNN_STATUS_SUCCESS;
  });
}

cudnnStatus_t CUDNNWINAPI cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                                   cudnnBackendAttributeName_t name,
                                                   cudnnBackendAttributeType_t type, int64_t count,
                                                   const void *elements) {
  return cudnnEntry("cudnnBackendSetAttribute", [&](CudnnCall &call) {
    std::shared_ptr<Descriptor> object;
    TRAINC_CUDNN(call.need(call.library.descriptors, descriptor, object));
    const AttributeRule *rule = nullptr;
    TRAINC_CUDNN(needRule(call, *object, name, type, rule));
    return setAttribute(call, *object, *rule, count, elements);
  });
}

cudnnStatus_t CUDNNWINAPI cudnnBackendGetAttribute(cudnnBackendDescriptor_t const descriptor,
                                                   cudnnBackendAttributeName_t name,
                                                   cudnnBackendAttributeType_t type, int64_t wanted,
                                                   int64_t *found, void *elements) {
  return cudnnEntry("cudnnBackendGetAttribute", [&](CudnnCall &call) {
    std::shared_ptr<Descriptor> object;
    TRAINC_CUDNN(call.need(call.library.descriptors, descriptor, object));
    const AttributeRule *rule = nullptr;
    TRAINC_CUDNN(needRule(call, *object, name, type, rule));
    return getAttribute(call, *object, *rule, wanted, found, elements);
  });
}

cudnnStatus_t CUDNNWINAPI cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  return cudnnEntry("cudnnBackendFinalize", [&](CudnnCall &call) {
    std::shared_ptr<Descriptor> object;
    TRAINC_CUDNN(call.need(call.library.descriptors, descriptor, object));
    if (object->isFinal)
      return call.refuse(CUDNN_STATUS_BAD_PARAM, "the descriptor is finalized");
    if (const AttributeRule *missing = missingOf(*object))
      return call.refuse(CUDNN_STATUS_BAD_PARAM, "attribute {} of a descriptor of type {} is not set",
                         static_cast<int>(missing->name), static_cast<int>(object->type));
    TRAINC_CUDNN(finalize(call, *object));
    object->isFinal = true;
    return CUDNN_STATUS_SUCCESS;
  });
}

} // extern "C"
