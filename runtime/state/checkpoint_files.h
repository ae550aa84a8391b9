// Files of a checkpoint, and each rank's share of them.
#pragma once

#include "base/status.h"
#include "runtime/state/durable_file.h"
#include "runtime/state/state_tensor.h"
#include "runtime/state/trainer_state.h"

#include <array>
#include <functional>
#include <span>
#include <utility>

namespace trainc {

/// A rank among those that write a checkpoint.
struct WriterRank {
  uint32_t rank = 0, ranks = 1;
};

/// Bytes [begin, end) of a tensor.
struct ByteRange {
  uint64_t begin = 0, end = 0;
};

/// Bytes that a rank writes of the index-th tensor of a file. Of a sharded tensor, the ranks of the
/// first group write their shards, and other ranks nothing. Of other tensors, each rank writes its share of
/// the checksum blocks. Over all ranks each byte is written once.
ByteRange shareToWrite(const StateTensor &tensor, uint64_t index, const WriterRank &writer);

inline constexpr const char *kModelFile = "model.safetensors";
inline constexpr const char *kOptimizerFile = "optimizer.safetensors";
inline constexpr const char *kTrainerStateFile = "trainer_state.json";

/// Contents of a run's checkpoints, except for the position.
struct CheckpointContents {
  std::vector<StateTensor> parameters;                      ///< to model.safetensors
  std::vector<StateTensor> optimizer;                       ///< to optimizer.safetensors
  std::vector<std::pair<std::string, std::string>> exports; ///< file name and text, e.g. config.json
};

/// Checksum of bytes that a rank has written: a whole block of a tensor, or the rank's share of a block.
struct RangeChecksum {
  uint64_t file, tensor; ///< indices
  uint64_t begin, end;   ///< within the tensor
  uint64_t checksum;
};

/// Writes checkpoints with fixed contents repeatedly. The order is: rank 0 calls create(); all ranks call
/// write(), concurrently or not; rank 0 calls complete(). The bytes of the files do not depend on the number
/// of ranks. Errors (kFailed) name path and reason.
class CheckpointFiles {
public:
  CheckpointFiles(CheckpointContents contents, WriterRank writer);
  CheckpointFiles(CheckpointFiles &&) = default; // a move keeps the lists of tensors in place
  CheckpointFiles(const CheckpointFiles &) = delete;
  CheckpointFiles &operator=(CheckpointFiles &&) = delete;
  CheckpointFiles &operator=(const CheckpointFiles &) = delete;
  ~CheckpointFiles() = default;

  const WriterRank &writer() const { return writer_; }

  /// Creates the safetensors files in `folder` at full size.
  Status create(const std::filesystem::path &folder) const;
  /// Writes this rank's share; it is on disk on return. Calls `onRead` once the tensors may change again.
  /// Returns the checksums of the written bytes; ranks other than 0 also leave them in the folder.
  Result<std::vector<RangeChecksum>> write(const std::filesystem::path &folder,
                                           const std::function<void()> &onRead) const;
  /// Writes the remaining files, and the trainer state with all checksums: `own`, those of the other ranks,
  /// and those of blocks that several ranks have written, which are read back. Fails if the bytes read back
  /// differ from the written ones, or if bytes were written by no rank or by two.
  Status complete(const std::filesystem::path &folder, TrainerState state,
                  std::vector<RangeChecksum> own) const;

private:
  struct File {
    const char *name;
    std::span<const StateTensor> tensors;
    SafetensorsLayout layout;
  };
  /// In file, tensor and offset order.
  using Ranges = std::span<const RangeChecksum>;

  Status writeFile(DurableFile &file, uint64_t index, std::vector<RangeChecksum> &checksums) const;
  Status collect(const std::filesystem::path &folder, std::vector<RangeChecksum> &checksums) const;
  bool isOfBlock(const RangeChecksum &range) const;
  Result<FileChecksums> checksumsOf(const std::filesystem::path &folder, uint64_t index,
                                    Ranges &written) const;

  CheckpointContents contents_;
  WriterRank writer_;
  std::array<File, 2> files_;
};

} // namespace trainc
