#include "plan/facts/collective.h"

#include "plan/schema/enum_words.h"

#include <algorithm>
#include <array>
#include <string>

namespace trainc {

CollectiveTraits traitsOf(fb::CollectiveKind kind) {
  switch (kind) {
  case fb::CollectiveKind::AllReduce:
    return {.sums = true, .rounds = 2};
  case fb::CollectiveKind::ReduceScatter:
    return {.destinationIsShard = true, .sums = true};
  case fb::CollectiveKind::AllGather:
    return {.sourceIsShard = true};
  }
  return {};
}

const char *collectiveName(fb::CollectiveKind kind) {
  static const auto names = [] {
    std::array<std::string, static_cast<size_t>(fb::CollectiveKind::MAX) + 1> names;
    for (const fb::CollectiveKind each : fb::EnumValuesCollectiveKind()) {
      std::string &name = names[static_cast<size_t>(each)] = wordOf(each);
      std::ranges::replace(name, '_', '-');
    }
    return names;
  }();
  return names[static_cast<size_t>(kind)].c_str();
}

} // namespace trainc
