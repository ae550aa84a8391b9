// Hash maps by string that are looked up with views.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <xxhash.h>

namespace trainc {

struct StringHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return XXH3_64bits(text.data(), text.size()); }
};

template <typename Value>
using StringMap = std::unordered_map<std::string, Value, StringHash, std::equal_to<>>;

} // namespace trainc
