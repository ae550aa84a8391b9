// One call of a program to the emulated NCCL, between the entry points and what runs it.
#pragma once

#include "test/emulator/libnccl/api.h"
#include <cstddef>
#include <cstdint>
#include <cuda.h>
#include <string>

namespace trainc::emulator {

enum class OperationKind : uint32_t { kAllGather, kReduceScatter, kAllReduce, kSend, kReceive };

/// `count` as the entry point takes it: of the part that a rank gives or gets, of the whole for kAllReduce.
struct Operation {
  OperationKind kind;
  ncclDataType_t type;
  uint64_t count;
  CUdeviceptr source = 0, destination = 0;
  uint32_t peer = 0; ///< of kSend and kReceive
};

/// "ncclAllReduce of 1024 ncclFloat32", "ncclSend of 8 ncclInt8 to rank 1".
std::string describe(const Operation &operation);
/// 0 for types that are not emulated.
size_t bytesOf(ncclDataType_t type);
const char *nameOf(OperationKind kind);
std::string nameOf(ncclDataType_t type);

inline bool isPairwise(OperationKind kind) {
  return kind == OperationKind::kSend || kind == OperationKind::kReceive;
}

/// Of all ranks together, where a rank's source or destination is a part.
inline uint64_t sourceElements(const Operation &operation, uint32_t ranks) {
  return operation.kind == OperationKind::kReduceScatter ? operation.count * ranks : operation.count;
}
inline uint64_t destinationElements(const Operation &operation, uint32_t ranks) {
  return operation.kind == OperationKind::kAllGather ? operation.count * ranks : operation.count;
}

} // namespace trainc::emulator
