// What the handles of the emulated driver stand for.
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

/// Of cuMemHostAlloc. Pending work keeps it.
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
  uint64_t ownBytes = 0;                       ///< of the device: the context itself, code, graphs
};
using ContextRef = std::shared_ptr<Context>;

/// Something to do, and the nodes that it comes after.
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
  OperationRef last; ///< of the latest launch, which the next one comes after
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
  OperationRef last;                ///< what was enqueued last
  std::shared_ptr<Capture> capture; ///< none: it runs
  std::vector<size_t> tail;         ///< nodes that the next one of the capture comes after
};

/// One record of an event.
struct EventRecord {
  OperationRef operation;
  std::shared_ptr<const std::chrono::steady_clock::time_point> time; ///< once the operation is done
};

struct Event {
  ContextRef context;
  bool hasTime = true;
  std::optional<EventRecord> record; ///< the latest outside captures; none: never
  std::shared_ptr<Capture> capture;  ///< if the latest record was in one
  std::vector<size_t> tail;          ///< nodes of that
};

struct Module {
  Module(ContextRef context, PtxModule ptx, uint64_t bytes)
      : context(std::move(context)), ptx(std::move(ptx)), bytes(bytes) {}

  /// As the driver does by default (CUDA_MODULE_LOADING=LAZY), only when the first of its kernels is wanted.
  void loadCode() {
    if (!hasCode)
      context->ownBytes += bytes;
    hasCode = true;
  }

  ContextRef context;
  PtxModule ptx;
  uint64_t bytes;                                           ///< of the device, for its code
  bool hasCode = false;                                     ///< on the device
  std::map<std::string, CUfunction, std::less<>> functions; ///< those that were asked for
  std::atomic<bool> unloaded = false;
};

struct Function {
  ContextRef context;
  std::shared_ptr<Module> module;
  const PtxFunction *ptx = nullptr;
  uint32_t dynamicLimit = 0; ///< bytes of dynamic shared memory of a launch, at most
};

} // namespace trainc::emulator
