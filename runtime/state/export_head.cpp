#include "runtime/state/export_head.h"

namespace trainc {

/// The number of classes; 2 is that of Hugging Face's classes.
static uint64_t labelsOf(const nlohmann::json &config) {
  if (const auto names = config.find("id2label"); names != config.end() && names->is_object())
    return names->size();
  const nlohmann::json count = config.value("num_labels", nlohmann::json());
  return count.is_number_unsigned() ? count.get<uint64_t>() : 2;
}

std::optional<NewHead> newHeadOf(const nlohmann::json &own, const nlohmann::json &like) {
  const auto classes = [](const nlohmann::json &config) {
    return config.value("architectures", nlohmann::json());
  };
  if (!classes(own).is_array() || !classes(like).is_array() || like.contains("text_config"))
    return std::nullopt;
  NewHead head{labelsOf(own), labelsOf(like), like};
  if (classes(own) == classes(like) && head.labels == head.oldLabels)
    return std::nullopt;
  for (const char *key :
       {"architectures", "id2label", "label2id", "num_labels", "problem_type", "pad_token_id"}) {
    head.config.erase(key);
    if (own.contains(key))
      head.config[key] = own[key];
  }
  return head;
}

} // namespace trainc
