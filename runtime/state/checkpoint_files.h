// Which part of a checkpoint each rank writes.
#pragma once

#include "runtime/base/status.h"
#include "runtime/state/durable_file.h"
#include "runtime/state/state_tensor.h"
#include "runtime/state/trainer_state.h"

#include <array>
#include <functional>
#include <span>
#include <utility>

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

inline constexpr const char *kModelFile = "model.safetensors";
inline constexpr const char *kOptimizerFile = "optimizer.safetensors";
inline constexpr const char *kTrainerStateFile = "trainer_state.json";

/// What checkpoints of a run hold, apart from the position.
struct CheckpointContents {
  std::vector<StateTensor> parameters;                      ///< to model.safetensors
  std::vector<StateTensor> optimizer;                       ///< to optimizer.safetensors
  std::vector<std::pair<std::string, std::string>> exports; ///< file name and text, e.g. config.json
};

/// The checksum of bytes that a rank has written: of all of a block of a tensor, or of its share of one.
struct RangeChecksum {
  uint64_t file, tensor; ///< numbers
  uint64_t begin, end;   ///< in the tensor
  uint64_t checksum;
};

/// The same contents, written again and again. In turn: rank 0 calls create(); all ranks call write(), at the
/// same time or not; rank 0 calls complete(). The files' bytes are the same whichever ranks there are. Errors
/// (kFailed) name path and reason.
class CheckpointFiles {
public:
  CheckpointFiles(CheckpointContents contents, WriterPlace place);
  CheckpointFiles(CheckpointFiles &&) = default; // the tensors' lists stay where they are
  CheckpointFiles(const CheckpointFiles &) = delete;
  CheckpointFiles &operator=(CheckpointFiles &&) = delete;
  CheckpointFiles &operator=(const CheckpointFiles &) = delete;
  ~CheckpointFiles() = default;

  const WriterPlace &place() const { return place_; }

  /// Makes the safetensors files in `folder` at full size.
  Status create(const std::filesystem::path &folder) const;
  /// Writes this rank's share; on disk when it returns. Calls `onRead` as soon as the tensors may change
  /// again. Returns the checksums of what it wrote; other ranks than 0 leave them in the folder.
  Result<std::vector<RangeChecksum>> write(const std::filesystem::path &folder,
                                           const std::function<void()> &onRead) const;
  /// Adds the rest, and the trainer state with the checksums: `own`, those of the other ranks, and of blocks
  /// that several ranks have written. These are read back. Fails where they are not what was written, and
  /// where some bytes were written by no rank, or by two.
  Status complete(const std::filesystem::path &folder, TrainerState state,
                  std::vector<RangeChecksum> own) const;

private:
  struct File {
    const char *name;
    std::span<const StateTensor> tensors;
    SafetensorsLayout layout;
  };
  /// In their order.
  using Ranges = std::span<const RangeChecksum>;

  Status writeFile(DurableFile &file, uint64_t index, std::vector<RangeChecksum> &checksums) const;
  Status collect(const std::filesystem::path &folder, std::vector<RangeChecksum> &checksums) const;
  bool isOfBlock(const RangeChecksum &range) const;
  Result<FileChecksums> checksumsOf(const std::filesystem::path &folder, uint64_t index,
                                    Ranges &written) const;

  CheckpointContents contents_;
  WriterPlace place_;
  std::array<File, 2> files_;
};

} // namespace trainc
