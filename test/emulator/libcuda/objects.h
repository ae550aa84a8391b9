// Objects behind the handles of the emulated driver.
#pragma once

#include "test/emulator/device_memory.h"
#include "test/emulator/libcuda/operation.h"
#include "test/emulator/ptx/module.h"

#include <atomic>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <thread>

namespace trainc::emulator {

struct Device;
struct Stream;

/// Memory of cuMemHostAlloc. Pending work keeps it alive.
struct PinnedMemory {
  PinnedMemory(void *address, uint64_t bytes) : address(address), bytes(bytes) {}
  PinnedMemory(const PinnedMemory &) = delete;
  PinnedMemory &operator=(const PinnedMemory &) = delete;
  ~PinnedMemory();

  void *address;
  uint64_t bytes;
  std::atomic<bool> freed = false;
};

/// The primary context of a device.
struct Context {
  Device *device = nullptr;
  unsigned references = 0;
  std::shared_ptr<ContextState> state = std::make_shared<ContextState>();
  std::map<CUdeviceptr, uint64_t> allocations; ///< bytes by address
  uint64_t ownBytes = 0;                       ///< device memory of the context itself, code and graphs
};
using ContextRef = std::shared_ptr<Context>;

/// Work, and the indices of its dependencies.
struct GraphNode {
  std::shared_ptr<const Work> work;
  std::vector<size_t> after;
  uint64_t lane = 0;
};

struct Graph {
  ContextRef context;
  std::vector<GraphNode> nodes;
};

struct GraphExec {
  ContextRef context;
  std::vector<GraphNode> nodes;
  OperationRef last; ///< of the previous launch, which the next one depends on
};

/// Streams whose calls become nodes of a graph.
struct Capture {
  std::shared_ptr<Graph> graph;
  CUstreamCaptureMode mode;
  std::thread::id thread;
  const Stream *origin;
  std::vector<std::weak_ptr<Stream>> streams;
  bool invalidated = false, ended = false;
};

struct Stream {
  ContextRef context;
  uint64_t lane = 0;
  OperationRef last;                ///< last enqueued operation
  std::shared_ptr<Capture> capture; ///< null: not captured
  std::vector<size_t> tail;         ///< nodes that the next node of the capture depends on
};

/// One record of an event.
struct EventRecord {
  OperationRef operation;
  std::shared_ptr<const std::chrono::steady_clock::time_point> time; ///< set once the operation is done
};

struct Event {
  ContextRef context;
  bool hasTime = true;
  std::optional<EventRecord> record; ///< latest record outside captures; empty: none
  std::shared_ptr<Capture> capture;  ///< if the latest record was in a capture
  std::vector<size_t> tail;          ///< nodes of that record
};

struct Module {
  Module(ContextRef context, PtxModule ptx, uint64_t bytes)
      : context(std::move(context)), ptx(std::move(ptx)), bytes(bytes) {}

  /// Loads code when the first kernel is requested, like the driver's default (CUDA_MODULE_LOADING=LAZY).
  void loadCode() {
    if (!hasCode)
      context->ownBytes += bytes;
    hasCode = true;
  }

  ContextRef context;
  PtxModule ptx;
  uint64_t bytes;                                           ///< device memory of its code
  bool hasCode = false;                                     ///< on the device
  std::map<std::string, CUfunction, std::less<>> functions; ///< requested functions
  std::atomic<bool> unloaded = false;
};

struct Function {
  ContextRef context;
  std::shared_ptr<Module> module;
  const PtxFunction *ptx = nullptr;
  uint32_t dynamicLimit = 0; ///< maximum dynamic shared memory of a launch
};

} // namespace trainc::emulator
