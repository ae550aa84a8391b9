#include "runtime/device/cuda/cudnn_attention.h"

#include "plan/facts/dtype.h"
#include "plan/facts/library_calls.h"
#include "runtime/device/cuda/attention_graph.h"

#include <algorithm>
#include <limits>

namespace trainc {

namespace {

/// Alignment of all operands, in bytes.
constexpr uint64_t kOperandAlignment = 16;

CudnnAttentionSizes sizesOf(const fb::Attention &call) {
  return {.isBackward = call.pass() == fb::AttentionPass::Backward,
          .batch = call.batch(),
          .queries = call.queries(),
          .keys = call.keys(),
          .heads = call.heads(),
          .keyHeads = call.key_heads(),
          .headSize = call.head_size(),
          .valueSize = call.value_size(),
          .isCausal = call.causal(),
          .isShort = call.values() != fb::DType::F32,
          .hasSegments = call.segments() != nullptr,
          .hasLimit = call.limit() != nullptr};
}

std::string attentionText(const fb::Attention &call) {
  return fmt::format("{} of {}, batch {}, {} queries, {} keys, {} heads of {} and {}, {} key heads{}{}{}",
                     call.pass() == fb::AttentionPass::Backward ? "a gradient" : "attention",
                     dtypeName(call.values()), call.batch(), call.queries(), call.keys(), call.heads(),
                     call.head_size(), call.value_size(), call.key_heads(), call.causal() ? ", causal" : "",
                     call.segments() ? ", segments" : "", call.limit() ? ", limit" : "");
}

/// Fails if cuDNN's documentation does not list such an attention.
Status checkAttention(const fb::Attention &call, std::span<const Address> operands) {
  if (!isCudnnAttention(sizesOf(call)))
    return invalidInput(
        "attention: expected one that cuDNN has (bf16 or f16, heads in multiples of 8 up to 128, no "
        "segments, no limit, no more queries than keys if causal, no gradient of one query and one key), "
        "found {}; compile the model again with this version of trainc",
        attentionText(call));
  for (const Address &each : operands)
    if ((each.base.value() | static_cast<uint64_t>(each.stride)) % kOperandAlignment != 0)
      return invalidInput(
          "attention: expected operands at multiples of {} bytes, as cuDNN needs, found one at "
          "{:#x} in steps of {}",
          kOperandAlignment, each.base.value(), each.stride);
  if (call.workspace_bytes() < cudnnSumsBytes(sizesOf(call)))
    return invalidInput("attention: expected a workspace of {} bytes or more, found {}; compile the model "
                        "again with this version of trainc",
                        cudnnSumsBytes(sizesOf(call)), call.workspace_bytes());
  return {};
}

Result<std::string> engineText(const CudnnDescriptor &configuration, const CudnnDescriptor &engine) {
  TRAINC_ASSIGN_OR_RETURN(const int64_t index, engine.get<int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX));
  TRAINC_ASSIGN_OR_RETURN(const std::vector<CudnnDescriptor> knobs,
                          configuration.getCopies(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                                                  CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR,
                                                  CUDNN_KNOB_TYPE_COUNTS));
  std::string text = fmt::format("engine {}", index);
  for (const CudnnDescriptor &knob : knobs) {
    TRAINC_ASSIGN_OR_RETURN(const auto type,
                            knob.get<cudnnBackendKnobType_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE));
    TRAINC_ASSIGN_OR_RETURN(const int64_t value, knob.get<int64_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE));
    text += fmt::format("{} {}={}", &knob == &knobs.front() ? ", knobs" : "", static_cast<int>(type), value);
  }
  return text;
}

Result<bool> repeatsBits(const CudnnDescriptor &engine) {
  TRAINC_ASSIGN_OR_RETURN(const auto notes,
                          engine.getAll<cudnnBackendNumericalNote_t>(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                                                                     CUDNN_NUMERICAL_NOTE_TYPE_COUNT));
  return std::ranges::find(notes, CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC) == notes.end();
}

} // namespace

CudnnAttention::CudnnAttention(const fb::Attention &call)
    : call_(&call), sizes_(sizesOf(call)),
      constants_(std::make_unique<Constants>(Constants{.scale = call.scale(),
                                                       .hidden = -std::numeric_limits<float>::infinity(),
                                                       .queries = static_cast<int32_t>(call.queries()),
                                                       .keys = static_cast<int32_t>(call.keys())})) {}

Result<CudnnAttention> CudnnAttention::create(const CudnnHandle &handle, const CudaContext &context,
                                              const fb::Attention &call, std::span<const Address> operands) {
  TRAINC_RETURN_IF_ERROR(checkAttention(call, operands));
  CudnnAttention attention(call);
  TRAINC_RETURN_IF_ERROR(attention.describe(handle));
  TRAINC_RETURN_IF_ERROR(attention.chooseEngine(handle, context));
  return attention;
}

Status CudnnAttention::describe(const CudnnHandle &handle) {
  CudnnGraphBuilder builder;
  const cudnnDataType_t values = call_->values() == fb::DType::BF16 ? CUDNN_DATA_BFLOAT16 : CUDNN_DATA_HALF;
  if (sizes_.isBackward)
    buildAttentionGradient(builder, sizes_, values);
  else
    buildAttention(builder, sizes_, values);
  TRAINC_ASSIGN_OR_RETURN(graph_, std::move(builder).finish(handle));
  return {};
}

/// Takes the first suitable engine of the library's heuristics, which depends only on library, GPU and graph.
Status CudnnAttention::chooseEngine(const CudnnHandle &handle, const CudaContext &context) {
  if (sizes_.isBackward && context.major() == 10)
    TRAINC_RETURN_IF_ERROR(tryFixedEngine(handle));
  for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK})
    TRAINC_RETURN_IF_ERROR(tryEngines(handle, mode));
  if (!plan_.empty())
    return {};
  const std::string version = vendorVersionText(cudnn().cudnnGetVersion.raw());
  if (minBytes_ != ~uint64_t{0})
    return invalidInput("attention: expected an engine of cuDNN {} that does with a workspace of {} bytes, "
                        "found none below {} bytes for {}; compile the model with --library-calls=products",
                        version, call_->workspace_bytes(), minBytes_, attentionText(*call_));
  return invalidInput("attention: expected one that cuDNN {} can do and that repeats its bits, found {}; "
                      "compile the model with --library-calls=products",
                      version, attentionText(*call_));
}

Status CudnnAttention::tryEngines(const CudnnHandle &handle, cudnnBackendHeurMode_t mode) {
  if (!plan_.empty())
    return {};
  TRAINC_ASSIGN_OR_RETURN(CudnnDescriptor heuristic,
                          CudnnDescriptor::create(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR));
  TRAINC_RETURN_IF_ERROR(heuristic.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph().get()));
  TRAINC_RETURN_IF_ERROR(heuristic.set(CUDNN_ATTR_ENGINEHEUR_MODE, mode));
  if (!heuristic.finalize().ok())
    return {}; // no engine in this mode
  TRAINC_ASSIGN_OR_RETURN(const int64_t count, heuristic.count(CUDNN_ATTR_ENGINEHEUR_RESULTS));
  TRAINC_ASSIGN_OR_RETURN(
      std::vector<CudnnDescriptor> configurations,
      heuristic.getCopies(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, count));
  for (CudnnDescriptor &each : configurations)
    TRAINC_RETURN_IF_ERROR(tryEngine(handle, std::move(each)));
  return {};
}

/// On GPUs of capability 10 the heuristics return nondeterministic engines. Engine 5 is deterministic, with a
/// separate pass for the queries' gradients (since 9.18; its knobs were renamed in 9.23).
Status CudnnAttention::tryFixedEngine(const CudnnHandle &handle) {
  constexpr int64_t kEngine = 5;
  using Knob = std::pair<cudnnBackendKnobType_t, int64_t>;
  static constexpr Knob kKnobs[] = {{CUDNN_KNOB_TYPE_KERNEL_CFG, 31}, {CUDNN_KNOB_TYPE_STAGES, 2}};
  static constexpr Knob kLaterKnobs[] = {{CUDNN_KNOB_TYPE_TILE_M, 3},     {CUDNN_KNOB_TYPE_TILE_N, 2},
                                         {CUDNN_KNOB_TYPE_KERNEL_CFG, 2}, {CUDNN_KNOB_TYPE_STREAM_K, 0},
                                         {CUDNN_KNOB_TYPE_TILE_CGA_M, 0}, {CUDNN_KNOB_TYPE_STAGES, 2}};
  const bool isLater = cudnn().cudnnGetVersion.raw() >= 92300;
  std::vector<CudnnDescriptor> choices;
  std::vector<cudnnBackendDescriptor_t> chosen;
  for (const auto &[type, value] : isLater ? std::span<const Knob>(kLaterKnobs) : std::span(kKnobs)) {
    TRAINC_ASSIGN_OR_RETURN(CudnnDescriptor choice,
                            CudnnDescriptor::create(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR));
    if (!choice.set(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, type).ok() ||
        !choice.set(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, value).ok() || !choice.finalize().ok())
      return {}; // this version lacks the knob
    chosen.push_back(choice.get());
    choices.push_back(std::move(choice));
  }
  TRAINC_ASSIGN_OR_RETURN(CudnnDescriptor engine, CudnnDescriptor::create(CUDNN_BACKEND_ENGINE_DESCRIPTOR));
  TRAINC_RETURN_IF_ERROR(engine.set(CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph().get()));
  TRAINC_ASSIGN_OR_RETURN(CudnnDescriptor configuration,
                          CudnnDescriptor::create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR));
  if (!engine.set(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, kEngine).ok() || !engine.finalize().ok() ||
      !configuration.set(CUDNN_ATTR_ENGINECFG_ENGINE, engine.get()).ok() ||
      !configuration
           .set(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, std::span<const cudnnBackendDescriptor_t>(chosen),
                CUDNN_TYPE_BACKEND_DESCRIPTOR)
           .ok() ||
      !configuration.finalize().ok())
    return {}; // this version lacks the engine
  return tryEngine(handle, std::move(configuration));
}

/// Takes the engine unless one was taken before.
Status CudnnAttention::tryEngine(const CudnnHandle &handle, CudnnDescriptor configuration) {
  if (!plan_.empty())
    return {};
  TRAINC_ASSIGN_OR_RETURN(
      const std::vector<CudnnDescriptor> engines,
      configuration.getCopies(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR, 1));
  if (engines.empty())
    return {};
  TRAINC_ASSIGN_OR_RETURN(const bool repeats, repeatsBits(engines.front()));
  if (!repeats)
    return {};
  TRAINC_ASSIGN_OR_RETURN(CudnnDescriptor plan,
                          CudnnDescriptor::create(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR));
  TRAINC_RETURN_IF_ERROR(plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, handle.get()));
  TRAINC_RETURN_IF_ERROR(plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration.get()));
  if (!plan.finalize().ok())
    return {}; // listed, but not for this graph
  TRAINC_ASSIGN_OR_RETURN(const int64_t wanted, plan.get<int64_t>(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE));
  const uint64_t bytes = cudnnSumsBytes(sizes_) + static_cast<uint64_t>(wanted);
  if (bytes > call_->workspace_bytes()) {
    minBytes_ = std::min(minBytes_, bytes);
    return {};
  }
  TRAINC_ASSIGN_OR_RETURN(engine_, engineText(configuration, engines.front()));
  plan_.push_back(std::move(configuration));
  plan_.push_back(std::move(plan));
  return {};
}

Status CudnnAttention::enqueue(const CudnnHandle &handle, std::span<const Address> operands,
                               uint64_t iteration) {
  std::vector<int64_t> ids;
  std::vector<void *> places;
  const auto add = [&](int64_t id, void *place) {
    ids.push_back(id);
    places.push_back(place);
  };
  for (uint32_t i = 0; i < kAttentionWorkspace; ++i)
    if (operands[i].base.value() != 0)
      add(i, operands[i].at(iteration).pointer());
  std::byte *workspace = nullptr;
  if (call_->workspace_bytes() > 0)
    workspace = operands[kAttentionWorkspace].at(iteration).pointer();
  add(kAttentionScale, &constants_->scale);
  if (sizes_.isCausal) {
    add(kAttentionHidden, &constants_->hidden);
    if (sizes_.keys != sizes_.queries) {
      add(kAttentionKeys, &constants_->keys);
      add(kAttentionQueries, &constants_->queries);
    }
  }
  if (sizes_.isBackward) {
    add(kAttentionOne, &constants_->one);
    add(kAttentionSums, workspace);
    workspace += cudnnSumsBytes(sizes_);
  }
  TRAINC_ASSIGN_OR_RETURN(CudnnDescriptor pack,
                          CudnnDescriptor::create(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR));
  TRAINC_RETURN_IF_ERROR(pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, std::span<const int64_t>(ids)));
  TRAINC_RETURN_IF_ERROR(
      pack.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, std::span<void *const>(places), CUDNN_TYPE_VOID_PTR));
  TRAINC_RETURN_IF_ERROR(
      pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, static_cast<void *>(workspace), CUDNN_TYPE_VOID_PTR));
  TRAINC_RETURN_IF_ERROR(pack.finalize());
  return cudnn().cudnnBackendExecute(handle.get(), plan_.back().get(), pack.get());
}

} // namespace trainc
