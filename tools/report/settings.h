// Settings that a plan was compiled with.
#pragma once

#include "plan/facts/settings.h"

#include <cstdint>
#include <optional>

namespace trainc::report {

struct KnownSetting : Setting {
  std::optional<uint64_t> bytes; ///< value of a size; nothing if it is not a number, such as "none"
  bool isDefault = false;        ///< neither given by the user nor chosen for this plan

  /// The value for people: "80.0 MiB" for 83886080 bytes.
  std::string shown() const;
};

/// In the order of settingsOf(plan).
std::vector<KnownSetting> knownSettingsOf(const fb::Plan &plan);

} // namespace trainc::report
