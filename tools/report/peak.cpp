#include "tools/report/peak.h"

#include "plan/facts/memory_need.h"
#include "plan/facts/view.h"
#include "tools/report/forward.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace trainc::report {

namespace {

/// Sums by block and kind.
class PeakSums {
public:
  explicit PeakSums(const Analysis &analysis) : analysis_(analysis), plan_(analysis.plan) {}

  std::vector<PeakPart> parts() {
    uint64_t unused = 0;
    for (uint32_t arena = 0; arena < plan_.arenas()->size(); ++arena)
      if (const fb::Arena &each = *plan_.arenas()->Get(arena); isLimited(plan_, each))
        unused += each.bytes() - (each.persistent() ? addPersistent(arena) : addValues(arena));
    std::vector<PeakPart> parts;
    for (const auto &[key, bytes] : sums_)
      parts.push_back({std::get<1>(key), std::get<2>(key), false, bytes});
    parts.push_back({"", Kind::Workspace, true, unused});
    return parts;
  }

private:
  using Key = std::tuple<size_t, std::string, Kind>;

  void add(const std::string &block, Kind kind, uint64_t bytes) {
    const size_t place = block.empty() ? SIZE_MAX : blocks_.emplace(block, blocks_.size()).first->second;
    if (bytes > 0)
      sums_[{place, block, kind}] += bytes;
  }

  /// Returns the size of the arena's buffers.
  uint64_t addPersistent(uint32_t arena) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < plan_.buffers()->size(); ++i)
      if (const fb::Buffer &buffer = *plan_.buffers()->Get(i); buffer.arena() == arena) {
        bytes += buffer.bytes();
        for (const auto &[scope, part] : analysis_.labels.scopesOf(i))
          add(blockOf(scope), analysis_.labels.kind(i), part);
      }
    return bytes;
  }

  /// Returns the bytes of an arena that values occupy at the peak.
  uint64_t addValues(uint32_t arena) {
    uint64_t bytes = 0;
    if (!analysis_.peakEntry)
      return bytes;
    const uint32_t moment = analysis_.peakMoment;
    for (const Held &each : analysis_.peakEntry->occupancy.values) {
      if (each.begin > moment || moment >= each.end || plan_.buffers()->Get(each.buffer)->arena() != arena)
        continue;
      const fb::Instruction &writer = *analysis_.peakEntry->moments[each.begin].instruction;
      const std::string_view op = view(plan_.sources()->Get(writer.source())->op());
      add(blockOf(scopeOf(op)), analysis_.labels.kind(each.buffer), each.bytes);
      bytes += each.bytes;
    }
    return bytes;
  }

  const Analysis &analysis_;
  const fb::Plan &plan_;
  std::map<std::string, size_t> blocks_; ///< in order of first occurrence
  std::map<Key, uint64_t> sums_;
};

} // namespace

std::vector<PeakPart> peakParts(const Analysis &analysis) { return PeakSums(analysis).parts(); }

std::string anyBlock(std::string_view text) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const size_t digits = std::min(text.find_first_not_of("0123456789", at), text.size());
    const bool isPart = digits > at && at > 0 && text[at - 1] == '.' &&
                        (digits == text.size() || text.find_first_of(".: )", digits) == digits);
    result += isPart ? std::string_view("*") : text.substr(at, std::max<size_t>(digits - at, 1));
    at = std::max(digits, at + 1);
  }
  return result;
}

std::vector<RecomputableValue> recomputableValues(const Analysis &analysis) {
  std::map<std::string, RecomputableValue> groups;
  if (!analysis.peakEntry)
    return {};
  const std::vector<bool> isForward = forwardOf(analysis.plan, analysis.peakEntry->moments);
  /// Pairs of moment and buffer, because a value may be in pieces.
  std::set<std::pair<uint32_t, uint32_t>> counted;
  std::set<uint32_t> timed; ///< moments whose time is already counted
  const EntryAnalysis &entry = *analysis.peakEntry;
  for (const Held &each : entry.occupancy.values) {
    // Values that the peak's moment itself writes or reads last are not kept over the peak.
    const bool isKept = each.begin < analysis.peakMoment && analysis.peakMoment + 1 < each.end;
    if (!isKept || analysis.labels.kind(each.buffer) != Kind::Activation)
      continue;
    const Moment &writer = entry.moments[each.begin];
    // Values received from other ranks, disk or host were not computed here.
    if (!isForward[each.begin] || writer.instruction->stream() != fb::Stream::Compute)
      continue;
    const fb::Source &source = *analysis.plan.sources()->Get(writer.instruction->source());
    const std::string what = anyBlock(view(source.op()));
    const std::string place =
        source.file() && source.line() ? fmt::format("{}:{}", view(source.file()), source.line()) : "";
    RecomputableValue &group = groups[what + place];
    group.what = what;
    group.place = place;
    group.count += counted.emplace(each.begin, each.buffer).second ? 1 : 0;
    group.bytes += each.bytes;
    if (timed.insert(each.begin).second)
      group.seconds += writer.seconds() * static_cast<double>(std::max<uint64_t>(entry.runs, 1));
  }
  std::vector<RecomputableValue> recomputable;
  for (auto &[key, group] : groups)
    recomputable.push_back(std::move(group));
  std::ranges::sort(recomputable, [](const RecomputableValue &a, const RecomputableValue &b) {
    return std::tie(b.bytes, a.what, a.place) < std::tie(a.bytes, b.what, b.place);
  });
  return recomputable;
}

} // namespace trainc::report
