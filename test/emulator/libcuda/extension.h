// What the emulated libcuda.so.1 exports beside the vendor's entry points, for the other emulated libraries.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#pragma GCC visibility push(default)

/// What the device does when its turn comes; a text is a failure of the device, after which nothing more
/// runs. It runs on the emulated device's thread and calls no entry point.
using EmulatorWork = std::function<std::optional<std::string>()>;

/// Puts work on a stream (as a node, while the stream is captured: then it runs in each launch of the graph).
/// `what` names it in messages. Fails as an entry point that takes a stream does.
extern "C++" CUresult emulatorEnqueue(CUstream stream, std::string what, EmulatorWork work);

/// The same for work that others have a part in, such as a collective. When its turn comes, the device asks
/// `isReady` again and again, going on with other streams meanwhile, and runs `work` once it says yes; the
/// same again in the next launch of a graph. The first question says that this rank has arrived. It must not
/// block.
extern "C++" CUresult emulatorEnqueueWhen(CUstream stream, std::string what, std::function<bool()> isReady,
                                          EmulatorWork work);

/// Takes bytes of the calling thread's GPU until its context ends, as libraries do that load kernels.
extern "C++" void emulatorTakeMemory(size_t count);

/// Ten times the compute capability of the GPU whose context is the calling thread's, such as 89 for 8.9; 0:
/// it has none.
extern "C++" int emulatorCapability();

/// The bytes behind device memory of this process; null unless all of them lie in one live allocation.
extern "C++" std::byte *emulatorBytes(CUdeviceptr address, size_t count);
/// Notes that bytes of a live allocation were written.
extern "C++" void emulatorNoteWritten(CUdeviceptr address, size_t count);
/// Whether each of the bytes was.
extern "C++" bool emulatorIsWritten(CUdeviceptr address, size_t count);

#pragma GCC visibility pop
