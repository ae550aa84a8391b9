// Options that people give to the wrong program.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace trainc {

/// What `trainrun` says to an option (without dashes) that `trainc compile` or the model's train.program
/// decides.
std::optional<std::string> homeOutsideTrainrun(std::string_view option);

/// What `trainc compile` says to an option (without dashes) that trainrun or the model's train.program
/// decides.
std::optional<std::string> homeOutsideCompile(std::string_view option);

} // namespace trainc
