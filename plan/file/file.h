// The plan file: a 64-byte header, then a FlatBuffer (plan/schema/plan.fbs).
#pragma once

#include "base/status.h"
#include "plan/schema/plan_generated.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

namespace trainc {

/// The first 64 bytes of a plan file, little-endian. The FlatBuffer follows, aligned to 64 bytes.
struct PlanFileHeader {
  char magic[8];            ///< "TRNCPLAN"
  uint32_t majorVersion;    ///< readers reject any other
  uint32_t minorVersion;    ///< readers reject a greater one, whose content they might ignore
  uint64_t payloadBytes;    ///< size of the FlatBuffer, up to the end of the file
  uint64_t payloadChecksum; ///< XXH3-64 of the FlatBuffer
  uint64_t codeChecksum;    ///< XXH3-64 of the concatenated Object images
  uint64_t reserved[3];     ///< zero
};
static_assert(sizeof(PlanFileHeader) == 64);

inline constexpr std::string_view kPlanMagic = "TRNCPLAN";
inline constexpr uint32_t kPlanMajorVersion = 7;
inline constexpr uint32_t kPlanMinorVersion = 0;
/// Maximum size of a plan file, given by that of a FlatBuffer.
inline constexpr uint64_t kMaxPlanFileBytes = sizeof(PlanFileHeader) + FLATBUFFERS_MAX_BUFFER_SIZE - 1;

/// Whether the bytes begin like a plan file.
bool beginsPlanFile(std::span<const std::byte> bytes);

/// Fails with kInvalidInput if `path` is not a regular file, or does not begin like a plan.
Status requirePlanFile(const std::filesystem::path &path);

/// The header for `payload`, which must pass the FlatBuffers verifier.
PlanFileHeader makePlanFileHeader(std::span<const uint8_t> payload);

/// Verifies a FlatBuffer (aligned to at least 8 bytes): structure, then meaning. The plan refers to
/// `payload`.
Result<const fb::Plan *> readPayload(std::span<const std::byte> payload);

/// Writes a finished FlatBuffer (with the file identifier) as a plan file, under a temporary name until it is
/// complete. Does not verify its meaning; readPayload() does.
Status writePlanFile(const std::filesystem::path &path, std::span<const uint8_t> payload);

/// Verifies the bytes of a plan file (aligned to at least 8 bytes): header, checksums, structure, meaning.
/// `name` is for messages. Errors (kInvalidInput) distinguish truncated, corrupted and newer plans. The plan
/// refers to `file`.
Result<const fb::Plan *> readPlan(std::span<const std::byte> file, std::string_view name);

/// Decides whether the bytes of a plan file may be used.
using PlanCheck = std::function<Status(std::span<const std::byte> file)>;

/// A verified plan file, in memory.
class PlanFile {
public:
  /// `accept` is called before anything else reads the bytes; its error is returned.
  static Result<PlanFile> open(const std::filesystem::path &path, const PlanCheck &accept = {});

  const fb::Plan &plan() const { return *plan_; }
  /// XXH3-64 of the FlatBuffer; ranks compare it.
  uint64_t checksum() const;

private:
  PlanFile(std::unique_ptr<const std::string> file, const fb::Plan *plan)
      : file_(std::move(file)), plan_(plan) {}

  std::unique_ptr<const std::string> file_; ///< on the heap, so that moves keep the bytes in place
  const fb::Plan *plan_;
};

} // namespace trainc
