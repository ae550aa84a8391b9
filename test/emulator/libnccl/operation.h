// An operation that a program requests from the emulated NCCL.
#pragma once

#include "test/emulator/libnccl/api.h"
#include <cstddef>
#include <cstdint>
#include <cuda.h>
#include <string>

namespace trainc::emulator {

enum class OperationKind : uint32_t { kAllGather, kReduceScatter, kAllReduce, kSend, kReceive };

/// `count` as in the entry point: of a rank's shard, but of the whole for kAllReduce.
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

/// Elements of the whole source, over all ranks if a rank has a shard.
inline uint64_t sourceElements(const Operation &operation, uint32_t ranks) {
  return operation.kind == OperationKind::kReduceScatter ? operation.count * ranks : operation.count;
}
inline uint64_t destinationElements(const Operation &operation, uint32_t ranks) {
  return operation.kind == OperationKind::kAllGather ? operation.count * ranks : operation.count;
}

} // namespace trainc::emulator
