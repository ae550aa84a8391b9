#include "runtime/comm/communicator.h"

#include "plan/facts/collective.h"
#include "plan/facts/dtype.h"

#include <algorithm>
#include <bit>

namespace trainc {

const char *collectiveName(MeetingKind kind) {
  return kind == MeetingKind::kBarrier    ? "barrier"
         : kind == MeetingKind::kShutdown ? "shutdown barrier"
                                          : collectiveName(static_cast<fb::CollectiveKind>(kind));
}

std::string describe(const Collective &collective, const Mesh &mesh) {
  return describe(fingerprintOf(collective), mesh);
}

namespace {

uint64_t mix(uint64_t digest, uint64_t more) { return (std::rotl(digest, 29) ^ more) * 0x9e3779b97f4a7c15U; }

fb::DType commonType(std::span<const CollectiveRange> ranges) {
  const auto differs = [&](const CollectiveRange &range) { return range.dtype != ranges.front().dtype; };
  return ranges.empty() || std::ranges::any_of(ranges, differs) ? fb::DType::U8 : ranges.front().dtype;
}

} // namespace

CollectiveFingerprint fingerprintOf(const Collective &collective) {
  CollectiveFingerprint fingerprint{.kind = collective.kind,
                                    .axes = collective.axes,
                                    .dtype = commonType(collective.ranges),
                                    .ranges = static_cast<uint32_t>(collective.ranges.size())};
  for (const CollectiveRange &range : collective.ranges) {
    fingerprint.elements += range.elements * elementBytes(range.dtype) / elementBytes(fingerprint.dtype);
    fingerprint.widens |= range.widens;
    for (const uint64_t of : {range.elements, uint64_t(range.dtype), uint64_t{range.widens}})
      fingerprint.digest = mix(fingerprint.digest, of);
  }
  for (const uint64_t more : {uint64_t(collective.kind), uint64_t{collective.axes.first},
                              uint64_t{collective.axes.end}, uint64_t{collective.ranges.size()}})
    fingerprint.digest = mix(fingerprint.digest, more);
  return fingerprint;
}

std::string describe(const CollectiveFingerprint &fingerprint, const Mesh &mesh) {
  std::string text = collectiveName(fingerprint.kind);
  if (fingerprint.ranges > 0)
    text += fmt::format(" of {} {}{}", fingerprint.elements, dtypeName(fingerprint.dtype),
                        fingerprint.widens ? " into f32" : "");
  if (fingerprint.ranges > 1)
    text += fmt::format(" in {} ranges", fingerprint.ranges);
  if (mesh.shapeOf(fingerprint.axes).members < mesh.ranks())
    text += " over " + mesh.textOf(fingerprint.axes);
  return text;
}

} // namespace trainc
