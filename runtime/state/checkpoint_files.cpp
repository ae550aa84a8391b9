#include "runtime/state/checkpoint_files.h"

#include "runtime/base/hash.h"
#include "runtime/base/input_file.h"
#include "runtime/state/stream_hash.h"

#include <algorithm>
#include <cstring>

namespace trainc {

namespace {

std::span<const std::byte> bytesOf(const std::string &text) { return std::as_bytes(std::span(text)); }

/// Where a rank leaves its checksums.
std::filesystem::path partPath(const std::filesystem::path &folder, uint32_t rank) {
  return folder / fmt::format("part-{}", rank);
}

/// Writes to the file, piece by piece while it is in the cache, and returns the checksum.
Result<uint64_t> writeHashed(DurableFile &file, uint64_t offset, std::span<const std::byte> bytes) {
  StreamHash hash;
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(bytes.size(), kHashChunkBytes));
    hash.update(piece);
    TRAINC_RETURN_IF_ERROR(file.write(offset, piece));
    bytes = bytes.subspan(piece.size());
    offset += piece.size();
  }
  return hash.digest();
}

/// Bytes [begin, end) of the block in a tensor of that many bytes.
ByteRange blockRange(uint64_t block, uint64_t bytes) {
  return {block * kChecksumBlockBytes, std::min((block + 1) * kChecksumBlockBytes, bytes)};
}

Result<FileChecksums> writeText(const std::filesystem::path &path, const std::string &text) {
  TRAINC_RETURN_IF_ERROR(writeDurableFile(path, bytesOf(text)));
  return FileChecksums{.bytes = text.size(), .header = xxh3(bytesOf(text))};
}

/// The checksums that a rank has left; the file is then removed.
Result<std::vector<BlockChecksum>> takePart(const std::filesystem::path &path) {
  TRAINC_ASSIGN_OR_RETURN(const std::string text, readWholeFile(path));
  if (text.size() % sizeof(BlockChecksum) != 0)
    return failed("{}: expected records of {} bytes, found {} bytes", path.string(), sizeof(BlockChecksum),
                  text.size());
  std::vector<BlockChecksum> checksums(text.size() / sizeof(BlockChecksum));
  if (!checksums.empty())
    std::memcpy(checksums.data(), text.data(), text.size());
  std::error_code error;
  if (!std::filesystem::remove(path, error))
    return failed("{}: cannot remove: {}", path.string(), error.message());
  return checksums;
}

} // namespace

CheckpointFiles::CheckpointFiles(CheckpointContents contents, WriterPlace place)
    : contents_(std::move(contents)), place_(place),
      files_{{{kModelFile, contents_.parameters, layOutSafetensors(contents_.parameters)},
              {kOptimizerFile, contents_.optimizer, layOutSafetensors(contents_.optimizer)}}} {}

Status CheckpointFiles::create(const std::filesystem::path &folder) const {
  for (const File &file : files_) {
    TRAINC_ASSIGN_OR_RETURN(DurableFile created, DurableFile::create(folder / file.name, file.layout.bytes));
    TRAINC_RETURN_IF_ERROR(created.write(0, bytesOf(file.layout.header)));
  }
  return {};
}

Result<std::vector<BlockChecksum>> CheckpointFiles::write(const std::filesystem::path &folder,
                                                          const std::function<void()> &onRead) const {
  std::vector<BlockChecksum> checksums;
  std::vector<DurableFile> open;
  for (uint64_t index = 0; index < files_.size(); ++index) {
    Result<DurableFile> file = DurableFile::open(folder / files_[index].name);
    if (!file.ok())
      return place_.rank == 0 ? file.status()
                              : failed("{}; ranks of several hosts need a folder that all hosts see",
                                       file.status().message());
    TRAINC_RETURN_IF_ERROR(writeFile(open.emplace_back(std::move(*file)), index, checksums));
  }
  onRead();
  for (DurableFile &file : open)
    TRAINC_RETURN_IF_ERROR(file.close());
  if (place_.rank != 0)
    TRAINC_RETURN_IF_ERROR(
        writeDurableFile(partPath(folder, place_.rank), std::as_bytes(std::span(checksums))));
  return checksums;
}

/// Writes this rank's share of a file, and adds the checksums of whole blocks.
Status CheckpointFiles::writeFile(DurableFile &file, uint64_t index,
                                  std::vector<BlockChecksum> &checksums) const {
  const File &about = files_[index];
  for (uint64_t i = 0; i < about.tensors.size(); ++i) {
    const StateTensor &tensor = about.tensors[i];
    const uint64_t whole = tensorBytes(tensor);
    const ByteRange share = shareToWrite(tensor, i, place_);
    for (uint64_t begin = share.begin, end = 0; begin < share.end; begin = end) {
      const uint64_t block = begin / kChecksumBlockBytes;
      const ByteRange range = blockRange(block, whole);
      end = std::min(range.end, share.end);
      const auto bytes = tensor.bytes.subspan(begin - tensor.firstByte, end - begin);
      TRAINC_ASSIGN_OR_RETURN(const uint64_t checksum,
                              writeHashed(file, about.layout.offsets[i] + begin, bytes));
      if (begin == range.begin && end == range.end)
        checksums.push_back({index, i, block, checksum});
    }
  }
  return {};
}

Status CheckpointFiles::complete(const std::filesystem::path &folder, TrainerState state,
                                 const std::vector<BlockChecksum> &own) const {
  std::array<Table, 2> tables;
  for (uint64_t i = 0; i < files_.size(); ++i)
    for (const StateTensor &tensor : files_[i].tensors)
      tables[i].emplace_back(blockCount(tensorBytes(tensor), kChecksumBlockBytes));
  for (const BlockChecksum &each : own)
    tables[each.file][each.tensor][each.block] = each.checksum;
  TRAINC_RETURN_IF_ERROR(collect(folder, tables));
  for (uint64_t i = 0; i < files_.size(); ++i) {
    TRAINC_ASSIGN_OR_RETURN(state.files[files_[i].name], checksumsOf(folder, files_[i], tables[i]));
  }
  for (const auto &[name, text] : contents_.exports) {
    TRAINC_ASSIGN_OR_RETURN(state.files[name], writeText(folder / name, text));
  }
  return writeText(folder / kTrainerStateFile, state.toJson()).status();
}

/// Takes what the other ranks have left.
Status CheckpointFiles::collect(const std::filesystem::path &folder, std::array<Table, 2> &tables) const {
  for (uint32_t rank = 1; rank < place_.ranks; ++rank) {
    const std::filesystem::path path = partPath(folder, rank);
    TRAINC_ASSIGN_OR_RETURN(const std::vector<BlockChecksum> checksums, takePart(path));
    for (const BlockChecksum &each : checksums) {
      if (each.file >= tables.size() || each.tensor >= tables[each.file].size() ||
          each.block >= tables[each.file][each.tensor].size())
        return failed("{}: names a block that no tensor has; does rank {} write to the same folder?",
                      path.string(), rank);
      tables[each.file][each.tensor][each.block] = each.checksum;
    }
  }
  return {};
}

/// Blocks whose checksum is not known yet are read back.
Result<FileChecksums> CheckpointFiles::checksumsOf(const std::filesystem::path &folder, const File &file,
                                                   Table &table) const {
  FileChecksums result{.bytes = file.layout.bytes, .header = xxh3(bytesOf(file.layout.header))};
  TRAINC_ASSIGN_OR_RETURN(DurableFile written, DurableFile::open(folder / file.name));
  std::vector<std::byte> block(kChecksumBlockBytes);
  for (uint64_t i = 0; i < table.size(); ++i) {
    std::vector<uint64_t> &checksums = result.tensors[file.tensors[i].name];
    for (uint64_t j = 0; j < table[i].size(); ++j) {
      if (!table[i][j]) {
        const ByteRange range = blockRange(j, tensorBytes(file.tensors[i]));
        const auto bytes = std::span(block).first(range.end - range.begin);
        TRAINC_RETURN_IF_ERROR(written.read(file.layout.offsets[i] + range.begin, bytes));
        table[i][j] = xxh3(bytes);
      }
      checksums.push_back(*table[i][j]);
    }
  }
  TRAINC_RETURN_IF_ERROR(written.close()); // the header
  return result;
}

} // namespace trainc
