// Objects behind cudnnBackendDescriptor_t: named attributes, and data derived by finalization.
#pragma once

#include "test/emulator/libcudnn/api.h"

#include <cstddef>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace trainc::emulator {

struct Refusal {
  cudnnStatus_t status;
  std::string text;
};

struct Descriptor;
struct OperationGraph;
struct Engine;

/// Elements of an attribute; for descriptors, the objects.
struct AttributeValue {
  cudnnBackendAttributeType_t type;
  int64_t count = 0;
  std::vector<std::byte> bytes;
  std::vector<std::shared_ptr<const Descriptor>> descriptors;
};

struct Descriptor {
  explicit Descriptor(cudnnBackendDescriptorType_t type) : type(type) {}

  cudnnBackendDescriptorType_t type;
  bool isFinal = false;
  std::map<cudnnBackendAttributeName_t, AttributeValue> attributes;
  std::shared_ptr<const OperationGraph> graph; ///< of operation graphs and objects made from them
  std::shared_ptr<const Engine> engine;        ///< of engines, configurations and execution plans

  bool has(cudnnBackendAttributeName_t name) const { return attributes.contains(name); }
  /// Elements of an attribute, which must be set.
  template <typename T> std::vector<T> all(cudnnBackendAttributeName_t name) const {
    const AttributeValue &value = attributes.at(name);
    std::vector<T> elements(static_cast<size_t>(value.count));
    std::memcpy(elements.data(), value.bytes.data(), value.bytes.size());
    return elements;
  }
  template <typename T> T one(cudnnBackendAttributeName_t name, T otherwise = {}) const {
    if (!has(name))
      return otherwise;
    T element;
    std::memcpy(&element, attributes.at(name).bytes.data(), sizeof element);
    return element;
  }
  /// Null if not set.
  std::shared_ptr<const Descriptor> other(cudnnBackendAttributeName_t name) const {
    return has(name) ? attributes.at(name).descriptors.front() : nullptr;
  }
  template <typename T>
  void put(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
           const std::vector<T> &elements) {
    AttributeValue value{
        .type = type, .count = static_cast<int64_t>(elements.size()), .bytes = {}, .descriptors = {}};
    value.bytes.resize(elements.size() * sizeof(T));
    std::memcpy(value.bytes.data(), elements.data(), value.bytes.size());
    attributes[name] = std::move(value);
  }
};

} // namespace trainc::emulator
