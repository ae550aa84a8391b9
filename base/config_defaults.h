// Defaults of Hugging Face's classes for keys that a config.json lacks.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace trainc {

/// Returns the defaults of the class of a `model_type`, for the keys that change what a model computes, its
/// sizes and its dropout. Empty if the type is not in the table. A key without a default, such as a window
/// that a class has only on request, is missing.
nlohmann::json classDefaults(std::string_view modelType);

/// Returns `config`, an object whose keys have the class's names (config_forms.h), with the class's defaults
/// for the keys that it lacks. A null stays: it may mean that the model has no such thing (a window), or that
/// the value follows from others (key heads).
nlohmann::json withClassDefaults(nlohmann::json config, std::string_view modelType);

} // namespace trainc
