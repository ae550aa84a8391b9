// Options that users pass to the wrong program, or know from another one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace trainc {

/// All options of `trainc compile` and of `trainrun`, without dashes and without those of both. A test
/// compares them with --help.
std::span<const std::string_view> optionsOfCompile();
std::span<const std::string_view> optionsOfTrainrun();

/// trainrun's answer to an option (without dashes) that belongs to `trainc compile`, to train.program or to
/// another training program, and is given with `value` (empty: without one); nothing for unknown options.
std::optional<std::string> homeOutsideTrainrun(std::string_view option, std::string_view value = {});

/// trainc compile's answer to an option (without dashes) that belongs to trainrun, to train.program or to
/// another training program, and is given with `value` (empty: without one); nothing for unknown options.
std::optional<std::string> homeOutsideCompile(std::string_view option, std::string_view value = {});

/// The answer to a word in train.program that is not a setting there but an option, or known from another
/// training program, and is followed by `value` (empty: by none); nothing for unknown words.
std::optional<std::string> homeOutsideProgram(std::string_view word, std::string_view value = {});

/// The answer to a value of a setting of train.program that another training program gives to an option of
/// the same name, such as nvme for `offload`; nothing for other values.
std::optional<std::string> homeOfForeignValue(std::string_view setting, std::string_view value);

} // namespace trainc
