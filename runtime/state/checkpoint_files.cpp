#include "runtime/state/checkpoint_files.h"

#include "base/hash.h"
#include "base/input_file.h"
#include "runtime/state/file_checksums.h"
#include "runtime/state/float_rounding.h"

#include <algorithm>
#include <cstring>
#include <tuple>

namespace trainc {

ByteRange shareToWrite(const StateTensor &tensor, uint64_t index, const WriterRank &writer) {
  if (tensor.sharded) {
    if (tensor.sharded->groupOf(writer.rank) != 0)
      return {};
    return {tensor.firstByte, tensor.firstByte + tensor.bytes.size()};
  }
  const uint64_t bytes = tensor.bytes.size(), blocks = blockCount(bytes, kChecksumBlockBytes);
  // Rotated from tensor to tensor, because most tensors have a single block.
  const uint64_t turn = (writer.rank + writer.ranks - index % writer.ranks) % writer.ranks;
  const auto boundary = [&](uint64_t part) {
    const uint64_t block = (part * blocks + writer.ranks - 1) / writer.ranks;
    return std::min(block * kChecksumBlockBytes, bytes);
  };
  return {boundary(turn), boundary(turn + 1)};
}

namespace {

std::span<const std::byte> bytesOf(const std::string &text) { return std::as_bytes(std::span(text)); }

/// File with a rank's checksums.
std::filesystem::path partPath(const std::filesystem::path &folder, uint32_t rank) {
  return folder / fmt::format("part-{}", rank);
}

/// Writes bytes that the rank holds of a tensor in pieces that are hashed while in the cache; returns the
/// checksum. Fails if the tensor is a parameter and holds NaN or infinity.
Result<uint64_t> writeHashed(DurableFile &file, uint64_t offset, const StateTensor &tensor, bool isParameter,
                             ByteRange bytes, std::vector<std::byte> &staging) {
  StreamHash hash;
  for (uint64_t done = bytes.begin; done < bytes.end; done += kHashChunkBytes) {
    TRAINC_ASSIGN_OR_RETURN(
        const std::span<const std::byte> piece,
        tensor.bytes.read(done, std::min<uint64_t>(kHashChunkBytes, bytes.end - done), staging));
    if (isParameter) // no run could resume from NaN or infinity
      if (const std::optional<std::string> found = describeNonFinite(tensor, tensor.firstByte + done, piece))
        return failed("{}, from the last update; lower the learning rate, and begin with weights from before "
                      "that step",
                      *found);
    hash.update(piece);
    TRAINC_RETURN_IF_ERROR(file.write(offset + done - bytes.begin, piece));
  }
  return hash.digest();
}

/// Byte range of a block of a tensor of `bytes` bytes.
ByteRange blockRange(uint64_t block, uint64_t bytes) {
  return {block * kChecksumBlockBytes, std::min((block + 1) * kChecksumBlockBytes, bytes)};
}

Result<FileChecksums> writeText(const std::filesystem::path &path, const std::string &text) {
  TRAINC_RETURN_IF_ERROR(writeDurableFile(path, bytesOf(text)));
  return FileChecksums{.bytes = text.size(), .header = xxh3(bytesOf(text))};
}

/// Removes and returns the leading ranges that lie in the block.
std::span<const RangeChecksum> takeRanges(std::span<const RangeChecksum> &ranges, uint64_t file,
                                          uint64_t tensor, ByteRange block) {
  const auto end = std::ranges::find_if_not(ranges, [&](const RangeChecksum &each) {
    return each.file == file && each.tensor == tensor && each.begin < block.end;
  });
  const auto taken = std::span(ranges.begin(), end);
  ranges = ranges.subspan(taken.size());
  return taken;
}

/// Whether the sorted ranges cover the block exactly once.
bool areWhole(std::span<const RangeChecksum> ranges, ByteRange block) {
  uint64_t at = block.begin;
  for (const RangeChecksum &each : ranges) {
    if (each.begin != at)
      return false;
    at = each.end;
  }
  return at == block.end;
}

/// Checksum of a block that several ranks have written; first verifies each rank's range by reading it back.
/// The tensor begins at `offset`.
Result<uint64_t> readBack(const DurableFile &file, uint64_t offset, std::span<const RangeChecksum> ranges) {
  const uint64_t begin = ranges.front().begin;
  std::vector<std::byte> block(ranges.back().end - begin);
  TRAINC_RETURN_IF_ERROR(file.read(offset + begin, block));
  for (const RangeChecksum &each : ranges)
    if (xxh3(std::span(block).subspan(each.begin - begin, each.end - each.begin)) != each.checksum)
      return failed("{}: bytes {} to {} are not what was written; is the disk damaged?", file.path().string(),
                    offset + each.begin, offset + each.end);
  return xxh3(block);
}

/// Reads and removes the checksums that a rank has left.
Result<std::vector<RangeChecksum>> takePart(const std::filesystem::path &path) {
  TRAINC_ASSIGN_OR_RETURN(const std::string text, readWholeFile(path));
  if (text.size() % sizeof(RangeChecksum) != 0)
    return failed("{}: expected records of {} bytes, found {} bytes", path.string(), sizeof(RangeChecksum),
                  text.size());
  std::vector<RangeChecksum> checksums(text.size() / sizeof(RangeChecksum));
  if (!checksums.empty())
    std::memcpy(checksums.data(), text.data(), text.size());
  std::error_code error;
  if (!std::filesystem::remove(path, error))
    return failed("{}: cannot remove: {}", path.string(), error.message());
  return checksums;
}

} // namespace

CheckpointFiles::CheckpointFiles(CheckpointContents contents, WriterRank writer)
    : contents_(std::move(contents)), writer_(writer),
      files_{{{kModelFile, contents_.parameters, layOutSafetensors(contents_.parameters)},
              {kOptimizerFile, contents_.optimizer, layOutSafetensors(contents_.optimizer)}}} {}

Status CheckpointFiles::create(const std::filesystem::path &folder) const {
  for (const File &file : files_) {
    TRAINC_ASSIGN_OR_RETURN(DurableFile created, DurableFile::create(folder / file.name, file.layout.bytes));
    TRAINC_RETURN_IF_ERROR(created.write(0, bytesOf(file.layout.header)));
  }
  return {};
}

Result<std::vector<RangeChecksum>> CheckpointFiles::write(const std::filesystem::path &folder,
                                                          const std::function<void()> &onRead) const {
  std::vector<RangeChecksum> checksums;
  std::vector<DurableFile> open;
  for (uint64_t index = 0; index < files_.size(); ++index) {
    Result<DurableFile> file = DurableFile::open(folder / files_[index].name);
    if (!file.ok())
      return writer_.rank == 0 ? file.status()
                               : failed("{}; ranks of several hosts need a folder that all hosts see",
                                        file.status().message());
    TRAINC_RETURN_IF_ERROR(writeFile(open.emplace_back(std::move(*file)), index, checksums));
  }
  onRead();
  for (DurableFile &file : open)
    TRAINC_RETURN_IF_ERROR(file.close());
  if (writer_.rank != 0)
    TRAINC_RETURN_IF_ERROR(
        writeDurableFile(partPath(folder, writer_.rank), std::as_bytes(std::span(checksums))));
  return checksums;
}

/// Writes this rank's share of a file, and appends the checksums of whole blocks or of its ranges within
/// them.
Status CheckpointFiles::writeFile(DurableFile &file, uint64_t index,
                                  std::vector<RangeChecksum> &checksums) const {
  const File &about = files_[index];
  std::vector<std::byte> staging;
  for (uint64_t i = 0; i < about.tensors.size(); ++i) {
    const StateTensor &tensor = about.tensors[i];
    const uint64_t whole = tensorBytes(tensor);
    const ByteRange share = shareToWrite(tensor, i, writer_);
    for (uint64_t begin = share.begin, end = 0; begin < share.end; begin = end) {
      end = std::min(blockRange(begin / kChecksumBlockBytes, whole).end, share.end);
      const ByteRange held{begin - tensor.firstByte, end - tensor.firstByte};
      TRAINC_ASSIGN_OR_RETURN(const uint64_t checksum,
                              writeHashed(file, about.layout.offsets[i] + begin, tensor,
                                          about.name == kModelFile, held, staging));
      checksums.push_back({index, i, begin, end, checksum});
    }
  }
  return {};
}

Status CheckpointFiles::complete(const std::filesystem::path &folder, TrainerState state,
                                 std::vector<RangeChecksum> own) const {
  TRAINC_RETURN_IF_ERROR(collect(folder, own));
  std::ranges::sort(own, {},
                    [](const RangeChecksum &each) { return std::tuple(each.file, each.tensor, each.begin); });
  Ranges written = own;
  for (uint64_t i = 0; i < files_.size(); ++i) {
    TRAINC_ASSIGN_OR_RETURN(state.files[files_[i].name], checksumsOf(folder, i, written));
  }
  for (const auto &[name, text] : contents_.exports) {
    TRAINC_ASSIGN_OR_RETURN(state.files[name], writeText(folder / name, text));
  }
  return writeText(folder / kTrainerStateFile, state.toJson()).status();
}

/// Appends the checksums of the other ranks.
Status CheckpointFiles::collect(const std::filesystem::path &folder,
                                std::vector<RangeChecksum> &checksums) const {
  for (uint32_t rank = 1; rank < writer_.ranks; ++rank) {
    const std::filesystem::path path = partPath(folder, rank);
    TRAINC_ASSIGN_OR_RETURN(const std::vector<RangeChecksum> part, takePart(path));
    if (!std::ranges::all_of(part, [this](const RangeChecksum &each) { return isOfBlock(each); }))
      return failed(
          "{}: names bytes that are of no block of a tensor; does rank {} write to the same folder?",
          path.string(), rank);
    checksums.insert(checksums.end(), part.begin(), part.end());
  }
  return {};
}

bool CheckpointFiles::isOfBlock(const RangeChecksum &range) const {
  if (range.file >= files_.size() || range.tensor >= files_[range.file].tensors.size())
    return false;
  const uint64_t whole = tensorBytes(files_[range.file].tensors[range.tensor]);
  return range.begin < range.end && range.end <= whole &&
         range.end <= blockRange(range.begin / kChecksumBlockBytes, whole).end;
}

/// Consumes the file's ranges, which come first.
Result<FileChecksums> CheckpointFiles::checksumsOf(const std::filesystem::path &folder, uint64_t index,
                                                   Ranges &written) const {
  const File &about = files_[index];
  FileChecksums result{.bytes = about.layout.bytes, .header = xxh3(bytesOf(about.layout.header))};
  TRAINC_ASSIGN_OR_RETURN(DurableFile file, DurableFile::open(folder / about.name));
  for (uint64_t i = 0; i < about.tensors.size(); ++i) {
    const StateTensor &tensor = about.tensors[i];
    std::vector<uint64_t> &checksums = result.tensors[tensor.name];
    for (uint64_t j = 0; j < blockCount(tensorBytes(tensor), kChecksumBlockBytes); ++j) {
      const ByteRange block = blockRange(j, tensorBytes(tensor));
      const Ranges ranges = takeRanges(written, index, i, block);
      if (!areWhole(ranges, block))
        return failed("{}: of bytes {} to {} of tensor '{}', ranks have not written each once",
                      (folder / about.name).string(), block.begin, block.end, tensor.name);
      if (ranges.size() == 1) {
        checksums.push_back(ranges.front().checksum);
        continue;
      }
      TRAINC_ASSIGN_OR_RETURN(const uint64_t checksum, readBack(file, about.layout.offsets[i], ranges));
      checksums.push_back(checksum);
    }
  }
  TRAINC_RETURN_IF_ERROR(file.close()); // syncs the header
  return result;
}

} // namespace trainc
