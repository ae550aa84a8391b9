// A safetensors file, mapped read-only without copies.
//
// The format: 8 bytes of little-endian header length N, N bytes of JSON (name -> dtype, shape, data_offsets
// relative to the end of the header; "__metadata__" -> strings), then the tensors' bytes, without holes or
// overlaps.
#pragma once

#include "base/mapped_file.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainc {

/// Element types of safetensors with a whole number of bytes.
enum class SafetensorsDType {
  kF64,
  kF32,
  kF16,
  kBF16,
  kI64,
  kI32,
  kI16,
  kI8,
  kU64,
  kU32,
  kU16,
  kU8,
  kBool,
  kF8E4M3,
  kF8E5M2
};

/// Bytes of one element.
size_t elementBytes(SafetensorsDType dtype);
/// Returns the element type of that name, or nothing.
std::optional<SafetensorsDType> dtypeNamed(std::string_view name);
/// Name in the file format: "F32", "I64", ...
std::string_view dtypeName(SafetensorsDType dtype);

/// One tensor of a file. `bytes` is row-major and little-endian; it need not be aligned to the element.
struct SafetensorsTensor {
  std::string name;
  SafetensorsDType dtype;
  std::vector<uint64_t> shape;
  uint64_t fileOffset; ///< offset of the first byte from the start of the file
  std::span<const std::byte> bytes;

  /// Number of elements; 1 for a scalar.
  uint64_t elements() const { return bytes.size() / elementBytes(dtype); }
};

/// Description for messages: "F32 [2, 3]".
std::string describe(const SafetensorsTensor &tensor);

/// A verified file: every tensor's bytes lie inside the file, match its dtype and shape, and overlap no
/// other's; every byte after the header belongs to a tensor. Spans and tensors live as long as the view
/// (moving keeps them valid).
class SafetensorsView {
public:
  /// Maps and verifies `path`. Errors (kInvalidInput) name the file, the byte offset, and the expected and
  /// found values.
  static Result<SafetensorsView> open(const std::filesystem::path &path);
  /// Verifies a mapped file; `name` is used in messages.
  static Result<SafetensorsView> own(std::string name, MappedFile file);
  /// Verifies `bytes`, which must outlive the view.
  static Result<SafetensorsView> parse(std::string name, std::span<const std::byte> bytes);

  const std::string &path() const { return path_; }
  /// Fails with kFailed, naming the file, if a page that was read was lost (MappedFile::isLost()). Call it
  /// after the last read, before the data are used.
  Status check() const { return file_.isLost() ? lostPages(path_) : Status(); }
  /// All tensors, sorted by file offset.
  const std::vector<SafetensorsTensor> &tensors() const { return tensors_; }
  /// The tensor of that name, or null.
  const SafetensorsTensor *find(std::string_view name) const;
  /// Sorted names, comma-separated, for messages; "none" for an empty file.
  std::string names() const;
  /// The strings under "__metadata__".
  const std::map<std::string, std::string> &metadata() const { return metadata_; }

private:
  std::string path_;
  MappedFile file_;
  std::vector<SafetensorsTensor> tensors_;
  std::map<std::string, size_t, std::less<>> index_;
  std::map<std::string, std::string> metadata_;
};

} // namespace trainc
