// Objects of the emulated NCCL: communicators and memory.
#pragma once

#include "test/emulator/libnccl/communicator.h"

#include <array>
#include <memory>
#include <optional>

namespace trainc::emulator {

/// The communicator of a handle; null, after an error message, if it is not live.
std::shared_ptr<Comm> findComm(ncclComm_t handle, const char *entry);
ncclComm_t addComm(std::shared_ptr<Comm> comm);
void removeComm(ncclComm_t handle);

ncclResult_t allocate(void **pointer, size_t bytes);
ncclResult_t release(void *pointer);

/// UUID of the device of the current context; nothing without a context.
std::optional<std::array<unsigned char, 16>> currentGpu();

} // namespace trainc::emulator
