// Every setting of a program, declared once: its name in train.program and as an option of `trainc compile`,
// its values, default and help, and the key by which passes and the runtime read it.
#pragma once

#include "plan/settings/limits.h"
#include "plan/settings/setting.h"

namespace trainc::train {

// --- Step ---

inline constexpr Number kMicroBatch({.name = "micro_batch",
                                     .values = "N",
                                     .min = 1,
                                     .max = kMaxBatch,
                                     .help = "Samples per micro-batch and rank"});
inline constexpr Number kSeqLen({.name = "seq_len",
                                 .values = "N",
                                 .min = 1,
                                 .max = kMaxLength,
                                 .defaultValue = "none",
                                 .help = "Tokens per sample"});
inline constexpr Number kAccumulate({.name = "accumulate",
                                     .values = "N",
                                     .min = 1,
                                     .max = kMaxAccumulate,
                                     .defaultValue = "1",
                                     .help = "Micro-batches per step and rank"});
inline constexpr Number kEvalBatch({.name = "eval_batch",
                                    .values = "N",
                                    .min = 1,
                                    .max = kMaxBatch,
                                    .derived = "micro_batch",
                                    .help = "Samples per evaluation batch; default: as --micro-batch"});
inline constexpr Number kGenerateBatch({.name = "generate_batch",
                                        .values = "N",
                                        .min = 1,
                                        .max = kMaxBatch,
                                        .defaultValue = "1",
                                        .help = "Texts that trainrun --generate and --prompts continue at "
                                                "once; each has a key-value cache"});
inline constexpr Number kSteps({.name = "steps",
                                .values = "N",
                                .min = 1,
                                .max = kMaxSteps,
                                .defaultValue = "none",
                                .help = "Steps of a run; trainrun --steps overrides it",
                                .hasOption = false});

// --- Sharding ---

inline constexpr Number kRanks({.name = "ranks",
                                .theme = Theme::Sharding,
                                .values = "N",
                                .min = 1,
                                .max = kMaxRanks,
                                .defaultValue = "1",
                                .help = "Processes that train together, each on its own samples"});
inline constexpr Number kZeroStage(
    {.name = "zero_stage",
     .theme = Theme::Sharding,
     .values = "N",
     .min = 0,
     .max = kMaxZeroStage,
     .defaultValue = "0",
     .help = "What is sharded over ranks: nothing (0), optimizer states (1), gradients too (2), parameters "
             "too (3); all stages are the same program on one rank"});
inline constexpr Text kWrap(
    ValueKind::Wrap,
    {.name = "wrap",
     .theme = Theme::Sharding,
     .values = "blocks|NAME,...|N|model",
     .defaultValue = "blocks",
     .help = "Unit of gathering and reducing parameters: each outermost block (blocks), each use of the "
             "blocks NAME, blocks with at least N parameters, or the whole model (model). All remaining "
             "parameters form one unit",
     .condition = Condition::FlatStates});
inline constexpr Choice<bool> kReshardAfterForward(
    true, {.name = "reshard_after_forward",
           .theme = Theme::Sharding,
           .values = "false|true",
           .defaultValue = "true",
           .help = "free gathered parameters after the forward and gather them again for the backward",
           .condition = Condition::ShardedParameters});
inline constexpr Number kMaxReuseDistance(
    {.name = "max_reuse_distance",
     .theme = Theme::Sharding,
     .values = "N",
     .defaultValue = "0",
     .help = "keep gathered parameters, instead of gathering them again, if fewer than N elements of "
             "parameters are used in between",
     .condition = Condition::ShardedParameters});
inline constexpr Number kPrefetch({.name = "prefetch",
                                   .theme = Theme::Sharding,
                                   .values = "N",
                                   .max = kMaxPrefetch,
                                   .defaultValue = "1",
                                   .help = "number of units gathered ahead, at most 32",
                                   .condition = Condition::ShardedParameters});
inline constexpr Number
    kMaxLiveParameters({.name = "max_live_parameters",
                        .theme = Theme::Sharding,
                        .values = "N",
                        .defaultValue = "none",
                        .help = "gather ahead only while at most N elements are gathered; default: no limit",
                        .condition = Condition::ShardedParameters});
inline constexpr Number kLimitAllGathers({.name = "limit_all_gathers",
                                          .theme = Theme::Sharding,
                                          .values = "N",
                                          .min = 1,
                                          .max = kMaxPrefetch,
                                          .defaultValue = "2",
                                          .help = "maximum number of gathers in flight, 1 to 32",
                                          .condition = Condition::ShardedParameters});
inline constexpr Number kParamPersistenceThreshold(
    {.name = "param_persistence_threshold",
     .theme = Theme::Sharding,
     .values = "N",
     .derived = "10 times the model's width",
     .help = "parameters of fewer elements are not sharded; default: 10 H, where H is the model's width, "
             "the most frequent size among its parameters' dimensions",
     .condition = Condition::ShardedParameters});
inline constexpr Number kReduceBucketSize(
    {.name = "reduce_bucket_size",
     .theme = Theme::Sharding,
     .values = "N",
     .derived = "the square of the model's width",
     .help = "Gradients of several units are reduced in one collective up to N elements; default: H * H, "
             "where H is the model's width",
     .condition = Condition::SeveralRanks});
inline constexpr Number kAllgatherBucketSize(
    {.name = "allgather_bucket_size",
     .theme = Theme::Sharding,
     .values = "N",
     .derived = "the square of the model's width",
     .help = "parameters of several units are gathered in one collective up to N elements; default: H * H, "
             "where H is the model's width",
     .condition = Condition::ShardedStates});
inline constexpr Number kHybridShard(
    {.name = "hybrid_shard",
     .theme = Theme::Sharding,
     .values = "N",
     .min = 2,
     .max = kMaxRanks,
     .derived = "all ranks",
     .help = "shard states within groups of N adjacent ranks, and replicate them across groups; default: "
             "shard over all ranks",
     .condition = Condition::ShardedStates});

enum class GradientSync { micro_step, step };
inline constexpr Choice kSyncGradients(
    GradientSync::step,
    {.name = "sync_gradients",
     .theme = Theme::Sharding,
     .values = "micro_step|step",
     .derived = "zero_stage",
     .help = "Reduce gradients over ranks after every micro-batch (the default from --zero-stage=2 on) or "
             "once a step, which needs memory for unsharded gradients",
     .condition = Condition::SeveralRanks});

/// Extent of the promise of equal bits.
enum class Reproducible { plan, ranks };
inline constexpr Choice kReproducible(
    Reproducible::ranks,
    {.name = "reproducible",
     .theme = Theme::Sharding,
     .values = "plan|ranks",
     .defaultValue = "plan",
     .help =
         "Promise the same bits for the same plan (plan), or on any number of ranks, if each gets a power "
         "of two of a step's micro-batches (ranks), which costs memory and time"});

// --- Memory ---

inline constexpr Bytes kMemoryLimit(
    {.name = "memory_limit",
     .theme = Theme::Memory,
     .values = "SIZE",
     .min = 1,
     .defaultValue = "none",
     .help = "Maximum bytes of a process that runs the plan, e.g. 16GiB; with --target=cuda, of GPU memory. "
             "Chooses stage, groups of ranks, offload, checkpointing, micro-batches and prefetch if they are "
             "not given, and takes the fastest plan that fits"});
inline constexpr Bytes kReserveMemory(
    {.name = "reserve_memory",
     .theme = Theme::Memory,
     .values = "SIZE",
     .min = 1,
     .max = kMaxReserve,
     .defaultValue = "none",
     .help = "bytes of GPU memory within --memory-limit that are reserved for the driver's context, "
             "libraries and graphs; default: 640MiB, on several ranks 1152MiB",
     .condition = Condition::DeviceMemory});
inline constexpr Bytes kHostMemory(
    {.name = "host_memory",
     .theme = Theme::Memory,
     .values = "SIZE",
     .min = 1,
     .defaultValue = "none",
     .help = "maximum bytes of host memory that all ranks of a node may use for offloading; default: the "
             "memory of the reference machine (--gpu)",
     .condition = Condition::DeviceMemory});

// --- Precision ---

/// Arithmetic of a program.
enum class Precision { fp32, bf16, fp16 };
/// Element type of stored or exchanged tensors.
enum class NumberType { f32, bf16, f16 };

inline constexpr Choice kPrecision(
    Precision::fp16,
    {.name = "precision",
     .theme = Theme::Precision,
     .values = "fp32|bf16|fp16",
     .defaultValue = "fp32",
     .help = "Type in which the step computes: fp32, or bf16 or fp16 for ops that lose no accuracy that "
             "matters (matrix products, attention, activations), with parameters and their update in fp32; "
             "fp16 scales the loss",
     .changesNumbers = true});
inline constexpr Choice kParamType(
    NumberType::bf16,
    {.name = "param_type",
     .theme = Theme::Precision,
     .values = "f32|bf16",
     .defaultValue = "f32",
     .help = "Type of the parameters: f32, with a copy in the compute type, or, with --precision=bf16, bf16 "
             "alone with stochastic rounding of updates",
     .changesNumbers = true});
inline constexpr Choice kReduceType(NumberType::f16,
                                    {.name = "reduce_type",
                                     .theme = Theme::Precision,
                                     .values = "f32|bf16|f16",
                                     .defaultValue = "f32",
                                     .help = "Type in which ranks send gradients; sums are in f32",
                                     .changesNumbers = true});
inline constexpr Text kKeepF32(
    ValueKind::Names,
    {.name = "keep_f32",
     .theme = Theme::Precision,
     .values = "PATTERN,...",
     .defaultValue = "none",
     .help = "Parameters whose names match, with * for any text, are read in f32, and ops that read them "
             "compute in f32",
     .changesNumbers = true});

enum class ProductType { bf16, fp8 };
inline constexpr Choice kProductType(
    ProductType::fp8,
    {.name = "product_type",
     .theme = Theme::Precision,
     .values = "bf16|fp8",
     .derived = "the type of --precision",
     .help = "With --precision=bf16: type of the training step's matrix products: bf16, or fp8 with a scale "
             "for each matrix, on GPUs of compute capability 8.9 and higher; default: that of --precision",
     .changesNumbers = true});
inline constexpr Choice
    kEvalPrecision(Precision::fp16, {.name = "eval_precision",
                                     .theme = Theme::Precision,
                                     .values = "fp32|bf16|fp16",
                                     .derived = "precision",
                                     .help = "Type in which evaluation computes; default: as --precision"});
inline constexpr Choice kOptimizerStates(
    NumberType::bf16,
    {.name = "optimizer_states",
     .theme = Theme::Precision,
     .values = "f32|bf16",
     .defaultValue = "f32",
     .help = "Type of the optimizer's moments; they are computed in f32, and stochastically rounded to bf16",
     .changesNumbers = true});

/// Arithmetic of matrix products of f32 numbers.
enum class Fp32Arithmetic { fma, bf16x3, tf32 };
inline constexpr Choice kFp32Products(
    Fp32Arithmetic::tf32,
    {.name = "fp32_products",
     .theme = Theme::Precision,
     .values = "fma|bf16x3|tf32",
     .defaultValue = "fma",
     .help = "Arithmetic of fp32 matrix products: fma on every CPU; bf16x3, as accurate and faster, on CPUs "
             "with AMX; or tf32, factors rounded to 11 bits, on tensor cores of GPUs"});

// --- Activation checkpointing ---

enum class Checkpointing { none, selective, full, budget };
inline constexpr Choice kActivationCheckpointing(
    Checkpointing::budget,
    {.name = "activation_checkpointing",
     .theme = Theme::Checkpointing,
     .values = "none|selective|full|budget",
     .defaultValue = "none",
     .help = "What the backward recomputes instead of keeping it from the forward: nothing (none), all but "
             "matrix products and attention (selective), everything inside blocks (full), or what costs the "
             "least time so that the plan fits into --memory-limit (budget)"});
inline constexpr Text
    kCheckpointBlocks(ValueKind::Names,
                      {.name = "checkpoint_blocks",
                       .theme = Theme::Checkpointing,
                       .values = "NAME,...",
                       .defaultValue = "outermost",
                       .help = "blocks whose uses are recomputed, or the outermost uses of all blocks "
                               "(outermost)",
                       .condition = Condition::Recomputation});
inline constexpr Text kCheckpointKeep(
    ValueKind::Shares,
    {.name = "checkpoint_keep",
     .theme = Theme::Checkpointing,
     .values = "[COUNTx]PERCENT,...",
     .defaultValue = "0",
     .help = "percentage of each use's bytes that is kept, most expensive recomputation first; the last "
             "number is for all further uses. 100 keeps all, and 0 nothing; 12x15 means 15 for twelve uses",
     .condition = Condition::FullRecomputation});
inline constexpr Choice kCheckpointRest(
    Checkpointing::selective,
    {.name = "checkpoint_rest",
     .theme = Theme::Checkpointing,
     .values = "none|selective",
     .defaultValue = "none",
     .help = "what is recomputed outside these uses and of what they keep: nothing (none), or what is "
             "cheap (selective)",
     .condition = Condition::FullRecomputation});

// --- Offload ---

/// Tensors that are offloaded.
enum class Offloaded { none, optimizer, gradients, parameters, activations, hidden_activations };
inline constexpr Words kOffload(
    Offloaded::hidden_activations,
    {.name = "offload",
     .theme = Theme::Offload,
     .values = "none|optimizer|gradients|parameters|activations|hidden_activations",
     .defaultValue = "none",
     .help = "States kept outside the device's memory while they are not in use, separated by commas: the "
             "optimizer's moments, accumulated gradients, parameters, activations that the backward reads "
             "late, or only the activations whose copies overlap with computation (hidden_activations); "
             "bits do not change"});

enum class OffloadTo { disk, host };
inline constexpr Choice
    kOffloadTo(OffloadTo::host,
               {.name = "offload_to",
                .theme = Theme::Offload,
                .values = "disk|host",
                .derived = "the kind of target",
                .help = "disk, or the memory of a GPU's host; default: disk for CPUs, host for GPUs",
                .condition = Condition::Offloading});
inline constexpr Bytes kOffloadGroup(
    {.name = "offload_group",
     .theme = Theme::Offload,
     .values = "SIZE",
     .min = 4096,
     .defaultValue = "16MiB",
     .help = "bytes of states that are fetched and updated together, while the next group is fetched; more "
             "by default if a 1024th of a rank's offloaded states is more",
     .condition = Condition::Offloading});

/// Processor that updates offloaded moments.
enum class OffloadUpdate { device, host };
inline constexpr Choice kOffloadUpdate(
    OffloadUpdate::host,
    {.name = "offload_update",
     .theme = Theme::Offload,
     .values = "device|host",
     .defaultValue = "device",
     .help = "whether the GPU fetches the moments and updates them, or the host's cores update them in "
             "place, and gradients and parameters are copied",
     .condition = Condition::OffloadedMoments});

// --- Loss scale ---

inline constexpr Number kLossScale({.name = "loss_scale",
                                    .theme = Theme::LossScale,
                                    .values = "N",
                                    .max = kMaxLossScale,
                                    .defaultValue = "0",
                                    .help = "factor of the loss that keeps small gradients from vanishing; "
                                            "0: the run finds and adapts it",
                                    .condition = Condition::Fp16,
                                    .changesNumbers = true});
inline constexpr Number kLossScaleInit({.name = "loss_scale_init",
                                        .theme = Theme::LossScale,
                                        .values = "N",
                                        .min = 1,
                                        .max = kMaxLossScale,
                                        .defaultValue = "65536",
                                        .help = "the scale of the first step",
                                        .condition = Condition::DynamicScale,
                                        .changesNumbers = true});

/// Effect of a step that overflows on the learning-rate schedule.
enum class SkippedSteps { hold, advance };
inline constexpr Choice
    kSkippedSteps(SkippedSteps::advance,
                  {.name = "skipped_steps",
                   .theme = Theme::LossScale,
                   .values = "hold|advance",
                   .defaultValue = "hold",
                   .help = "whether a step that overflows holds the learning-rate schedule or advances it",
                   .condition = Condition::DynamicScale,
                   .changesNumbers = true});

// --- Target ---

inline constexpr ConstantText kTargetWords = [] {
  ConstantText words;
  for (const TargetTraits &each : kTargets)
    words.add(&each == kTargets ? "" : "|").add(each.name);
  return words;
}();
inline constexpr ConstantText kTargetHelp = [] {
  ConstantText help;
  help.add("Processors that the plan runs on: ");
  for (const TargetTraits &each : kTargets)
    help.add(&each == kTargets ? "" : &each + 1 == std::end(kTargets) ? ", or " : ", ").add(each.help);
  return help;
}();
inline constexpr Text kTarget(ValueKind::Choice, {.name = "target",
                                                  .theme = Theme::Target,
                                                  .values = kTargetWords,
                                                  .defaultValue = kDefaultTarget.name,
                                                  .help = kTargetHelp});
template <typename Source> const TargetTraits &targetOf(const Source &source) {
  return *findTarget(kTarget.of(source));
}
inline constexpr Text
    kCpu(ValueKind::Words,
         {.name = "cpu",
          .theme = Theme::Target,
          .values = "all|native|x86-64-v3|x86-64-v4|x86-64-v4-bf16|x86-64-v4-amx",
          .defaultValue = "all",
          .help = "CPUs that the plan has machine code for: all, those like this one (native), or the named "
                  "levels, separated by commas; fewer levels compile faster"});
inline constexpr Text kGpu(
    ValueKind::Choice,
    {.name = "gpu",
     .theme = Theme::Target,
     .values = "h100-sxm|h100-pcie|h200|a100|a100-40gb",
     .defaultValue = "none",
     .help = "the GPU for which trainc optimizes and predicts step times. The plan runs on other GPUs too "
             "(--gpu-levels), unless it has cuDNN's gradient of attention, which needs a named GPU of "
             "compute capability 9. Without it: the rates of h100-sxm, and a plan for every GPU",
     .condition = Condition::ComputeCapability});
inline constexpr Text kGpuLevels(
    ValueKind::Words,
    {.name = "gpu_levels",
     .theme = Theme::Target,
     .values = "all|none|sm_80|sm_90|sm_100",
     .defaultValue = "all",
     .help = "GPU generations that the plan has machine code for, separated by commas; all others compile "
             "its PTX when a run starts; fewer levels compile faster",
     .condition = Condition::ComputeCapability});

/// Ops that libraries of the device execute.
enum class LibraryOps { none, plain, products, attention, all };
inline constexpr Choice kLibraryCalls(
    LibraryOps::all,
    {.name = "library_calls",
     .theme = Theme::Target,
     .values = "none|plain|products|attention|all",
     .derived = "the kind of target",
     .help =
         "Ops that are executed by the device's libraries instead of generated code. The gradient of "
         "attention needs compute capability 9 or 10: values attention and all, and a --gpu of that kind. "
         "plain leaves biases, activations and sums beside products to kernels. On CPUs library calls are "
         "slow and for tests; default: products and attention on GPUs, none on CPUs"});

// --- Adapters ---

inline constexpr Text
    kLora(ValueKind::Names,
          {.name = "lora",
           .theme = Theme::Adapters,
           .values = "PATTERN,...|all-linear",
           .defaultValue = "none",
           .help = "Linear layers that get a low-rank adapter (LoRA), by the ends of their names, with * for "
                   "any text; or all except the last (all-linear). All other parameters are frozen",
           .changesNumbers = true});
inline constexpr Number kLoraRank({.name = "lora_rank",
                                   .theme = Theme::Adapters,
                                   .values = "N",
                                   .min = 1,
                                   .max = kMaxLoraRank,
                                   .defaultValue = "8",
                                   .help = "rank of the adapters' products",
                                   .condition = Condition::Adapters,
                                   .changesNumbers = true});
inline constexpr Number
    kLoraAlpha({.name = "lora_alpha",
                .theme = Theme::Adapters,
                .values = "N",
                .min = 1,
                .max = kMaxLoraAlpha,
                .defaultValue = "8",
                .help = "scale of the adapters: their products are multiplied by lora_alpha / lora_rank",
                .condition = Condition::Adapters,
                .changesNumbers = true});
inline constexpr Choice<bool>
    kLoraRslora(true, {.name = "lora_rslora",
                       .theme = Theme::Adapters,
                       .values = "false|true",
                       .defaultValue = "false",
                       .help = "divide lora_alpha by the square root of lora_rank instead (rsLoRA)",
                       .condition = Condition::Adapters,
                       .changesNumbers = true});
inline constexpr Fraction
    kLoraDropout({.name = "lora_dropout",
                  .theme = Theme::Adapters,
                  .values = "P",
                  .defaultValue = "0",
                  .help = "probability with which training drops an input of an adapter",
                  .condition = Condition::Adapters,
                  .changesNumbers = true});
inline constexpr Text kLoraModulesToSave(
    ValueKind::Names,
    {.name = "lora_modules_to_save",
     .theme = Theme::Adapters,
     .values = "PATTERN,...",
     .defaultValue = "none",
     .help = "layers without an adapter whose parameters are trained all the same, such as a new head, by "
             "the ends of their names, with * for any text",
     .condition = Condition::Adapters,
     .changesNumbers = true});

/// All settings, in the order of models, reports and documentation.
inline constexpr const Setting *kSettings[] = {
    &kMicroBatch,
    &kSeqLen,
    &kRanks,
    &kZeroStage,
    &kWrap,
    &kReshardAfterForward,
    &kMaxReuseDistance,
    &kPrefetch,
    &kMaxLiveParameters,
    &kLimitAllGathers,
    &kParamPersistenceThreshold,
    &kReduceBucketSize,
    &kAllgatherBucketSize,
    &kHybridShard,
    &kSyncGradients,
    &kReproducible,
    &kAccumulate,
    &kEvalBatch,
    &kGenerateBatch,
    &kSteps,
    &kMemoryLimit,
    &kReserveMemory,
    &kHostMemory,
    &kFp32Products,
    &kLibraryCalls,
    &kActivationCheckpointing,
    &kCheckpointBlocks,
    &kCheckpointKeep,
    &kCheckpointRest,
    &kTarget,
    &kCpu,
    &kGpu,
    &kGpuLevels,
    &kPrecision,
    &kParamType,
    &kReduceType,
    &kKeepF32,
    &kProductType,
    &kEvalPrecision,
    &kOptimizerStates,
    &kOffload,
    &kOffloadTo,
    &kOffloadGroup,
    &kOffloadUpdate,
    &kSkippedSteps,
    &kLossScale,
    &kLossScaleInit,
    &kLora,
    &kLoraRank,
    &kLoraAlpha,
    &kLoraRslora,
    &kLoraDropout,
    &kLoraModulesToSave,
};

/// Returns the setting with this name; null if there is none.
constexpr const Setting *findSetting(std::string_view name) {
  for (const Setting *setting : kSettings)
    if (setting->name == name)
      return setting;
  return nullptr;
}

} // namespace trainc::train
