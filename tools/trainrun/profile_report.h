// Profiles, for people and for programs.
#pragma once

#include "runtime/exec/profile.h"

namespace trainc {

/// A table, the slowest rows first; sums by what rows compute; what they are compared with; idle time.
std::string profileTable(const Profile &profile);

/// All rows as JSON. Errors (kFailed, kInvalidInput) name path and reason.
Status writeProfile(const Profile &profile, const std::string &path);

} // namespace trainc
