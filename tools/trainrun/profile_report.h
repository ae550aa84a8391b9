// Profiles, for people and for programs.
#pragma once

#include "runtime/exec/profile.h"

namespace trainc {

/// A table, the slowest rows first; sums by what rows compute; what they are compared with; idle time.
std::string profileTable(const Profile &profile);

/// That a profile can be written to the file, which is made where there is none. Fails (kInvalidInput) when
/// it cannot be opened, or holds something else than a profile.
Status checkProfileFile(const std::string &path);

/// All rows as JSON. Errors (kFailed, kInvalidInput) name path and reason.
Status writeProfile(const Profile &profile, const std::string &path);

} // namespace trainc
