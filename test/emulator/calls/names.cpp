#include "test/emulator/calls/names.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>

namespace trainc::emulator {

size_t versionIn(const char *variable, size_t ofHeader) {
  const char *value = std::getenv(variable);
  if (!value)
    return ofHeader;
  const std::string_view text = value;
  size_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size()) {
    fmt::print(stderr, "emulated GPU: {}: expected a version, e.g. {}, found '{}'\n", variable, ofHeader,
               text);
    std::_Exit(2);
  }
  return number;
}

} // namespace trainc::emulator
