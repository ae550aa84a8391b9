// Exports of the emulated libcuda.so.1 beside the vendor's entry points, for the other emulated libraries.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#pragma GCC visibility push(default)

/// Work that the device executes; a text is a device failure, after which nothing more executes. Runs on the
/// emulated device's thread and must not call entry points.
using EmulatorWork = std::function<std::optional<std::string>()>;

/// Enqueues work on a stream; during capture it becomes a node that runs in each launch of the graph. `what`
/// names it in messages. Fails like an entry point that takes a stream.
extern "C++" CUresult emulatorEnqueue(CUstream stream, std::string what, EmulatorWork work);

/// Enqueues work that involves others, such as a collective. When its turn comes, the device polls `isReady`,
/// executing other streams meanwhile, and runs `work` once it returns true; likewise in each launch of a
/// graph. The first poll means that this rank has arrived. `isReady` must not block.
extern "C++" CUresult emulatorEnqueueWhen(CUstream stream, std::string what, std::function<bool()> isReady,
                                          EmulatorWork work);

/// Takes memory of the calling thread's GPU until its context ends, like a library that loads kernels.
extern "C++" void emulatorTakeMemory(size_t count);

/// Ten times the compute capability of the GPU of the calling thread's context, such as 89 for 8.9; 0 without
/// a context.
extern "C++" int emulatorCapability();

/// Host address of device memory; null unless all bytes lie in one live allocation.
extern "C++" std::byte *emulatorBytes(CUdeviceptr address, size_t count);
/// Marks bytes of a live allocation as written.
extern "C++" void emulatorNoteWritten(CUdeviceptr address, size_t count);
/// Whether all of the bytes were written.
extern "C++" bool emulatorIsWritten(CUdeviceptr address, size_t count);

#pragma GCC visibility pop
