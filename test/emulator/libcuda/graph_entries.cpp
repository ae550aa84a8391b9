// Graphs, and their launches.
#include "test/emulator/libcuda/entry.h"

namespace trainc::emulator {

namespace {

/// Device memory of an executable graph.
constexpr uint64_t kGraphBytes = 16 << 10;

/// Spoils host memory that the graph writes, unless earlier work may still use it.
void spoilAtLaunch(const Driver &driver, const GraphExec &exec) {
  const auto usesHost = [](const GraphNode &node) { return node.work->usesHost; };
  if (driver.lock.hostWork > 0 || std::ranges::any_of(exec.nodes, usesHost))
    return;
  for (const GraphNode &node : exec.nodes)
    spoilLate(*node.work);
}

/// Final operation of a launch. It owns the graph: one that is destroyed during a launch is freed at the end
/// of the launch.
std::shared_ptr<const Work> endOf(std::shared_ptr<const GraphExec> exec) {
  return std::make_shared<const Work>(
      Work{.what = "the end of a graph",
           .run = [exec = std::move(exec)](uint64_t) { return std::optional<Failure>(); }});
}

/// All nodes depend on the stream's earlier work and on the previous launch; later work depends on all nodes.
OperationRef launch(const Call &call, const std::shared_ptr<GraphExec> &launched, const Stream &stream) {
  const GraphExec &exec = *launched;
  Scheduler &scheduler = call.context->device->scheduler;
  std::vector<OperationRef> operations;
  std::vector<OperationRef> before{stream.last, exec.last};
  std::vector<OperationRef> leaves = before;
  std::vector<bool> isLeaf(exec.nodes.size(), true);
  for (const GraphNode &node : exec.nodes) {
    std::vector<OperationRef> after;
    for (const size_t each : node.after) {
      isLeaf[each] = false;
      after.push_back(operations[each]);
    }
    operations.push_back(
        scheduler.add(node.work, call.context->state, node.lane, after.empty() ? before : after));
  }
  for (size_t i = 0; i < operations.size(); ++i)
    if (isLeaf[i])
      leaves.push_back(operations[i]);
  return scheduler.add(endOf(launched), call.context->state, stream.lane, leaves);
}

} // namespace

} // namespace trainc::emulator

using namespace trainc::emulator;

extern "C" {

CUresult CUDAAPI cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph handle, unsigned long long flags) {
  return entry("cuGraphInstantiateWithFlags", [&](Call &call) {
    std::shared_ptr<Graph> graph;
    TRAINC_CU(call.need(call.driver.graphs, handle, graph));
    // Priorities choose among runnable nodes, which is random here.
    if (!exec || (flags & ~uint64_t{CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY}) != 0)
      return call.refuse(CUDA_ERROR_INVALID_VALUE,
                         "place {}; flags {:#x}, of which only priorities are emulated", fmt::ptr(exec),
                         flags);
    *exec = call.driver.graphExecs.add(
        std::make_shared<GraphExec>(GraphExec{call.context, graph->nodes, nullptr}));
    call.context->ownBytes += kGraphBytes;
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuGraphLaunch(CUgraphExec handle, CUstream streamHandle) {
  return entry("cuGraphLaunch", [&](Call &call) {
    std::shared_ptr<GraphExec> exec;
    std::shared_ptr<Stream> stream;
    TRAINC_CU(call.need(call.driver.graphExecs, handle, exec));
    TRAINC_CU(call.need(call.driver.streams, streamHandle, stream));
    if (stream->capture) {
      stream->capture->invalidated = true;
      return call.refuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "graphs in graphs are not emulated");
    }
    spoilAtLaunch(call.driver, *exec);
    stream->last = exec->last = launch(call, exec, *stream);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuGraphUpload(CUgraphExec handle, CUstream streamHandle) {
  return entry("cuGraphUpload", [&](Call &call) {
    std::shared_ptr<GraphExec> exec;
    std::shared_ptr<Stream> stream;
    TRAINC_CU(call.need(call.driver.graphExecs, handle, exec));
    TRAINC_CU(call.need(call.driver.streams, streamHandle, stream));
    if (stream->capture) {
      stream->capture->invalidated = true;
      return call.refuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "the stream is captured");
    }
    return call.append(*stream, {.what = "the upload of a graph"});
  });
}

CUresult CUDAAPI cuGraphDestroy(CUgraph handle) {
  return entry("cuGraphDestroy", [&](Call &call) {
    std::shared_ptr<Graph> graph;
    TRAINC_CU(call.need(call.driver.graphs, handle, graph));
    call.driver.graphs.remove(handle);
    return CUDA_SUCCESS;
  });
}

/// A launch in flight continues.
CUresult CUDAAPI cuGraphExecDestroy(CUgraphExec handle) {
  return entry("cuGraphExecDestroy", [&](Call &call) {
    std::shared_ptr<GraphExec> exec;
    TRAINC_CU(call.need(call.driver.graphExecs, handle, exec));
    call.driver.graphExecs.remove(handle);
    exec->context->ownBytes -= kGraphBytes;
    return CUDA_SUCCESS;
  });
}

} // extern "C"
