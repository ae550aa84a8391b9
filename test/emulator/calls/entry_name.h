// Names of entry points, checked at compile time.
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

namespace trainc::emulator {

/// A name from the array `Names`; any other name does not compile.
template <const auto &Names> struct NameIn {
  consteval NameIn(const char *text) : name(text) {
    if (std::ranges::find(Names, name) == std::ranges::end(Names))
      throw "not an entry point of the library";
  }
  std::string_view name;
};

} // namespace trainc::emulator
