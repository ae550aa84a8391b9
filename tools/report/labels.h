// What bytes of a plan are for, and which block of the model they belong to.
#pragma once

#include "runtime/schema/plan_generated.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace trainc::report {

/// What bytes are for: the roles of plans, and two that follow from what collectives do.
enum class Kind : uint8_t { Parameter, Gradient, Optimizer, Activation, Workspace, Input, Cache, Gathered };
inline constexpr size_t kKinds = 8;

/// "parameters", "gathered parameters", ...
const char *kindName(Kind kind);

/// The scope that the text of a source op begins with: "h.3.attn" of "h.3.attn: nn.matmul"; empty where there
/// is none.
std::string_view scopeOf(std::string_view op);

/// The text without its scope, "nn.matmul".
std::string_view opOf(std::string_view op);

/// The block of a scope, "h.3" of "h.3.attn": up to its first number, or all of it where it has none.
std::string blockOf(std::string_view scope);

/// A part of a buffer's bytes that belongs to one state.
struct StateShare {
  const fb::State *state;
  uint64_t bytes; ///< in the buffer, on average over the ranks that divide the state
};

/// Names and kinds of a verified plan's buffers.
class Labels {
public:
  explicit Labels(const fb::Plan &plan);

  /// Activations that an all-gather writes are gathered parameters, those that other collectives sum are
  /// gradients; all else is as the plan says.
  Kind kind(uint32_t buffer) const { return kinds_[buffer]; }

  /// The scope of the parameter that a name is about: "h.3.attn.c_attn" of "exp_avg.h.3.attn.c_attn.weight";
  /// empty where it is about none.
  std::string parameterScope(std::string_view name) const;

  /// Bytes of a persistent buffer by the scopes of what lies there; their sum is the buffer's size. What
  /// belongs to no parameter is under the empty scope.
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
