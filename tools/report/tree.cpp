#include "tools/report/tree.h"

#include "plan/facts/memory_need.h"
#include "plan/facts/view.h"
#include "plan/facts/work.h"

#include <algorithm>
#include <map>

namespace trainc::report {

namespace {

class TreeBuilder {
public:
  explicit TreeBuilder(const Analysis &analysis) : analysis_(analysis), plan_(analysis.plan) {
    nodes_.push_back({.name = std::string(view(plan_.name())), .parent = 0});
  }

  std::vector<TreeNode> build() {
    addInstructions(); // first, so that names appear in step order
    addParameters();
    addPersistent();
    addValues();
    for (size_t i = nodes_.size(); i-- > 1;)
      addTo(nodes_[nodes_[i].parent], nodes_[i]);
    return std::move(nodes_);
  }

private:
  /// The node of a scope; creates it and its ancestors if missing.
  TreeNode &at(std::string_view scope) { return nodes_[find(scope)]; }

  uint32_t find(std::string_view scope) {
    if (scope.empty())
      return 0;
    if (const auto found = known_.find(scope); found != known_.end())
      return found->second;
    const size_t dot = scope.rfind('.');
    const uint32_t parent = dot == std::string_view::npos ? 0 : find(scope.substr(0, dot));
    const auto number = static_cast<uint32_t>(nodes_.size());
    nodes_.push_back(
        {.name = std::string(scope.substr(dot == std::string_view::npos ? 0 : dot + 1)), .parent = parent});
    known_.emplace(scope, number);
    return number;
  }

  void addParameters() {
    for (const fb::State *state : *plan_.states()) {
      if (state->role() != fb::Role::Parameter)
        continue;
      uint64_t elements = 1;
      for (const uint64_t dimension : *state->shape())
        elements *= dimension;
      at(view(state->name())).parameters += elements;
    }
  }

  void addPersistent() {
    for (uint32_t i = 0; i < plan_.buffers()->size(); ++i) {
      const Kind kind = analysis_.labels.kind(i);
      if (!plan_.arenas()->Get(plan_.buffers()->Get(i)->arena())->persistent() ||
          (kind != Kind::Parameter && kind != Kind::Gradient && kind != Kind::Optimizer))
        continue;
      for (const auto &[scope, bytes] : analysis_.labels.scopesOf(i))
        at(scope).persistentBytes += bytes;
    }
  }

  std::string_view scope(const Moment &moment) const {
    return scopeOf(view(plan_.sources()->Get(moment.instruction->source())->op()));
  }

  void addInstructions() {
    for (const EntryAnalysis &entry : analysis_.entries)
      for (const Moment &moment : entry.moments) {
        if (entry.runs == 0)
          break;
        const auto runs = static_cast<double>(entry.runs);
        TreeNode &node = at(scope(moment));
        node.seconds += runs * moment.seconds();
        if (const std::optional<Work> work = workOf(plan_, *moment.instruction)) {
          node.flops += runs * static_cast<double>(moment.iterations) * work->flops;
          node.bytes += runs * static_cast<double>(moment.iterations) * work->bytes;
        }
      }
  }

  void addValues() {
    if (!analysis_.peakEntry)
      return;
    for (const Held &each : analysis_.peakEntry->occupancy.values)
      if (each.begin <= analysis_.peakMoment && analysis_.peakMoment < each.end &&
          isLimited(plan_, *plan_.arenas()->Get(plan_.buffers()->Get(each.buffer)->arena())))
        at(scope(analysis_.peakEntry->moments[each.begin])).peakBytes += each.bytes;
  }

  static void addTo(TreeNode &sum, const TreeNode &part) {
    sum.parameters += part.parameters;
    sum.persistentBytes += part.persistentBytes;
    sum.peakBytes += part.peakBytes;
    sum.flops += part.flops;
    sum.bytes += part.bytes;
    sum.seconds += part.seconds;
  }

  const Analysis &analysis_;
  const fb::Plan &plan_;
  std::vector<TreeNode> nodes_;
  std::map<std::string, uint32_t, std::less<>> known_;
};

} // namespace

std::vector<TreeNode> treeOf(const Analysis &analysis) { return TreeBuilder(analysis).build(); }

} // namespace trainc::report
