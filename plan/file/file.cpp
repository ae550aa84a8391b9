#include "plan/file/file.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/input_file.h"
#include "plan/verify/verifier.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace trainc {

namespace {

/// Minimum size of a table: its own offset and one reference to it. A payload with more tables than its size
/// allows refers to some of them repeatedly, and would be verified repeatedly.
constexpr size_t kSmallestTable = 2 * sizeof(flatbuffers::uoffset_t);

uint64_t codeChecksum(const fb::Plan &plan) {
  std::vector<uint8_t> code;
  for (const fb::Object *object : *plan.objects())
    code.insert(code.end(), object->image()->begin(), object->image()->end());
  return xxh3(std::as_bytes(std::span(code)));
}

Status checkVersion(const PlanFileHeader &header, std::string_view name) {
  if (header.majorVersion == kPlanMajorVersion && header.minorVersion <= kPlanMinorVersion)
    return {};
  const bool newer = header.majorVersion >= kPlanMajorVersion;
  return invalidInput("{}: plan format {}.{} is {} than this program's {}.{}; {}", name, header.majorVersion,
                      header.minorVersion, newer ? "newer" : "older", kPlanMajorVersion, kPlanMinorVersion,
                      newer ? "use a trainrun of the trainc that wrote it" : "compile the model again");
}

Status checkMagic(std::span<const std::byte> file, std::string_view name) {
  if (file.empty())
    return invalidInput("{}: not a plan file: it is empty; plans are made by 'trainc compile'", name);
  if (!beginsPlanFile(file))
    return invalidInput(
        "{}: not a plan file: expected it to begin with '{}'; plans are made by 'trainc compile'{}", name,
        kPlanMagic, name.ends_with(".mlir") ? fmt::format(": trainc compile {} -o PLAN", name) : "");
  return {};
}

/// Checks magic, version and size, without reading the payload.
Result<PlanFileHeader> checkHeader(std::span<const std::byte> file, std::string_view name) {
  TRAINC_RETURN_IF_ERROR(checkMagic(file, name));
  if (file.size() < sizeof(PlanFileHeader))
    return invalidInput(
        "{}: truncated plan: expected a header of {} bytes, found {} bytes; compile or copy it again", name,
        sizeof(PlanFileHeader), file.size());
  PlanFileHeader header;
  std::memcpy(&header, file.data(), sizeof(header));
  TRAINC_RETURN_IF_ERROR(checkVersion(header, name));
  const uint64_t payload = file.size() - sizeof(header);
  if (header.payloadBytes != payload)
    return invalidInput("{}: {} plan: expected {} bytes after the header, found {}; compile or copy it again",
                        name, payload < header.payloadBytes ? "truncated" : "corrupted", header.payloadBytes,
                        payload);
  if (std::ranges::any_of(header.reserved, [](uint64_t word) { return word != 0; }))
    return invalidInput("{}: corrupted plan: reserved header bytes are not zero; compile or copy it again",
                        name);
  return header;
}

} // namespace

bool beginsPlanFile(std::span<const std::byte> bytes) {
  const size_t count = std::min(bytes.size(), kPlanMagic.size());
  return count > 0 && std::memcmp(bytes.data(), kPlanMagic.data(), count) == 0;
}

Status requirePlanFile(const std::filesystem::path &path) {
  TRAINC_ASSIGN_OR_RETURN(const InputFile file, InputFile::open(path));
  std::array<std::byte, kPlanMagic.size()> buffer{};
  const std::span<std::byte> head = std::span(buffer).first(std::min<uint64_t>(buffer.size(), file.size()));
  TRAINC_RETURN_IF_ERROR(file.read(0, head));
  return checkMagic(head, path.string());
}

PlanFileHeader makePlanFileHeader(std::span<const uint8_t> payload) {
  PlanFileHeader header{};
  std::memcpy(header.magic, kPlanMagic.data(), sizeof(header.magic));
  header.majorVersion = kPlanMajorVersion;
  header.minorVersion = kPlanMinorVersion;
  header.payloadBytes = payload.size();
  header.payloadChecksum = xxh3(std::as_bytes(payload));
  header.codeChecksum = codeChecksum(*fb::GetPlan(payload.data()));
  return header;
}

Status writePlanFile(const std::filesystem::path &path, std::span<const uint8_t> payload) {
  const PlanFileHeader header = makePlanFileHeader(payload);
  const std::array<std::span<const std::byte>, 2> parts = {std::as_bytes(std::span(&header, 1)),
                                                           std::as_bytes(payload)};
  return writeFileAtomically(path, parts);
}

Result<const fb::Plan *> readPayload(std::span<const std::byte> payload) {
  const auto *bytes = reinterpret_cast<const uint8_t *>(payload.data());
  flatbuffers::Verifier::Options limits;
  limits.max_tables = static_cast<flatbuffers::uoffset_t>(payload.size() / kSmallestTable);
  flatbuffers::Verifier verifier(bytes, payload.size(), limits);
  if (payload.size() < 16 || !fb::VerifyPlanBuffer(verifier))
    return invalidInput("corrupted plan: its tables do not form a plan; compile the model again");
  const fb::Plan *plan = fb::GetPlan(bytes);
  TRAINC_RETURN_IF_ERROR(verifyPlan(*plan));
  return plan;
}

Result<const fb::Plan *> readPlan(std::span<const std::byte> file, std::string_view name) {
  TRAINC_ASSIGN_OR_RETURN(const PlanFileHeader header, checkHeader(file, name));
  const auto payload = file.subspan(sizeof(header));
  if (const uint64_t found = xxh3(payload); found != header.payloadChecksum)
    return invalidInput(
        "{}: corrupted plan: expected checksum {:016x}, found {:016x}; compile or copy it again", name,
        header.payloadChecksum, found);
  Result<const fb::Plan *> plan = readPayload(payload);
  if (!plan.ok())
    return Status(plan.status().code(), fmt::format("{}: {}", name, plan.status().message()));
  if (codeChecksum(**plan) != header.codeChecksum)
    return invalidInput(
        "{}: corrupted plan: kernel code does not match its checksum; compile or copy it again", name);
  return plan;
}

Result<PlanFile> PlanFile::open(const std::filesystem::path &path, const PlanCheck &accept) {
  if (!accept) // with `accept`, nothing may read the content before
    TRAINC_RETURN_IF_ERROR(requirePlanFile(path));
  TRAINC_ASSIGN_OR_RETURN(std::string content, readWholeFile(path, kMaxPlanFileBytes));
  if (accept)
    TRAINC_RETURN_IF_ERROR(accept(std::as_bytes(std::span(content))));
  auto file = std::make_unique<const std::string>(std::move(content));
  TRAINC_ASSIGN_OR_RETURN(const fb::Plan *plan, readPlan(std::as_bytes(std::span(*file)), path.string()));
  return PlanFile(std::move(file), plan);
}

uint64_t PlanFile::checksum() const {
  PlanFileHeader header;
  std::memcpy(&header, file_->data(), sizeof(header));
  return header.payloadChecksum;
}

} // namespace trainc
