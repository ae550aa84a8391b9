#include "runtime/formats/adapter_names.h"

#include "runtime/formats/hugging_face_names.h"

namespace trainc {

bool isAdapterName(std::string_view name) { return name.ends_with(kAdapterA) || name.ends_with(kAdapterB); }

std::vector<std::string> adapterFileNames(const std::string &name) {
  std::vector<std::string> names = {std::string(kAdapterPrefix).append(name)};
  for (const std::string &other : otherNames(name))
    if (!other.empty())
      names.push_back(std::string(kAdapterPrefix).append(other));
  return names;
}

} // namespace trainc
