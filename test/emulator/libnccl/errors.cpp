#include "test/emulator/libnccl/errors.h"

#include <array>
#include <cstdio>
#include <mutex>

namespace trainc::emulator {

namespace {

struct Text {
  std::string_view name;
  const char *text;
};

constexpr std::array<Text, ncclNumResults> kTexts = {
    {{"ncclSuccess", "no error"},
     {"ncclUnhandledCudaError", "unhandled cuda error (emulated)"},
     {"ncclSystemError", "unhandled system error (emulated)"},
     {"ncclInternalError", "internal error (emulated)"},
     {"ncclInvalidArgument", "invalid argument (emulated)"},
     {"ncclInvalidUsage", "invalid usage (emulated)"},
     {"ncclRemoteError", "remote process exited or there was a network error (emulated)"},
     {"ncclInProgress", "NCCL operation in progress"}}};

std::mutex mutex;
std::string last;

} // namespace

const char *textOf(ncclResult_t result) {
  return static_cast<size_t>(result) < kTexts.size() ? kTexts[static_cast<size_t>(result)].text
                                                     : "unknown result code";
}

std::string_view nameOf(ncclResult_t result) {
  return static_cast<size_t>(result) < kTexts.size() ? kTexts[static_cast<size_t>(result)].name : "unknown";
}

std::optional<int> resultNamed(std::string_view name) {
  for (size_t i = 0; i < kTexts.size(); ++i)
    if (kTexts[i].name == name)
      return static_cast<int>(i);
  return std::nullopt;
}

void noteError(const std::string &text) {
  const std::lock_guard lock(mutex);
  last = text;
  (void)std::fprintf(stderr, "emulated NCCL: %s\n", text.c_str());
}

const char *lastError() {
  thread_local std::string copy;
  const std::lock_guard lock(mutex);
  copy = last;
  return copy.c_str();
}

} // namespace trainc::emulator
