#include "runtime/state/write_share.h"

#include "runtime/state/file_checksums.h"

#include <algorithm>

namespace trainc {

ByteRange shareToWrite(const StateTensor &tensor, uint64_t index, const WriterPlace &place) {
  if (tensor.divided) {
    if (place.rank >= place.shardRanks)
      return {};
    return {tensor.firstByte, tensor.firstByte + tensor.bytes.size()};
  }
  const uint64_t bytes = tensor.bytes.size(), blocks = blockCount(bytes, kChecksumBlockBytes);
  // Turned from tensor to tensor, as most have one block only.
  const uint64_t turn = (place.rank + place.ranks - index % place.ranks) % place.ranks;
  const auto border = [&](uint64_t part) {
    const uint64_t block = (part * blocks + place.ranks - 1) / place.ranks;
    return std::min(block * kChecksumBlockBytes, bytes);
  };
  return {border(turn), border(turn + 1)};
}

} // namespace trainc
