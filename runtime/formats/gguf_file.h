// A GGUF file of versions 2 and 3, mapped read-only without copies.
//
// The format, little-endian: "GGUF", a version, the numbers of tensors and of metadata entries; the entries
// (key, type, value); for each tensor its name, extents, type and offset; then, aligned, the tensors' bytes.
// Strings begin with their length. Extents are in the reverse order of safetensors: the first one is
// contiguous.
#pragma once

#include "base/mapped_file.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace trainc {

/// Types of metadata values, numbered as in the file.
enum class GgufValueType : uint32_t {
  kUint8,
  kInt8,
  kUint16,
  kInt16,
  kUint32,
  kInt32,
  kFloat32,
  kBool,
  kString,
  kArray,
  kUint64,
  kInt64,
  kFloat64
};

/// Name in the format's description: "uint8", "string", ...
std::string_view typeName(GgufValueType type);

/// An array of a metadata entry. It refers to bytes of the file.
struct GgufArray {
  GgufValueType type; ///< of the elements
  uint64_t count;
  std::span<const std::byte> bytes;      ///< of all elements, as in the file
  std::vector<std::string_view> strings; ///< the elements, if they are strings

  /// Element `index` of an array of numbers or Booleans; integers above 2^53 are rounded.
  double number(uint64_t index) const;
};

/// A metadata value. Integers of all widths are widened to 64 bits. Strings refer to bytes of the file, which
/// may be any.
using GgufValue = std::variant<uint64_t, int64_t, float, double, bool, std::string_view, GgufArray>;

/// A metadata entry.
struct GgufEntry {
  std::string key;
  GgufValue value;
  GgufValueType type;
  std::span<const std::byte> stored; ///< bytes of the value in the file
};

/// Element type of tensors. Elements are stored in blocks of `blockElements`, each of `blockBytes`.
struct GgufTensorType {
  uint32_t id; ///< in the file
  std::string_view name;
  uint32_t blockElements, blockBytes;
};

/// The type of that id, or null.
const GgufTensorType *findGgufType(uint32_t id);
/// The type of that name ("Q8_0"), or null.
const GgufTensorType *findGgufType(std::string_view name);

/// One tensor of a file.
struct GgufTensor {
  std::string name;
  const GgufTensorType *type;
  std::vector<uint64_t> shape; ///< row-major, as in safetensors; 1 to 4 extents, none zero
  uint64_t fileOffset;         ///< offset of the first byte from the start of the file
  std::span<const std::byte> bytes;

  uint64_t elements() const { return bytes.size() / type->blockBytes * type->blockElements; }
};

/// Description for messages: "Q4_K [2, 256]".
std::string describe(const GgufTensor &tensor);

/// Whether a file begins as a GGUF file does; false if it cannot be read.
bool isGguf(const std::filesystem::path &path);

/// A verified file: every string, array and tensor lies inside the file, keys and names of tensors occur
/// once, tensors are aligned, match their extents and overlap no other. Spans, strings and tensors live as
/// long as the file (moving keeps them valid).
class GgufFile {
public:
  /// Maps and verifies `path`. Errors (kInvalidInput) name the file, the byte offset, and the expected and
  /// found values. Time and memory grow with the bytes before the tensors.
  static Result<GgufFile> open(const std::filesystem::path &path);
  /// Verifies `bytes`, which must outlive the object; `name` is used in messages.
  static Result<GgufFile> parse(std::string name, std::span<const std::byte> bytes);

  const std::string &path() const { return path_; }
  /// Fails with kFailed, naming the file, if a page that was read was lost (MappedFile::isLost()).
  Status check() const { return file_.isLost() ? lostPages(path_) : Status(); }
  uint32_t version() const { return version_; }
  /// All metadata entries, in the order of the file.
  const std::vector<GgufEntry> &metadata() const { return metadata_; }
  /// All tensors, in the order of their descriptions in the file.
  const std::vector<GgufTensor> &tensors() const { return tensors_; }
  /// The tensor of that name, or null.
  const GgufTensor *findTensor(std::string_view name) const;

  /// The value under `key`, or null.
  const GgufValue *find(std::string_view key) const;
  /// The string under `key`; fails with kInvalidInput if there is none, or a value of another type.
  Result<std::string_view> text(std::string_view key) const;
  /// The integer under `key`, not negative; nothing if there is none. Fails if the value is something else.
  Result<std::optional<uint64_t>> count(std::string_view key) const;
  /// The array under `key`, or null. Fails with kInvalidInput if its elements are not of `type`.
  Result<const GgufArray *> array(std::string_view key, GgufValueType type) const;

private:
  std::string path_;
  MappedFile file_;
  uint32_t version_ = 0;
  std::vector<GgufEntry> metadata_;
  std::vector<GgufTensor> tensors_;
  std::map<std::string, size_t, std::less<>> entryIndex_, tensorIndex_; ///< by key and by name
};

} // namespace trainc
