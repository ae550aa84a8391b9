// The plan file: a 64-byte header, then a FlatBuffer (runtime/schema/plan.fbs).
#pragma once

#include "runtime/base/status.h"
#include "runtime/schema/plan_generated.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

namespace trainc {

/// The first 64 bytes of a plan file, little-endian. The FlatBuffer follows, so it starts on a 64-byte
/// border.
struct PlanFileHeader {
  char magic[8];            ///< "TRNCPLAN"
  uint32_t majorVersion;    ///< readers refuse any other
  uint32_t minorVersion;    ///< readers refuse a greater one: it may hold what they would ignore
  uint64_t payloadBytes;    ///< of the FlatBuffer; the file ends there
  uint64_t payloadChecksum; ///< XXH3-64 of the FlatBuffer
  uint64_t codeChecksum;    ///< XXH3-64 of the concatenated Object images
  uint64_t reserved[3];     ///< zero
};
static_assert(sizeof(PlanFileHeader) == 64);

inline constexpr std::string_view kPlanMagic = "TRNCPLAN";
inline constexpr uint32_t kPlanMajorVersion = 5;
inline constexpr uint32_t kPlanMinorVersion = 8;
/// No FlatBuffer is larger.
inline constexpr uint64_t kMostPlanFileBytes = sizeof(PlanFileHeader) + FLATBUFFERS_MAX_BUFFER_SIZE - 1;

/// Whether bytes are the beginning of a plan file, rather than of another one.
bool beginsPlanFile(std::span<const std::byte> bytes);

/// Fails (kInvalidInput) if `path` is no file, or its first bytes are not those of a plan.
Status requirePlanFile(const std::filesystem::path &path);

/// The header that fits `payload`, which must pass the FlatBuffers verifier.
PlanFileHeader makePlanFileHeader(std::span<const uint8_t> payload);

/// Verifies a FlatBuffer (on an 8-byte border at least) by itself: structure, then meaning. The plan points
/// into `payload`.
Result<const fb::Plan *> readPayload(std::span<const std::byte> payload);

/// Writes a finished FlatBuffer (with the file identifier) as a plan file: aside, then renamed. Does not
/// verify its meaning; readPayload does.
Status writePlanFile(const std::filesystem::path &path, std::span<const uint8_t> payload);

/// Checks the bytes of a plan file (on an 8-byte border at least): header, checksums, structure, meaning.
/// `name` is for messages. Errors (kInvalidInput) tell a truncated, a corrupted and a newer plan apart. The
/// plan points into `file`.
Result<const fb::Plan *> readPlan(std::span<const std::byte> file, std::string_view name);

/// Whether the bytes of a plan file may be used at all.
using PlanCheck = std::function<Status(std::span<const std::byte> file)>;

/// A verified plan file, in memory.
class PlanFile {
public:
  /// `accept` sees the file's bytes before anything is read into them; its error is returned.
  static Result<PlanFile> open(const std::filesystem::path &path, const PlanCheck &accept = {});

  const fb::Plan &plan() const { return *plan_; }
  /// XXH3-64 of the FlatBuffer, by which ranks tell whether they run the same plan.
  uint64_t checksum() const;

private:
  PlanFile(std::unique_ptr<const std::string> file, const fb::Plan *plan)
      : file_(std::move(file)), plan_(plan) {}

  std::unique_ptr<const std::string> file_; ///< where moving does not move the bytes
  const fb::Plan *plan_;
};

} // namespace trainc
