#include "runtime/comm/communicator.h"

#include "runtime/plan/dtype.h"

namespace trainc {

const char *collectiveName(CollectiveKind kind) {
  static constexpr const char *names[] = {"all-reduce", "reduce-scatter", "all-gather", "broadcast",
                                          "barrier"};
  return names[static_cast<size_t>(kind)];
}

std::string describe(const Collective &collective) {
  const char *name = collectiveName(collective.kind);
  std::string text = name;
  if (collective.kind != CollectiveKind::kBarrier)
    text += fmt::format(" of {} {}", collective.elements, dtypeName(collective.dtype));
  if (collective.kind == CollectiveKind::kBroadcast)
    text += fmt::format(" from place {}", collective.root);
  if (collective.group != fb::Group::All)
    text += collective.group == fb::Group::Shard ? " over the shard group" : " over the replica group";
  return text;
}

uint64_t ringBytes(const Collective &collective, uint32_t ranks) {
  if (collective.kind == CollectiveKind::kBarrier)
    return 0;
  const uint64_t rounds = collective.kind == CollectiveKind::kAllReduce ? 2 : 1;
  return rounds * collective.elements * elementBytes(collective.dtype) * (ranks - 1) / ranks;
}

} // namespace trainc
