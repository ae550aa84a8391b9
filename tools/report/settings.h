// What a plan was compiled with, and what the values mean.
#pragma once

#include "runtime/plan/settings.h"

#include <cstdint>
#include <optional>

namespace trainc::report {

struct KnownSetting : Setting {
  std::optional<uint64_t> bytes; ///< of a size; none where there is no such number, as in "none"
  bool isDefault = false;        ///< nobody gave the value, and it was not decided for this plan

  /// The value as people read it: "80.0 MiB" of 83886080 bytes.
  std::string shown() const;
};

/// As settingsOf(plan) has them.
std::vector<KnownSetting> knownSettingsOf(const fb::Plan &plan);

} // namespace trainc::report
