// What the emulated NCCL says of its errors.
#pragma once

#include "test/emulator/libnccl/api.h"

#include <fmt/format.h>
#include <optional>
#include <string>
#include <string_view>

namespace trainc::emulator {

const char *textOf(ncclResult_t result);
std::string_view nameOf(ncclResult_t result);
std::optional<int> resultNamed(std::string_view name);

/// Keeps the text for ncclGetLastError() and says it on standard error.
void noteError(const std::string &text);
/// For any thread; stays until its next call on this one.
const char *lastError();

template <typename... Args>
ncclResult_t refuse(ncclResult_t result, fmt::format_string<Args...> format, Args &&...args) {
  noteError(fmt::format(format, std::forward<Args>(args)...));
  return result;
}

} // namespace trainc::emulator
