// `trainc help TOPIC`: short texts about themes that go across subcommands.
#pragma once

#include "plan/settings/setting.h"

#include <span>
#include <string>
#include <string_view>

namespace trainc {

struct Topic {
  std::string_view name;
  std::string_view summary; ///< one line of the list of topics
  std::string_view text;    ///< an example first, then what it does, then the pages that say more
  std::span<const train::Theme> themes = {}; ///< themes of the settings that belong to the topic
};

/// Returns the topic's text, followed by the options of its settings.
std::string explanationOf(const Topic &topic);

/// All topics, in the order of the list.
std::span<const Topic> helpTopics();

} // namespace trainc
