// Options that users pass to the wrong program.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace trainc {

/// trainrun's answer to an option (without dashes) that belongs to `trainc compile` or to train.program.
std::optional<std::string> homeOutsideTrainrun(std::string_view option);

/// trainc compile's answer to an option (without dashes) that belongs to trainrun or to train.program.
std::optional<std::string> homeOutsideCompile(std::string_view option);

} // namespace trainc
