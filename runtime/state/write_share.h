// Which part of a checkpoint each rank writes.
#pragma once

#include "runtime/state/state_tensor.h"

namespace trainc {

/// One rank among those that write a checkpoint. Ranks of one shard group hold parts of the divided tensors,
/// and every group holds the same.
struct WriterPlace {
  uint32_t rank = 0, ranks = 1, shardRanks = 1;
};

/// Bytes [begin, end) of a tensor.
struct ByteRange {
  uint64_t begin = 0, end = 0;
};

/// The bytes that a rank writes of the index-th tensor of a file: of a divided one what it holds, where it is
/// in the first shard group; of others its share of the blocks that have a checksum. Over all ranks each byte
/// is written once.
ByteRange shareToWrite(const StateTensor &tensor, uint64_t index, const WriterPlace &place);

} // namespace trainc
