// Purpose of bytes of a plan, and the block of the model they belong to.
#pragma once

#include "plan/schema/plan_generated.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace trainc::report {

/// Purpose of bytes: the roles of plans, and two kinds that follow from the use by collectives.
enum class Kind : uint8_t { Parameter, Gradient, Optimizer, Activation, Workspace, Input, Cache, Gathered };
inline constexpr size_t kKinds = size_t(Kind::Gathered) + 1;

/// Kind of a role of the plan.
constexpr Kind kindOf(fb::Role role) {
  static_assert(size_t(Kind::Input) == size_t(fb::Role::Input) &&
                    size_t(Kind::Cache) == size_t(fb::Role::Cache) &&
                    size_t(Kind::Gathered) == size_t(fb::Role::MAX) + 1,
                "the kinds begin with all roles, in their order");
  return static_cast<Kind>(role);
}

/// "parameters", "gathered parameters", ...
const char *kindName(Kind kind);

/// Scope at the beginning of a source op's text: "h.3.attn" in "h.3.attn: nn.matmul"; empty if there is none.
std::string_view scopeOf(std::string_view op);

/// The text without its scope, "nn.matmul".
std::string_view opOf(std::string_view op);

/// Block of a scope, "h.3" for "h.3.attn": up to its first number, or all of it if there is none.
std::string blockOf(std::string_view scope);

/// Bytes of a buffer that belong to one state.
struct StateShare {
  const fb::State *state;
  uint64_t bytes; ///< in the buffer, averaged over the ranks that shard the state
};

/// Names and kinds of a verified plan's buffers.
class Labels {
public:
  explicit Labels(const fb::Plan &plan);

  /// Activations written by an all-gather are gathered parameters, those summed by other collectives are
  /// gradients; other kinds follow the plan's roles.
  Kind kind(uint32_t buffer) const { return kinds_[buffer]; }

  /// Scope of the parameter in a name: "h.3.attn.c_attn" for "exp_avg.h.3.attn.c_attn.weight"; empty if the
  /// name contains no parameter.
  std::string parameterScope(std::string_view name) const;

  /// Bytes of a persistent buffer by scope; their sum is the buffer's size. Bytes without a parameter have
  /// the empty scope.
  std::map<std::string, uint64_t> scopesOf(uint32_t buffer) const;

private:
  void findKinds();
  const std::vector<StateShare> *sharesOf(std::string_view buffer) const;

  const fb::Plan &plan_;
  std::vector<Kind> kinds_;
  std::map<std::string_view, bool> parameters_;                  ///< names
  std::map<std::string_view, std::vector<StateShare>> statesIn_; ///< by the buffer's name
};

} // namespace trainc::report
