// Attributes of descriptors.
#pragma once

#include "test/emulator/libcudnn/descriptor.h"

namespace trainc::emulator {

struct AttributeRule {
  cudnnBackendDescriptorType_t owner;
  cudnnBackendAttributeName_t name;
  cudnnBackendAttributeType_t type;
  int64_t minimum, maximum;
  bool isNeeded = true;
  /// Set by the library; users may only read it.
  bool isMade = false;
};

/// Null if the descriptor has no such attribute, or it is not emulated.
const AttributeRule *ruleOf(cudnnBackendDescriptorType_t owner, cudnnBackendAttributeName_t name);

/// Whether descriptors of the type are emulated.
bool isEmulated(cudnnBackendDescriptorType_t type);

/// A required attribute that is not set, or null.
const AttributeRule *missingOf(const Descriptor &descriptor);

/// Bytes of an element; 0 if the type is not emulated.
size_t bytesOf(cudnnBackendAttributeType_t type);

} // namespace trainc::emulator
