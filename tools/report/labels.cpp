#include "tools/report/labels.h"

#include "plan/facts/collective.h"
#include "plan/facts/dtype.h"
#include "plan/facts/state.h"
#include "plan/facts/view.h"

#include <algorithm>

namespace trainc::report {

const char *kindName(Kind kind) {
  static constexpr const char *names[kKinds] = {"parameters",  "gradients",          "optimizer states",
                                                "activations", "workspace",          "inputs",
                                                "caches",      "gathered parameters"};
  return names[static_cast<size_t>(kind)];
}

/// End of the scope, at ": "; scopes contain no spaces.
static size_t scopeEnd(std::string_view op) {
  const size_t end = op.find(": ");
  return end == std::string_view::npos || op.substr(0, end).find_first_of(" (") != std::string_view::npos
             ? 0
             : end;
}

std::string_view scopeOf(std::string_view op) { return op.substr(0, scopeEnd(op)); }

std::string_view opOf(std::string_view op) {
  const size_t end = scopeEnd(op);
  return end == 0 ? op : op.substr(end + 2);
}

std::string blockOf(std::string_view scope) {
  for (size_t begin = 0; begin < scope.size();) {
    const size_t end = std::min(scope.find('.', begin), scope.size());
    if (const std::string_view part = scope.substr(begin, end - begin);
        !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos)
      return std::string(scope.substr(0, end));
    begin = end + 1;
  }
  return std::string(scope);
}

/// Removes the first component: "c_attn.weight" for "attn.c_attn.weight"; empty if there is only one.
static std::string_view withoutFirst(std::string_view name) {
  const size_t dot = name.find('.');
  return dot == std::string_view::npos ? std::string_view() : name.substr(dot + 1);
}

static uint64_t elementsOf(const fb::State &state) {
  uint64_t elements = 1;
  for (const uint64_t dimension : *state.shape())
    elements *= dimension;
  return elements;
}

Labels::Labels(const fb::Plan &plan) : plan_(plan) {
  for (const fb::State *state : *plan.states()) {
    const fb::Buffer &buffer = *plan.buffers()->Get(state->buffer());
    const uint64_t bytes = elementsOf(*state) * elementBytes(state->dtype());
    if (state->role() == fb::Role::Parameter)
      parameters_.emplace(view(state->name()), true);
    statesIn_[view(buffer.name())].push_back({state, bytes / shardsOf(plan, *state)});
  }
  findKinds();
}

void Labels::findKinds() {
  for (const fb::Buffer *buffer : *plan_.buffers())
    kinds_.push_back(kindOf(buffer->role()));
  const auto isValue = [&](const fb::Operand *operand) {
    return kinds_[operand->buffer()] == Kind::Activation;
  };
  for (const fb::Entry *entry : *plan_.entries())
    for (const fb::Instruction *instruction : *entry->instructions()) {
      const fb::Collective *collective = instruction->operation_as_Collective();
      if (!collective)
        continue;
      const CollectiveTraits traits = traitsOf(collective->kind());
      for (const fb::Range *range : *collective->ranges()) {
        if (isValue(range->destination()) && (traits.sums || traits.sourceIsShard))
          kinds_[range->destination()->buffer()] = traits.sums ? Kind::Gradient : Kind::Gathered;
        if (traits.sums && isValue(range->source()))
          kinds_[range->source()->buffer()] = Kind::Gradient;
      }
    }
}

std::string Labels::parameterScope(std::string_view name) const {
  for (; !name.empty(); name = withoutFirst(name))
    if (parameters_.contains(name))
      return std::string(name.substr(0, std::min(name.rfind('.'), name.size())));
  return "";
}

const std::vector<StateShare> *Labels::sharesOf(std::string_view buffer) const {
  for (; !buffer.empty(); buffer = withoutFirst(buffer))
    if (const auto found = statesIn_.find(buffer); found != statesIn_.end())
      return &found->second;
  return nullptr;
}

std::map<std::string, uint64_t> Labels::scopesOf(uint32_t index) const {
  const fb::Buffer &buffer = *plan_.buffers()->Get(index);
  const std::vector<StateShare> *shares = sharesOf(view(buffer.name()));
  std::map<std::string, uint64_t> scopes;
  if (!shares) {
    scopes[parameterScope(view(buffer.name()))] = buffer.bytes();
    return scopes;
  }
  uint64_t together = 0, given = 0;
  for (const StateShare &share : *shares)
    together += share.bytes;
  const bool isTheirs = statesIn_.contains(view(buffer.name())) || together == 0;
  const double scale = isTheirs ? 1 : static_cast<double>(buffer.bytes()) / static_cast<double>(together);
  std::string last;
  for (const StateShare &share : *shares) {
    const auto bytes =
        isTheirs ? share.bytes : static_cast<uint64_t>(static_cast<double>(share.bytes) * scale);
    const uint64_t part = std::min(bytes, buffer.bytes() - given);
    last = parameterScope(view(share.state->name()));
    scopes[last] += part;
    given += part;
  }
  scopes[last] += buffer.bytes() - given; // rounding, and padding at the end
  return scopes;
}

} // namespace trainc::report
