// Names of the driver's results, and what the driver says of them.
#pragma once

#include "test/emulator/libcuda/api.h"

#include <optional>
#include <string_view>

namespace trainc::emulator {

/// A result as cuda.h lists it.
struct ResultText {
  CUresult result;
  const char *name, *text;
};

/// Null if there is no such result.
const ResultText *textOf(CUresult result);
/// For messages; also accepts invalid numbers.
std::string_view nameOf(CUresult result);
std::optional<int> resultNamed(std::string_view name);

} // namespace trainc::emulator
