// Profiles, for people and for programs.
#pragma once

#include "runtime/exec/profile.h"

namespace trainc {

/// A table, slowest rows first; sums by category; the rates for comparison; idle time.
std::string profileTable(const Profile &profile);

/// Checks that a profile can be written to the file, which is created if missing. Fails with kInvalidInput if
/// the file cannot be opened, or holds something other than a profile.
Status checkProfileFile(const std::string &path);

/// Writes all rows as JSON. Errors (kFailed, kInvalidInput) name path and reason.
Status writeProfile(const Profile &profile, const std::string &path);

} // namespace trainc
