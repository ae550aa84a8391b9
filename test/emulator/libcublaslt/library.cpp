#include "test/emulator/libcublaslt/library.h"

#include <charconv>
#include <cstdlib>
#include <cstring>

namespace trainc::emulator {

namespace {

struct StatusText {
  cublasStatus_t status;
  const char *name;
};

#define TRAINC_STATUS(name) {name, #name}
constexpr StatusText kStatuses[] = {
    TRAINC_STATUS(CUBLAS_STATUS_SUCCESS),          TRAINC_STATUS(CUBLAS_STATUS_NOT_INITIALIZED),
    TRAINC_STATUS(CUBLAS_STATUS_ALLOC_FAILED),     TRAINC_STATUS(CUBLAS_STATUS_INVALID_VALUE),
    TRAINC_STATUS(CUBLAS_STATUS_ARCH_MISMATCH),    TRAINC_STATUS(CUBLAS_STATUS_MAPPING_ERROR),
    TRAINC_STATUS(CUBLAS_STATUS_EXECUTION_FAILED), TRAINC_STATUS(CUBLAS_STATUS_INTERNAL_ERROR),
    TRAINC_STATUS(CUBLAS_STATUS_NOT_SUPPORTED),    TRAINC_STATUS(CUBLAS_STATUS_LICENSE_ERROR),
};
#undef TRAINC_STATUS

std::optional<int> statusNamed(std::string_view name) {
  for (const StatusText &each : kStatuses)
    if (each.name == name)
      return each.status;
  return std::nullopt;
}

/// TRAINC_EMULATOR_CUBLASLT, else that of the header.
size_t version() {
  const char *text = std::getenv("TRAINC_EMULATOR_CUBLASLT");
  if (!text)
    return CUBLAS_VERSION;
  size_t number = 0;
  const char *end = text + std::strlen(text);
  if (const auto read = std::from_chars(text, end, number); read.ec != std::errc() || read.ptr != end) {
    fmt::print(stderr, "emulated GPU: TRAINC_EMULATOR_CUBLASLT: expected a version, e.g. {}, found '{}'\n",
               CUBLAS_VERSION, text);
    std::_Exit(2);
  }
  return number;
}

} // namespace

std::string_view nameOf(cublasStatus_t status) {
  for (const StatusText &each : kStatuses)
    if (each.status == status)
      return each.name;
  return "an unknown status";
}

Library &Library::get() {
  static Library &library = *new Library; // the device's thread may use it until the process ends
  return library;
}

Library::Library() : calls({"cublasLt", kEntryPoints, statusNamed}) { calls.reset(); }

} // namespace trainc::emulator

using namespace trainc::emulator;

extern "C" {

cublasStatus_t CUBLASWINAPI cublasLtCreate(cublasLtHandle_t *handle) {
  {
    Library &library = Library::get();
    const std::lock_guard held(library.mutex);
    if (library.handles.empty()) // before the call is counted: the environment may have a fault for it
      library.calls.reset();
  }
  return entry("cublasLtCreate", [&](Call &call) {
    if (!handle)
      return call.refuse(CUBLAS_STATUS_INVALID_VALUE, "the place for the handle is null");
    *handle = call.library.handles.add(std::make_shared<Handle>());
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t CUBLASWINAPI cublasLtDestroy(cublasLtHandle_t handle) {
  return entry("cublasLtDestroy", [&](Call &call) {
    std::shared_ptr<Handle> object;
    TRAINC_CUBLAS(call.need(call.library.handles, handle, object));
    call.library.handles.remove(handle);
    return CUBLAS_STATUS_SUCCESS;
  });
}

size_t CUBLASWINAPI cublasLtGetVersion() {
  entry("cublasLtGetVersion", [](Call &) { return CUBLAS_STATUS_SUCCESS; });
  return version();
}

const char *CUBLASWINAPI cublasLtGetStatusString(cublasStatus_t status) {
  entry("cublasLtGetStatusString", [](Call &) { return CUBLAS_STATUS_SUCCESS; });
  return nameOf(status).data();
}

} // extern "C"
