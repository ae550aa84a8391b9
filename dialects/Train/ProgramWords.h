// Settings of compilation, each declared once: its word in train.program, its option of `trainc compile`, its
// values, its help. Free of MLIR, so that command lines can be parsed without it.
#pragma once

#include "dialects/Train/Limits.h"

#include <string>
#include <string_view>

namespace trainc::train {

/// Kind of a setting's value.
enum class ValueKind {
  Number, ///< a whole number from `least` to `most`
  Bytes,  ///< a number of bytes above 0, such as 16GiB
  Choice, ///< one of `values`
  Words,  ///< a comma-separated subset of `values`
  Names,  ///< comma-separated names of blocks or parameters
  Shares, ///< comma-separated percentages, each with an optional count: 48x15,30
  Truth,  ///< true or false
  Wrap    ///< units of parameters; see #train.sharding
};

/// One setting. `batch B x T` in train.program sets `micro_batch` and `seq_len`.
struct ProgramWord {
  std::string_view word = {};
  std::string_view option = {}; ///< of `trainc compile`; empty if there is none
  ValueKind kind = ValueKind::Number;
  bool ofSharding = false; ///< whether it is a word of `sharding(...)`
  std::string_view values =
      {}; ///< placeholder of the option's value in the help; for a choice, its words separated by |
  int64_t least = 0, most = INT64_MAX;
  std::string_view otherwise = {}; ///< default value; empty if there is none
  std::string_view derived = {};   ///< source of the default if it is not a constant
  std::string_view help = {};
  /// For words of sharding: the minimum zero_stage with an effect, and a phrase about the stages below it.
  int64_t fromStage = 0;
  std::string_view idle = {};
  bool ofFp16 = false;        ///< whether it has an effect in fp16 only
  bool ofPrecision = false;   ///< whether it is a word of `precision bf16 (...)`
  bool ofCheckpoints = false; ///< whether it has an effect with activation_checkpointing full and budget only
  bool ofOffload = false;     ///< whether it has an effect with offload only
};

inline constexpr ProgramWord kProgramWords[] = {
    {.word = "micro_batch",
     .option = "--micro-batch",
     .values = "N",
     .least = 1,
     .most = kMaxBatch,
     .help = "Samples per micro-batch and rank"},
    {.word = "seq_len",
     .option = "--seq-len",
     .values = "N",
     .least = 1,
     .most = kMaxLength,
     .otherwise = "none",
     .help = "Tokens per sample"},
    {.word = "ranks",
     .option = "--ranks",
     .values = "N",
     .least = 1,
     .most = kMaxRanks,
     .otherwise = "1",
     .help = "Processes that train together, each on its own samples"},
    {.word = "zero_stage",
     .option = "--zero-stage",
     .values = "N",
     .least = 0,
     .most = kMaxZeroStage,
     .otherwise = "0",
     .help = "What is sharded over ranks: nothing (0), optimizer states (1), gradients too (2), parameters\n"
             "too (3); all stages are the same program on one rank"},
    {.word = "wrap",
     .option = "--wrap",
     .kind = ValueKind::Wrap,
     .ofSharding = true,
     .values = "blocks|NAME,...|N|model",
     .otherwise = "blocks",
     .help = "Unit of gathering and reducing parameters: each outermost block (blocks), each use of the\n"
             "blocks NAME, blocks with at least N parameters, or the whole model (model); default: blocks"},
    {.word = "reshard_after_forward",
     .option = "--reshard-after-forward",
     .kind = ValueKind::Truth,
     .ofSharding = true,
     .values = "true|false",
     .otherwise = "true",
     .help = "With --zero-stage=3: free gathered parameters after the forward and gather them again for the\n"
             "backward; default: true",
     .fromStage = 3,
     .idle = "shards no parameters"},
    {.word = "max_reuse_distance",
     .option = "--max-reuse-distance",
     .ofSharding = true,
     .values = "N",
     .otherwise = "0",
     .help = "With --zero-stage=3: keep gathered parameters, instead of gathering them again, if fewer than\n"
             "N elements of parameters are used in between; default: 0",
     .fromStage = 3,
     .idle = "shards no parameters"},
    {.word = "prefetch",
     .option = "--prefetch",
     .ofSharding = true,
     .values = "N",
     .most = kMaxPrefetch,
     .otherwise = "1",
     .help = "With --zero-stage=3: number of units gathered ahead, at most 32; default: 1",
     .fromStage = 3,
     .idle = "shards no parameters"},
    {.word = "max_live",
     .option = "--max-live-parameters",
     .ofSharding = true,
     .values = "N",
     .otherwise = "no limit",
     .help = "With --zero-stage=3: gather ahead only while at most N elements are gathered; default: no\n"
             "limit",
     .fromStage = 3,
     .idle = "shards no parameters"},
    {.word = "gathers_in_flight",
     .option = "--limit-all-gathers",
     .ofSharding = true,
     .values = "N",
     .least = 1,
     .most = kMaxPrefetch,
     .otherwise = "2",
     .help = "With --zero-stage=3: maximum number of gathers in flight, 1 to 32; default: 2",
     .fromStage = 3,
     .idle = "shards no parameters"},
    {.word = "persist_below",
     .option = "--param-persistence-threshold",
     .ofSharding = true,
     .values = "N",
     .derived = "10 times the model's width",
     .help = "With --zero-stage=3: parameters of fewer elements are not sharded; default: 10 H, where H is\n"
             "the model's width, the most frequent size among its parameters' dimensions",
     .fromStage = 3,
     .idle = "shards no parameters"},
    {.word = "reduce_bucket",
     .option = "--reduce-bucket-size",
     .ofSharding = true,
     .values = "N",
     .derived = "the square of the model's width",
     .help = "Gradients of several units are reduced in one collective up to N elements; default: H * H"},
    {.word = "gather_bucket",
     .option = "--allgather-bucket-size",
     .ofSharding = true,
     .values = "N",
     .derived = "the square of the model's width",
     .help = "Parameters of several units are gathered in one collective up to N elements; default: H * H",
     .fromStage = 1,
     .idle = "gathers nothing"},
    {.word = "hybrid_shard",
     .option = "--hybrid-shard",
     .ofSharding = true,
     .values = "N",
     .least = 2,
     .most = kMaxRanks,
     .derived = "all ranks",
     .help = "Shard states within groups of N ranks, and replicate them across groups; default: shard over\n"
             "all ranks",
     .fromStage = 1,
     .idle = "shards no states"},
    {.word = "sync",
     .option = "--sync-gradients",
     .kind = ValueKind::Choice,
     .ofSharding = true,
     .values = "micro_step|step",
     .derived = "zero_stage",
     .help = "Reduce gradients over ranks after every micro-batch (the default from --zero-stage=2 on) or\n"
             "once a step, which needs memory for unsharded gradients"},
    {.word = "reproducible",
     .option = "--reproducible",
     .kind = ValueKind::Choice,
     .ofSharding = true,
     .values = "plan|ranks",
     .otherwise = "plan",
     .help = "Promise the same bits for the same plan (plan), or on any number of ranks that gives each 1,\n"
             "2, 4, ... of a step's micro-batches (ranks), which costs memory and time; default: plan"},
    {.word = "accumulate",
     .option = "--accumulate",
     .values = "N",
     .least = 1,
     .most = kMaxAccumulate,
     .otherwise = "1",
     .help = "Micro-batches per step"},
    {.word = "eval_batch",
     .option = "--eval-batch",
     .values = "N",
     .least = 1,
     .most = kMaxBatch,
     .derived = "micro_batch",
     .help = "Samples per evaluation batch; default: as --micro-batch"},
    {.word = "steps", .values = "N", .least = 1, .most = kMaxSteps, .otherwise = "none"},
    {.word = "memory_limit",
     .option = "--memory-limit",
     .kind = ValueKind::Bytes,
     .values = "SIZE",
     .least = 1,
     .otherwise = "none",
     .help = "Maximum bytes of a process that runs the plan, e.g. 16GiB; with --target=cuda, of GPU memory.\n"
             "Chooses stage, offload groups, checkpointing and micro-batches if they are not given, and\n"
             "takes the fastest plan that fits"},
    {.word = "reserve_memory",
     .option = "--reserve-memory",
     .kind = ValueKind::Bytes,
     .values = "SIZE",
     .least = 1,
     .most = kMaxReserve,
     .otherwise = "none",
     .help = "With --target=cuda: bytes of GPU memory within --memory-limit that are reserved for the\n"
             "driver's context, libraries and graphs; default: 640MiB, on several ranks 1152MiB"},
    {.word = "host_memory",
     .option = "--host-memory",
     .kind = ValueKind::Bytes,
     .values = "SIZE",
     .least = 1,
     .otherwise = "none",
     .help = "With --target=cuda: maximum bytes of host memory that all ranks of a node may use for\n"
             "offloading; default: the memory of the reference machine (--gpu)"},
    {.word = "fp32_products",
     .option = "--fp32-products",
     .kind = ValueKind::Choice,
     .values = "fma|bf16x3|tf32",
     .otherwise = "fma",
     .help = "Arithmetic of fp32 matrix products: fma on every CPU; bf16x3, as accurate and faster, on CPUs\n"
             "with AMX; or tf32, factors rounded to 11 bits, on tensor cores of GPUs"},
    {.word = "library_calls",
     .option = "--library-calls",
     .kind = ValueKind::Choice,
     .values = "none|plain|products|attention|all",
     .otherwise = "of the target",
     .help =
         "Ops that are executed by the device's libraries instead of generated code. The default of GPUs\n"
         "is products and attention; the gradient of attention needs compute capability 9 or 10: values\n"
         "attention and all, and a --gpu of that kind. plain leaves biases, activations and sums beside\n"
         "products to kernels. The default of CPUs is none; on CPUs library calls are slow and for tests"},
    {.word = "activation_checkpointing",
     .option = "--activation-checkpointing",
     .kind = ValueKind::Choice,
     .values = "none|selective|full|budget",
     .otherwise = "none",
     .help = "What the backward recomputes instead of keeping it from the forward: nothing (none), all but\n"
             "matrix products and attention (selective), everything inside blocks (full), or what costs the\n"
             "least time so that the plan fits into --memory-limit (budget)"},
    {.word = "checkpoint_blocks",
     .option = "--checkpoint-blocks",
     .kind = ValueKind::Names,
     .values = "NAME,...",
     .otherwise = "outermost",
     .help = "With full and budget: blocks whose uses are recomputed; default: the outermost uses of all\n"
             "blocks (outermost)",
     .ofCheckpoints = true},
    {.word = "checkpoint_stride",
     .option = "--checkpoint-stride",
     .values = "K",
     .least = 1,
     .most = kMaxLength,
     .otherwise = "1",
     .help = "With full and budget: recompute only the first of every K uses of these blocks; default: 1",
     .ofCheckpoints = true},
    {.word = "checkpoint_keep",
     .option = "--checkpoint-keep",
     .kind = ValueKind::Shares,
     .values = "[COUNTx]PERCENT,...",
     .otherwise = "0",
     .help = "With full: percentage of each use's bytes that is kept, most expensive recomputation first;\n"
             "the last number is for all further uses. 100 keeps all, and the default, 0, nothing; 12x15\n"
             "means 15 for twelve uses",
     .ofCheckpoints = true},
    {.word = "checkpoint_rest",
     .option = "--checkpoint-rest",
     .kind = ValueKind::Choice,
     .values = "none|selective",
     .otherwise = "none",
     .help = "With full: what is recomputed outside these uses and of what they keep: nothing (none), or\n"
             "what is cheap (selective); default: none",
     .ofCheckpoints = true},
    {.word = "target",
     .option = "--target",
     .kind = ValueKind::Choice,
     .values = "cpu|cuda",
     .otherwise = "cpu",
     .help = "Processors that the plan runs on: x86-64 CPUs, or NVIDIA GPUs from compute capability 8.0 on"},
    {.word = "cpu",
     .option = "--cpu",
     .kind = ValueKind::Words,
     .values = "all|native|x86-64-v3|x86-64-v4|x86-64-v4-bf16|x86-64-v4-amx",
     .otherwise = "all",
     .help = "CPUs that the plan has machine code for: all, those like this one (native), or the named\n"
             "levels, separated by commas; fewer levels compile faster"},
    {.word = "gpu",
     .option = "--gpu",
     .kind = ValueKind::Choice,
     .values = "h100-sxm|h100-pcie|h200|a100|a100-40gb",
     .otherwise = "none",
     .help = "With --target=cuda: the GPU for which trainc optimizes and predicts step times. The plan runs\n"
             "on other GPUs too (--gpu-levels), unless it has cuDNN's gradient of attention, which needs a\n"
             "named GPU of compute capability 9. Default: the rates of h100-sxm, and a plan for every GPU"},
    {.word = "gpu_levels",
     .option = "--gpu-levels",
     .kind = ValueKind::Words,
     .values = "all|none|sm_80|sm_90|sm_100",
     .otherwise = "all",
     .help = "With --target=cuda: GPU generations that the plan has machine code for, separated by commas;\n"
             "all others compile its PTX when a run starts; fewer levels compile faster"},
    {.word = "precision",
     .option = "--precision",
     .kind = ValueKind::Choice,
     .values = "fp32|bf16|fp16",
     .otherwise = "fp32",
     .help = "Type in which the step computes: fp32, or bf16 or fp16 for ops that lose no accuracy that\n"
             "matters (matrix products, attention, activations), with parameters and their update in fp32;\n"
             "fp16 scales the loss; default: fp32"},
    {.word = "params",
     .option = "--param-type",
     .kind = ValueKind::Choice,
     .values = "f32|bf16",
     .otherwise = "f32",
     .help = "Type of the parameters: f32, with a copy in the compute type, or, with --precision=bf16, bf16\n"
             "alone with stochastic rounding of updates; default: f32",
     .ofPrecision = true},
    {.word = "reduce",
     .option = "--reduce-type",
     .kind = ValueKind::Choice,
     .values = "f32|bf16|f16",
     .otherwise = "f32",
     .help = "Type in which ranks send gradients; sums are in f32; default: f32",
     .ofPrecision = true},
    {.word = "buffers",
     .option = "--buffer-type",
     .kind = ValueKind::Choice,
     .values = "f32|bf16|f16",
     .otherwise = "f32",
     .help = "Type in which the step computes with floating-point columns of the data; default: f32",
     .ofPrecision = true},
    {.word = "keep",
     .option = "--keep-f32",
     .kind = ValueKind::Names,
     .values = "PATTERN,...",
     .otherwise = "none",
     .help = "Parameters whose names match, with * for any text, are read in f32, and ops that read them\n"
             "compute in f32; default: none",
     .ofPrecision = true},
    {.word = "products",
     .option = "--product-type",
     .kind = ValueKind::Choice,
     .values = "bf16|fp8",
     .otherwise = "that of --precision",
     .help = "With --precision=bf16: type of the training step's matrix products: bf16, or fp8 with a scale\n"
             "for each matrix, on GPUs of compute capability 8.9 and higher; default: that of --precision",
     .ofPrecision = true},
    {.word = "eval_precision",
     .option = "--eval-precision",
     .kind = ValueKind::Choice,
     .values = "fp32|bf16|fp16",
     .derived = "precision",
     .help = "Type in which evaluation computes; default: as --precision"},
    {.word = "optimizer_states",
     .option = "--optimizer-states",
     .kind = ValueKind::Choice,
     .values = "f32|bf16",
     .otherwise = "f32",
     .help =
         "Type of the optimizer's moments; they are computed in f32, and stochastically rounded to bf16;\n"
         "default: f32"},
    {.word = "offload",
     .option = "--offload",
     .kind = ValueKind::Words,
     .values = "none|optimizer|gradients|parameters|activations|hidden_activations",
     .otherwise = "none",
     .help =
         "States kept outside the device's memory while they are not in use, separated by commas: the\n"
         "optimizer's moments, accumulated gradients, parameters, activations that the backward reads\n"
         "late, or only the activations whose copies overlap with computation (hidden_activations); bits\n"
         "do not change"},
    {.word = "offload_to",
     .option = "--offload-to",
     .kind = ValueKind::Choice,
     .values = "disk|host",
     .otherwise = "of the target",
     .help = "With --offload: disk, the default of CPUs, or the memory of a GPU's host, the default of GPUs",
     .ofOffload = true},
    {.word = "offload_group",
     .option = "--offload-group",
     .kind = ValueKind::Bytes,
     .values = "SIZE",
     .least = 4096,
     .otherwise = "16MiB",
     .help =
         "With --offload: bytes of states that are fetched and updated together, while the next group is\n"
         "fetched; default: 16MiB, or a 1024th of a rank's offloaded states if that is more",
     .ofOffload = true},
    {.word = "offload_update",
     .option = "--offload-update",
     .kind = ValueKind::Choice,
     .values = "device|host",
     .otherwise = "device",
     .help =
         "With --offload=optimizer in host memory: whether the GPU fetches the moments and updates them,\n"
         "or the host's cores update them in place, and gradients and parameters are copied; default:\n"
         "device",
     .ofOffload = true},
    {.word = "skipped_steps",
     .option = "--skipped-steps",
     .kind = ValueKind::Choice,
     .values = "hold|advance",
     .otherwise = "hold",
     .help = "With --precision=fp16: whether a step that overflows holds the learning-rate schedule or\n"
             "advances it; default: hold",
     .ofFp16 = true},
    {.word = "loss_scale",
     .option = "--loss-scale",
     .values = "N",
     .most = kMaxLossScale,
     .otherwise = "0",
     .help = "With --precision=fp16: factor of the loss that keeps small gradients from vanishing; 0, the\n"
             "default: the run finds and adapts it",
     .ofFp16 = true},
    {.word = "loss_scale_init",
     .option = "--loss-scale-init",
     .values = "N",
     .least = 1,
     .most = kMaxLossScale,
     .otherwise = "65536",
     .help = "With --precision=fp16: the scale of the first step; default: 65536",
     .ofFp16 = true},
    {.word = "loss_scale_window",
     .option = "--loss-scale-window",
     .values = "N",
     .least = 1,
     .most = kMaxLossScaleWindow,
     .otherwise = "2000",
     .help = "With --precision=fp16: consecutive steps without overflow after which the scale doubles;\n"
             "default: 2000",
     .ofFp16 = true},
    {.word = "loss_scale_hysteresis",
     .option = "--loss-scale-hysteresis",
     .values = "N",
     .least = 1,
     .most = kMaxLossScaleWindow,
     .otherwise = "1",
     .help = "With --precision=fp16: consecutive steps with overflow after which the scale halves; default:\n"
             "1",
     .ofFp16 = true},
    {.word = "loss_scale_min",
     .option = "--loss-scale-min",
     .values = "N",
     .least = 1,
     .most = kMaxLossScale,
     .otherwise = "1",
     .help = "With --precision=fp16: minimum of the scale; default: 1",
     .ofFp16 = true},
};

/// A setting that was given: its word, and its value in the syntax of options.
struct GivenSetting {
  std::string word, value;
};

} // namespace trainc::train
