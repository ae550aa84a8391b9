#include "tools/report/document.h"

#include "base/plain_text.h"
#include "plan/facts/dtype.h"
#include "plan/facts/mesh.h"
#include "plan/facts/view.h"
#include "plan/schema/enum_words.h"
#include "tools/report/collectives.h"
#include "tools/report/document_entries.h"
#include "tools/report/largest_batches.h"
#include "tools/report/offloadable.h"
#include "tools/report/peak.h"
#include "tools/report/proofs.h"
#include "tools/report/settings.h"
#include "tools/report/tree.h"
#include "tools/report/verdict.h"

namespace trainc::report {

namespace {

using nlohmann::json;

json planJson(const fb::Plan &plan, std::string_view file) {
  return {{"file", file},
          {"name", view(plan.name())},
          {"producer", view(plan.producer())},
          {"target", view(plan.target())},
          {"ranks", plan.ranks()},
          {"mesh", Mesh(plan).text()}};
}

json kindsJson(const BytesByKind &offloaded) {
  json kinds = json::object();
  for (const MemoryKind &kind : kMemoryKinds)
    if (const int64_t bytes = offloaded.*kind.bytes; bytes > 0)
      kinds[std::string(kind.name)] = bytes;
  return kinds;
}

json verdictJson(const Analysis &analysis) {
  const Verdict verdict = verdictOf(analysis);
  json result = {{"sentence", sentence(verdict, analysis.plan.ranks())},
                 {"peak_bytes", verdict.memory.arenas},
                 {"host_bytes", verdict.memory.host},
                 {"host_kinds", kindsJson(verdict.host)},
                 {"disk_bytes", verdict.memory.disk},
                 {"disk_kinds", kindsJson(verdict.disk)},
                 {"unplanned_bytes", nullptr},
                 {"limit_bytes", nullptr},
                 {"headroom_bytes", nullptr},
                 {"step_seconds", nullptr},
                 {"communication_seconds", roundSeconds(verdict.communicationSeconds)},
                 {"exposed_seconds", roundSeconds(verdict.exposedSeconds)},
                 {"flops_per_step", verdict.flops}};
  if (verdict.memory.besides)
    result["unplanned_bytes"] = *verdict.memory.besides;
  if (verdict.limit) {
    result["limit_bytes"] = *verdict.limit;
    result["headroom_bytes"] = *verdict.headroom();
  }
  if (verdict.stepSeconds)
    result["step_seconds"] = roundSeconds(*verdict.stepSeconds);
  return result;
}

json arenasJson(const Analysis &analysis) {
  json arenas = json::array();
  for (const fb::Arena *arena : *analysis.plan.arenas())
    arenas.push_back({{"name", view(arena->name())},
                      {"space", wordOf(arena->space())},
                      {"bytes", arena->bytes()},
                      {"persistent", arena->persistent()},
                      {"is_limited", isLimited(analysis.plan, *arena)}});
  return arenas;
}

json buffersJson(const Analysis &analysis) {
  json names = json::array(), arenas = json::array(), offsets = json::array(), bytes = json::array(),
       dtypes = json::array(), kinds = json::array();
  for (uint32_t i = 0; i < analysis.plan.buffers()->size(); ++i) {
    const fb::Buffer &buffer = *analysis.plan.buffers()->Get(i);
    names.push_back(view(buffer.name()));
    arenas.push_back(buffer.arena());
    offsets.push_back(buffer.offset());
    bytes.push_back(buffer.bytes());
    dtypes.push_back(dtypeName(buffer.dtype()));
    kinds.push_back(static_cast<int>(analysis.labels.kind(i)));
  }
  return {{"name", names},  {"arena", arenas}, {"offset", offsets},
          {"bytes", bytes}, {"dtype", dtypes}, {"kind", kinds}};
}

json peakJson(const Analysis &analysis) {
  json parts = json::array();
  for (const PeakPart &part : peakParts(analysis))
    parts.push_back({{"block", part.block},
                     {"kind", part.isUnused ? "unused" : kindName(part.kind)},
                     {"bytes", part.bytes}});
  json peak = {{"entry", nullptr}, {"moment", nullptr}, {"instruction", nullptr}, {"parts", parts}};
  if (analysis.peakEntry) {
    peak["entry"] = view(analysis.peakEntry->entry->name());
    peak["moment"] = analysis.peakMoment;
    peak["instruction"] = nameOf(analysis.peakEntry->moments[analysis.peakMoment]);
  }
  return peak;
}

json recomputableJson(const Analysis &analysis) {
  json recomputable = json::array();
  for (const RecomputableValue &each : recomputableValues(analysis))
    recomputable.push_back({{"what", each.what},
                            {"place", each.place},
                            {"count", each.count},
                            {"bytes", each.bytes},
                            {"seconds", roundSeconds(each.seconds)}});
  return recomputable;
}

/// Returns null if nothing is offloaded.
json offloadableJson(const Analysis &analysis) {
  const OffloadableKinds offloadable = offloadableKinds(analysis);
  json kinds = json::array();
  for (const OffloadableKind &each : offloadable.kinds)
    kinds.push_back({{"offload", each.offload},
                     {"bytes", each.bytes},
                     {"seconds", each.seconds ? json(roundSeconds(*each.seconds)) : json()}});
  return kinds.empty() ? json() : json{{"to", offloadable.to}, {"kinds", kinds}};
}

json collectivesJson(const Analysis &analysis) {
  json collectives = json::array();
  for (const CollectiveSum &each : collectivesOf(analysis))
    collectives.push_back({{"kind", each.kind},
                           {"count", each.count},
                           {"sent_bytes", each.sentBytes},
                           {"seconds", roundSeconds(each.seconds)}});
  return collectives;
}

json treeJson(const Analysis &analysis) {
  json names = json::array(), parents = json::array(), parameters = json::array(), persistent = json::array(),
       peaks = json::array(), flops = json::array(), bytes = json::array(), seconds = json::array();
  for (const TreeNode &node : treeOf(analysis)) {
    names.push_back(node.name);
    parents.push_back(node.parent);
    parameters.push_back(node.parameters);
    persistent.push_back(node.persistentBytes);
    peaks.push_back(node.peakBytes);
    flops.push_back(node.flops);
    bytes.push_back(node.bytes);
    seconds.push_back(roundSeconds(node.seconds));
  }
  return {{"name", names},
          {"parent", parents},
          {"parameters", parameters},
          {"persistent_bytes", persistent},
          {"peak_bytes", peaks},
          {"flops", flops},
          {"touched_bytes", bytes},
          {"seconds", seconds}};
}

json settingsJson(const fb::Plan &plan) {
  json settings = json::array();
  for (const KnownSetting &each : knownSettingsOf(plan))
    settings.push_back({{"setting", each.setting},
                        {"value", each.value},
                        {"source", each.source},
                        {"bytes", each.bytes ? json(*each.bytes) : json()},
                        {"is_default", each.isDefault}});
  return settings;
}

json proofsJson(const fb::Plan &plan) {
  json proofs = json::array();
  for (const Proof &each : proofsOf(plan))
    proofs.push_back({{"count", each.count}, {"subject", each.subject}, {"statement", each.statement}});
  return proofs;
}

json largestBatchesJson(const Analysis &analysis) {
  json rows = json::array();
  for (const LargestBatch &each : largestBatchesOf(analysis))
    rows.push_back({{"activation_checkpointing", each.checkpointing},
                    {"samples", each.samples},
                    {"seconds_a_sample", each.samples > 0 ? json(roundSeconds(each.sampleSeconds)) : json()},
                    {"times", each.times ? json(*each.times) : json()},
                    {"extra_time", each.extraTime ? json(*each.extraTime) : json()}});
  return rows;
}

/// Returns the strategies that the planner tried under a memory limit, or null. The compile report is not
/// verified, so that a report of another form also gives null.
json plannerJson(const Analysis &analysis) {
  const json planner = analysis.compileReport.value("planner", json());
  const json strategies = planner.is_object() ? planner.value("strategies", json()) : json();
  const bool isKnownForm = strategies.is_array() && std::ranges::all_of(strategies, &json::is_object);
  return isKnownForm ? planner : json();
}

} // namespace

json documentOf(const Analysis &analysis, std::string_view file) {
  json kinds = json::array();
  for (size_t kind = 0; kind < kKinds; ++kind)
    kinds.push_back(kindName(static_cast<Kind>(kind)));
  json document = {{"plan", planJson(analysis.plan, file)},
                   {"verdict", verdictJson(analysis)},
                   {"kinds", kinds},
                   {"arenas", arenasJson(analysis)},
                   {"buffers", buffersJson(analysis)},
                   {"peak", peakJson(analysis)},
                   {"recomputable", recomputableJson(analysis)},
                   {"offloadable", offloadableJson(analysis)},
                   {"collectives", collectivesJson(analysis)},
                   {"tree", treeJson(analysis)},
                   {"settings", settingsJson(analysis.plan)},
                   {"proofs", proofsJson(analysis.plan)}};
  addEntries(analysis, document);
  if (json planner = plannerJson(analysis); !planner.is_null())
    document["planner"] = std::move(planner);
  if (json batches = largestBatchesJson(analysis); !batches.empty())
    document["largest_batches"] = {{"memory_limit", largestBatchesLimit(analysis)},
                                   {"batches", std::move(batches)}};
  return document;
}

std::string jsonText(const json &document) {
  return printableJson(document.dump(-1, ' ', false, json::error_handler_t::replace));
}

} // namespace trainc::report
