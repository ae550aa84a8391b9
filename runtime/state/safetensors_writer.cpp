#include "runtime/state/safetensors_writer.h"

#include "runtime/base/hash.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

namespace trainc {

namespace {

constexpr size_t kAlignment = 64;

/// The length and the JSON, padded with blanks so that the tensors begin at a multiple of kAlignment.
std::string header(std::span<const StateTensor> tensors) {
  nlohmann::ordered_json json;
  json["__metadata__"]["format"] = "pt";
  uint64_t offset = 0;
  for (const StateTensor &tensor : tensors) {
    json[tensor.name] = {{"dtype", fb::EnumNameDType(tensor.dtype)},
                         {"shape", tensor.shape},
                         {"data_offsets", {offset, offset + tensor.bytes.size()}}};
    offset += tensor.bytes.size();
  }
  std::string text(sizeof(uint64_t), '\0');
  text += json.dump();
  text.resize((text.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  const uint64_t length = text.size() - sizeof(uint64_t);
  std::memcpy(text.data(), &length, sizeof(length));
  return text;
}

/// Writes one tensor's bytes and returns their checksum.
Result<uint64_t> writeTensor(DurableFile &file, std::span<const std::byte> bytes) {
  StreamHash hash;
  while (!bytes.empty()) {
    const auto chunk = bytes.first(std::min(bytes.size(), kHashChunkBytes));
    hash.update(chunk);
    TRAINC_RETURN_IF_ERROR(file.write(chunk));
    bytes = bytes.subspan(chunk.size());
  }
  return hash.digest();
}

} // namespace

Result<FileChecksums> writeSafetensors(DurableFile &file, std::span<const StateTensor> tensors) {
  FileChecksums checksums;
  const std::string head = header(tensors);
  checksums.header = xxh3(std::as_bytes(std::span(head)));
  TRAINC_RETURN_IF_ERROR(file.write(std::as_bytes(std::span(head))));
  for (const StateTensor &tensor : tensors) {
    TRAINC_ASSIGN_OR_RETURN(checksums.tensors[tensor.name], writeTensor(file, tensor.bytes));
  }
  checksums.bytes = file.size();
  checksums.file = file.checksum();
  return checksums;
}

} // namespace trainc
