// The entry point that executes a plan.
#include "test/emulator/libcuda/workspace_use.h"
#include "test/emulator/libcudnn/engines.h"
#include "test/emulator/libcudnn/interpreter.h"
#include "test/emulator/libcudnn/library.h"

#include <algorithm>
#include <set>

namespace trainc::emulator {

namespace {

constexpr uint64_t kWorkspaceAlignment = 16;

/// Device memory of a tensor.
struct Extent {
  int64_t id;
  uint64_t begin, end;
  bool isWritten;
  bool overlaps(const Extent &other) const { return begin < other.end && other.begin < end; }
};

cudnnStatus_t needFinal(const CudnnCall &call, cudnnBackendDescriptor_t handle,
                        cudnnBackendDescriptorType_t type, std::shared_ptr<Descriptor> &object) {
  TRAINC_CUDNN(call.need(call.library.descriptors, handle, object));
  if (object->type != type)
    return call.refuse(CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE, "a descriptor of type {}, expected {}",
                       static_cast<int>(object->type), static_cast<int>(type));
  return object->isFinal ? CUDNN_STATUS_SUCCESS
                         : call.refuse(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED,
                                       "a descriptor of type {} is not finalized", static_cast<int>(type));
}

/// Requires exactly one pointer for each non-virtual tensor.
cudnnStatus_t readArguments(const CudnnCall &call, const OperationGraph &graph, const Descriptor &pack,
                            Arguments &arguments) {
  const auto ids = pack.all<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  const auto pointers = pack.all<void *>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto found = graph.tensors.find(ids[i]);
    if (found == graph.tensors.end() || found->second.isVirtual)
      return call.refuse(CUDNN_STATUS_BAD_PARAM, "the graph has no tensor {} in memory", ids[i]);
    const Tensor &tensor = found->second;
    if (!pointers[i])
      return call.refuse(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "tensor {} is null", tensor.id);
    if (tensor.isByValue) {
      arguments.numbers[tensor.id] = readNumber(pointers[i], tensor.type);
      continue;
    }
    const auto address = reinterpret_cast<uint64_t>(pointers[i]);
    if (address % static_cast<uint64_t>(tensor.alignment) != 0)
      return call.refuse(CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER,
                         "tensor {} is at {:#x}, expected a multiple of {}", tensor.id, address,
                         tensor.alignment);
    arguments.addresses[tensor.id] = address;
  }
  for (const auto &[id, tensor] : graph.tensors)
    if (!tensor.isVirtual && !arguments.addresses.contains(id) && !arguments.numbers.contains(id))
      return call.refuse(CUDNN_STATUS_BAD_PARAM, "tensor {} has no pointer", id);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t needApart(const CudnnCall &call, const OperationGraph &graph, const Arguments &arguments,
                        uint64_t workspace, uint64_t workspaceBytes) {
  std::set<int64_t> written;
  for (const Node &node : graph.nodes)
    written.insert(node.result);
  std::vector<Extent> extents{{-1, workspace, workspace + workspaceBytes, true}};
  for (const auto &[id, address] : arguments.addresses) {
    const Tensor &tensor = graph.tensor(id);
    const uint64_t bytes = static_cast<uint64_t>(tensor.hull()) * bytesOf(tensor.type);
    extents.push_back({id, address, address + bytes, written.contains(id)});
  }
  for (const Extent &one : extents)
    for (const Extent &other : extents)
      if (one.id != other.id && one.isWritten && one.overlaps(other))
        return call.refuse(CUDNN_STATUS_BAD_PARAM, "tensors {} and {} overlap (-1 is the workspace)", one.id,
                           other.id);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t enqueue(const CudnnCall &call, CUstream stream, std::shared_ptr<const OperationGraph> graph,
                      Arguments arguments, uint64_t workspace, uint64_t workspaceBytes) {
  const std::string what = fmt::format("{} of {} heads, {} queries, {} keys",
                                       graph->isBackward ? "gradient of attention" : "attention",
                                       graph->heads, graph->queries, graph->keys);
  auto use = std::make_shared<WorkspaceUse>(workspace, workspaceBytes);
  CUresult result = emulatorEnqueue(stream, what, [use] { return use->begin(); });
  if (result == CUDA_SUCCESS)
    result = emulatorEnqueue(stream, what,
                             [use, graph, arguments = std::move(arguments)]() -> std::optional<std::string> {
                               if (auto spoilt = use->end())
                                 return spoilt;
                               return interpret(*graph, arguments);
                             });
  return result == CUDA_SUCCESS ? CUDNN_STATUS_SUCCESS
                                : call.refuse(CUDNN_STATUS_EXECUTION_FAILED,
                                              "the stream refuses work: result {}", static_cast<int>(result));
}

} // namespace

} // namespace trainc::emulator

using namespace trainc::emulator;

extern "C" {

cudnnStatus_t CUDNNWINAPI cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t planHandle,
                                              cudnnBackendDescriptor_t packHandle) {
  return cudnnEntry("cudnnBackendExecute", [&](CudnnCall &call) {
    std::shared_ptr<CudnnHandleState> state;
    std::shared_ptr<Descriptor> plan, pack;
    TRAINC_CUDNN(call.need(call.library.handles, handle, state));
    TRAINC_CUDNN(needFinal(call, planHandle, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, plan));
    TRAINC_CUDNN(needFinal(call, packHandle, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, pack));
    Arguments arguments;
    TRAINC_CUDNN(readArguments(call, *plan->graph, *pack, arguments));
    const auto workspace =
        reinterpret_cast<uint64_t>(pack->one<void *>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, nullptr));
    const auto bytes = static_cast<uint64_t>(plan->engine->workspace);
    if (workspace == 0 || workspace % kWorkspaceAlignment != 0)
      return call.refuse(CUDNN_STATUS_BAD_PARAM_NULL_POINTER,
                         "a workspace of {} bytes at {:#x}, expected one at a multiple of {}", bytes,
                         workspace, kWorkspaceAlignment);
    TRAINC_CUDNN(needApart(call, *plan->graph, arguments, workspace, bytes));
    return enqueue(call, state->stream, plan->graph, std::move(arguments), workspace, bytes);
  });
}

} // extern "C"
