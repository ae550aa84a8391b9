#include "test/emulator/libcudnn/finalization.h"

#include "test/emulator/libcuda/extension.h"
#include "test/emulator/libcudnn/engines.h"

#include <set>

namespace trainc::emulator {

namespace {

EngineContext engineContext() { return {.major = emulatorCapability() / 10, .version = emulatedVersion()}; }

cudnnStatus_t needHandle(const CudnnCall &call, const Descriptor &descriptor,
                         cudnnBackendAttributeName_t name) {
  std::shared_ptr<CudnnHandleState> handle;
  return call.need(call.library.handles, descriptor.one<cudnnHandle_t>(name), handle);
}

cudnnStatus_t finalizeGraph(const CudnnCall &call, Descriptor &descriptor) {
  TRAINC_CUDNN(needHandle(call, descriptor, CUDNN_ATTR_OPERATIONGRAPH_HANDLE));
  auto graph =
      graphOf(descriptor.attributes.at(CUDNN_ATTR_OPERATIONGRAPH_OPS).descriptors, emulatorCapability() / 10);
  if (const auto *refusal = std::get_if<Refusal>(&graph))
    return call.refuse(*refusal);
  descriptor.graph = std::make_shared<OperationGraph>(std::move(std::get<OperationGraph>(graph)));
  return CUDNN_STATUS_SUCCESS;
}

std::shared_ptr<Descriptor> engineDescriptor(const std::shared_ptr<const OperationGraph> &graph,
                                             const Engine &engine) {
  auto made = std::make_shared<Descriptor>(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  made->isFinal = true;
  made->graph = graph;
  made->engine = std::make_shared<Engine>(engine);
  made->put(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, std::vector<int64_t>{engine.index});
  std::vector<cudnnBackendNumericalNote_t> notes{CUDNN_NUMERICAL_NOTE_TENSOR_CORE};
  if (!engine.repeatsBits)
    notes.push_back(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC);
  made->put(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, notes);
  return made;
}

std::shared_ptr<Descriptor> configurationOf(const std::shared_ptr<const OperationGraph> &graph,
                                            const Engine &engine) {
  auto made = std::make_shared<Descriptor>(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
  made->isFinal = true;
  made->graph = graph;
  made->engine = std::make_shared<Engine>(engine);
  made->attributes[CUDNN_ATTR_ENGINECFG_ENGINE] = {
      CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, {}, {engineDescriptor(graph, engine)}};
  AttributeValue choices{.type = CUDNN_TYPE_BACKEND_DESCRIPTOR, .bytes = {}, .descriptors = {}};
  for (const auto &[type, value] : engine.knobs) {
    auto choice = std::make_shared<Descriptor>(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
    choice->isFinal = true;
    choice->put(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, std::vector{type});
    choice->put(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, std::vector{value});
    choices.descriptors.push_back(std::move(choice));
    ++choices.count;
  }
  made->attributes[CUDNN_ATTR_ENGINECFG_KNOB_CHOICES] = std::move(choices);
  return made;
}

cudnnStatus_t finalizeHeuristic(const CudnnCall &call, Descriptor &descriptor) {
  descriptor.graph = descriptor.other(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH)->graph;
  const auto mode = descriptor.one<cudnnBackendHeurMode_t>(CUDNN_ATTR_ENGINEHEUR_MODE);
  AttributeValue results{.type = CUDNN_TYPE_BACKEND_DESCRIPTOR, .bytes = {}, .descriptors = {}};
  for (const Engine &engine : enginesFor(*descriptor.graph, mode, emulatorCapability() / 10)) {
    results.descriptors.push_back(configurationOf(descriptor.graph, engine));
    ++results.count;
  }
  if (results.count == 0)
    return call.decline(CUDNN_STATUS_NOT_SUPPORTED, "no engine in mode {}", static_cast<int>(mode));
  descriptor.attributes[CUDNN_ATTR_ENGINEHEUR_RESULTS] = std::move(results);
  return CUDNN_STATUS_SUCCESS;
}

/// Knobs are set by the configuration.
cudnnStatus_t finalizeEngine(const CudnnCall &call, Descriptor &descriptor) {
  descriptor.graph = descriptor.other(CUDNN_ATTR_ENGINE_OPERATION_GRAPH)->graph;
  const auto index = descriptor.one<int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX);
  const auto engine = engineOf(*descriptor.graph, index, {}, engineContext());
  if (!engine)
    return call.decline(CUDNN_STATUS_NOT_SUPPORTED, "no engine {} for the graph", index);
  descriptor = *engineDescriptor(descriptor.graph, *engine);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t finalizeConfiguration(const CudnnCall &call, Descriptor &descriptor) {
  const auto engine = descriptor.other(CUDNN_ATTR_ENGINECFG_ENGINE);
  std::vector<Knob> knobs;
  if (descriptor.has(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES))
    for (const auto &choice : descriptor.attributes.at(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES).descriptors)
      knobs.emplace_back(choice->one<cudnnBackendKnobType_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE),
                         choice->one<int64_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE));
  const auto chosen = engineOf(*engine->graph, engine->engine->index, knobs, engineContext());
  if (!chosen)
    return call.decline(CUDNN_STATUS_NOT_SUPPORTED, "no engine {} for the graph", engine->engine->index);
  descriptor = *configurationOf(engine->graph, *chosen);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t finalizePlan(const CudnnCall &call, Descriptor &descriptor) {
  TRAINC_CUDNN(needHandle(call, descriptor, CUDNN_ATTR_EXECUTION_PLAN_HANDLE));
  const auto configuration = descriptor.other(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
  descriptor.graph = configuration->graph;
  descriptor.engine = configuration->engine;
  if (!descriptor.engine->runs)
    return call.decline(CUDNN_STATUS_NOT_SUPPORTED, "engine {} does not run the graph",
                        descriptor.engine->index);
  descriptor.put(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64,
                 std::vector{descriptor.engine->workspace});
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t finalizePack(const CudnnCall &call, const Descriptor &descriptor) {
  const auto ids = descriptor.all<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  const auto pointers = descriptor.all<void *>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  if (ids.size() != pointers.size())
    return call.refuse(CUDNN_STATUS_BAD_PARAM, "{} ids for {} pointers", ids.size(), pointers.size());
  if (std::set(ids.begin(), ids.end()).size() != ids.size())
    return call.refuse(CUDNN_STATUS_BAD_PARAM_DUPLICATED_ENTRIES, "an id is there twice");
  return CUDNN_STATUS_SUCCESS;
}

} // namespace

cudnnStatus_t finalize(const CudnnCall &call, Descriptor &descriptor) {
  switch (descriptor.type) {
  case CUDNN_BACKEND_TENSOR_DESCRIPTOR:
    if (const auto refusal = check(tensorOf(descriptor)))
      return call.refuse(*refusal);
    return CUDNN_STATUS_SUCCESS;
  case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
    return finalizeGraph(call, descriptor);
  case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
    return finalizeHeuristic(call, descriptor);
  case CUDNN_BACKEND_ENGINE_DESCRIPTOR:
    return finalizeEngine(call, descriptor);
  case CUDNN_BACKEND_ENGINECFG_DESCRIPTOR:
    return finalizeConfiguration(call, descriptor);
  case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
    return finalizePlan(call, descriptor);
  case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR:
    return finalizePack(call, descriptor);
  default: // attributes are checked by the objects that use it
    return CUDNN_STATUS_SUCCESS;
  }
}

} // namespace trainc::emulator
