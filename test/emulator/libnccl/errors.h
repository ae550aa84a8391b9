// Error texts of the emulated NCCL.
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

/// Stores the text for ncclGetLastError() and prints it to standard error.
void noteError(const std::string &text);
/// Thread-safe; the text is valid until the thread's next call.
const char *lastError();

template <typename... Args>
ncclResult_t refuse(ncclResult_t result, fmt::format_string<Args...> format, Args &&...args) {
  noteError(fmt::format(format, std::forward<Args>(args)...));
  return result;
}

} // namespace trainc::emulator
