#include "runtime/formats/hugging_face_names.h"

namespace trainc {

bool isHeadName(std::string_view name) { return name == kHeadName || name == "embed_out.weight"; }

std::vector<std::string> otherNames(const std::string &name) {
  std::vector<std::string> names;
  for (const std::string_view prefix : {"transformer.", "model."}) {
    names.push_back(std::string(prefix) + name);
    if (name.starts_with(prefix))
      names.push_back(name.substr(prefix.size()));
  }
  return names;
}

bool endsWithName(std::string_view name, std::string_view end) {
  return name.ends_with(end) && (name.size() == end.size() || name[name.size() - end.size() - 1] == '.');
}

bool isStoredBuffer(std::string_view name, std::span<const uint64_t> shape) {
  if (endsWithName(name, "attn.bias") || endsWithName(name, "attention.bias"))
    return shape.size() == 4 && shape[0] == 1 && shape[1] == 1 && shape[2] == shape[3];
  if (endsWithName(name, "attn.masked_bias") || endsWithName(name, "attention.masked_bias"))
    return shape.empty();
  return endsWithName(name, "rotary_emb.inv_freq") && shape.size() == 1;
}

} // namespace trainc
