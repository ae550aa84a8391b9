#include "runtime/comm/communicator.h"

#include "runtime/comm/outline.h"

namespace trainc {

const char *collectiveName(CollectiveKind kind) {
  static constexpr const char *names[] = {"all-reduce", "reduce-scatter", "all-gather", "barrier",
                                          "farewell"};
  return names[static_cast<size_t>(kind)];
}

std::string describe(const Collective &collective) { return describe(outlineOf(collective)); }

} // namespace trainc
