#include "test/emulator/libnccl/operation.h"

#include <array>
#include <fmt/format.h>

namespace trainc::emulator {

namespace {

struct Type {
  const char *name;
  size_t bytes;
};

constexpr std::array<Type, 10> kTypes = {{{"ncclInt8", 1},
                                          {"ncclUint8", 1},
                                          {"ncclInt32", 4},
                                          {"ncclUint32", 4},
                                          {"ncclInt64", 8},
                                          {"ncclUint64", 8},
                                          {"ncclFloat16", 2},
                                          {"ncclFloat32", 4},
                                          {"ncclFloat64", 8},
                                          {"ncclBfloat16", 2}}};

bool isKnown(ncclDataType_t type) { return static_cast<size_t>(type) < kTypes.size(); }

} // namespace

size_t bytesOf(ncclDataType_t type) { return isKnown(type) ? kTypes[static_cast<size_t>(type)].bytes : 0; }

std::string nameOf(ncclDataType_t type) {
  return isKnown(type) ? kTypes[static_cast<size_t>(type)].name
                       : fmt::format("elements of type {}", static_cast<int>(type));
}

const char *nameOf(OperationKind kind) {
  static constexpr std::array<const char *, 5> names = {"ncclAllGather", "ncclReduceScatter", "ncclAllReduce",
                                                        "ncclSend", "ncclRecv"};
  return names[static_cast<size_t>(kind)];
}

std::string describe(const Operation &operation) {
  std::string text =
      fmt::format("{} of {} {}", nameOf(operation.kind), operation.count, nameOf(operation.type));
  if (operation.kind == OperationKind::kSend)
    text += fmt::format(" to rank {}", operation.peer);
  if (operation.kind == OperationKind::kReceive)
    text += fmt::format(" from rank {}", operation.peer);
  return text;
}

} // namespace trainc::emulator
