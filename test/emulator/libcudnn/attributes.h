// Which attributes descriptors have.
#pragma once

#include "test/emulator/libcudnn/descriptor.h"

namespace trainc::emulator {

struct AttributeRule {
  cudnnBackendDescriptorType_t owner;
  cudnnBackendAttributeName_t name;
  cudnnBackendAttributeType_t type;
  int64_t least, most;
  bool isNeeded = true;
  /// Made by the library, and read by users alone.
  bool isMade = false;
};

/// Null: the descriptor has none such, or the emulator does not know it.
const AttributeRule *ruleOf(cudnnBackendDescriptorType_t owner, cudnnBackendAttributeName_t name);

/// Whether descriptors of the type are emulated.
bool isEmulated(cudnnBackendDescriptorType_t type);

/// An attribute that is needed and not set.
const AttributeRule *missingOf(const Descriptor &descriptor);

/// Bytes of an element; 0: a type that is not emulated.
size_t bytesOf(cudnnBackendAttributeType_t type);

} // namespace trainc::emulator
