#include "base/text_config.h"

#include <algorithm>

namespace trainc {

namespace {

/// A model of pictures and texts.
struct Composite {
  std::string_view type;
  std::string_view textType; ///< model type of a `text_config` that names none
};

constexpr Composite kComposites[] = {{"gemma3", "gemma3_text"}, {"mistral3", "mistral"}};

const Composite *findComposite(std::string_view type) {
  const auto *found = std::ranges::find(kComposites, type, &Composite::type);
  return found == std::end(kComposites) ? nullptr : found;
}

} // namespace

std::string compositeTypes() {
  std::string types;
  for (const Composite &each : kComposites)
    types.append(types.empty() ? "" : ", ").append(each.type);
  return types;
}

bool isCompositeType(std::string_view type) { return findComposite(type); }

nlohmann::json textConfigOf(const nlohmann::json &config) {
  const auto text = config.find("text_config");
  if (text == config.end() || !text->is_object())
    return config;
  nlohmann::json result = config;
  result.erase("text_config");
  result.erase("architectures");
  for (const std::string_view key : kPictureKeys)
    result.erase(std::string(key));
  const nlohmann::json type = config.value("model_type", nlohmann::json());
  if (const Composite *composite = type.is_string() ? findComposite(type.get<std::string>()) : nullptr)
    result["model_type"] = composite->textType;
  result.update(*text);
  return result;
}

} // namespace trainc
