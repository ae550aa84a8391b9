// The settings that say how a program is compiled, each declared once: its word in train.program, its option
// of `trainc compile`, its values, its help. Free of MLIR, which command lines are parsed without.
#pragma once

#include "dialects/Train/Limits.h"

#include <string>
#include <string_view>

namespace trainc::train {

/// What a setting's value is.
enum class ValueKind {
  Number, ///< a whole number from `least` to `most`
  Bytes,  ///< a number of bytes above 0, such as 16GiB
  Choice, ///< one of `values`
  Words,  ///< some of `values`, with commas between them
  Names,  ///< of blocks or parameters, with commas between them
  Shares, ///< percentages with commas between them, each with how often it counts before it: 48x15,30
  Truth,  ///< true or false
  Wrap    ///< units of parameters; see #train.sharding
};

/// One setting. `batch B x T` in train.program sets `micro_batch` and `seq_len`.
struct ProgramWord {
  std::string_view word = {};
  std::string_view option = {}; ///< of `trainc compile`; empty: none
  ValueKind kind = ValueKind::Number;
  bool ofSharding = false; ///< a word of `sharding(...)`
  std::string_view values =
      {}; ///< what help shows as the option's value; of a choice the words, with | between them
  int64_t least = 0, most = INT64_MAX;
  std::string_view otherwise = {}; ///< the value where nobody gives one; empty: none
  std::string_view derived = {};   ///< what decides in that case, if it is not always the same
  std::string_view help = {};
  /// Of sharding: the zero_stage from which on the word does something, and what the stages below do not do.
  int64_t fromStage = 0;
  std::string_view idle = {};
  bool ofFp16 = false;        ///< does nothing in another precision
  bool ofPrecision = false;   ///< a word of `precision bf16 (...)`
  bool ofCheckpoints = false; ///< does something with activation_checkpointing full and budget alone
  bool ofOffload = false;     ///< does nothing without offload
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
     .help = "Processes that train together, each on samples of its own"},
    {.word = "zero_stage",
     .option = "--zero-stage",
     .values = "N",
     .least = 0,
     .most = kMaxZeroStage,
     .otherwise = "0",
     .help = "What each rank keeps a part of: nothing (0), the optimizer's states (1), gradients too (2),\n"
             "parameters too (3); on one rank all stages are the same program"},
    {.word = "wrap",
     .option = "--wrap",
     .kind = ValueKind::Wrap,
     .ofSharding = true,
     .values = "blocks|NAME,...|N|model",
     .otherwise = "blocks",
     .help = "Which parameters ranks gather and reduce together: those of each outermost block\n"
             "(blocks), of each use of the blocks NAME, of blocks with at least N parameters, or all\n"
             "(model); default: blocks"},
    {.word = "reshard_after_forward",
     .option = "--reshard-after-forward",
     .kind = ValueKind::Truth,
     .ofSharding = true,
     .values = "true|false",
     .otherwise = "true",
     .help = "With --zero-stage=3: drop gathered parameters after the forward and gather them again\n"
             "for the backward; default: true",
     .fromStage = 3,
     .idle = "divides no parameters"},
    {.word = "max_reuse_distance",
     .option = "--max-reuse-distance",
     .ofSharding = true,
     .values = "N",
     .otherwise = "0",
     .help = "With --zero-stage=3: gathered parameters stay, instead of being gathered again, where\n"
             "parameters of fewer elements than N are computed with between; default: 0",
     .fromStage = 3,
     .idle = "divides no parameters"},
    {.word = "prefetch",
     .option = "--prefetch",
     .ofSharding = true,
     .values = "N",
     .most = kMaxPrefetch,
     .otherwise = "1",
     .help = "With --zero-stage=3: units of parameters gathered ahead, at most 32; default: 1",
     .fromStage = 3,
     .idle = "divides no parameters"},
    {.word = "max_live",
     .option = "--max-live-parameters",
     .ofSharding = true,
     .values = "N",
     .otherwise = "no limit",
     .help = "With --zero-stage=3: gather ahead only while at most N elements are gathered; default: no\n"
             "limit",
     .fromStage = 3,
     .idle = "divides no parameters"},
    {.word = "gathers_in_flight",
     .option = "--limit-all-gathers",
     .ofSharding = true,
     .values = "N",
     .least = 1,
     .most = kMaxPrefetch,
     .otherwise = "2",
     .help = "With --zero-stage=3: gathers of parameters in flight at most, 1 to 32; default: 2",
     .fromStage = 3,
     .idle = "divides no parameters"},
    {.word = "persist_below",
     .option = "--param-persistence-threshold",
     .ofSharding = true,
     .values = "N",
     .derived = "10 times the model's width",
     .help = "With --zero-stage=3: parameters of fewer elements stay whole on every rank; default: 10 H,\n"
             "where H is the model's width, the size that most parameters have among their dimensions",
     .fromStage = 3,
     .idle = "divides no parameters"},
    {.word = "reduce_bucket",
     .option = "--reduce-bucket-size",
     .ofSharding = true,
     .values = "N",
     .derived = "the square of the model's width",
     .help = "Sums of the gradients of several units are one collective as long as they have at most N\n"
             "elements; default: H * H"},
    {.word = "gather_bucket",
     .option = "--allgather-bucket-size",
     .ofSharding = true,
     .values = "N",
     .derived = "the square of the model's width",
     .help = "The same for gathers; default: H * H",
     .fromStage = 1,
     .idle = "gathers nothing"},
    {.word = "hybrid_shard",
     .option = "--hybrid-shard",
     .ofSharding = true,
     .values = "N",
     .least = 2,
     .most = kMaxRanks,
     .derived = "all ranks",
     .help = "Divide states among groups of N ranks, each of which has all of them; default: among\n"
             "all ranks",
     .fromStage = 1,
     .idle = "divides no states"},
    {.word = "sync",
     .option = "--sync-gradients",
     .kind = ValueKind::Choice,
     .ofSharding = true,
     .values = "micro_step|step",
     .derived = "zero_stage",
     .help = "Sum gradients over ranks after every micro-batch (the default from --zero-stage=2 on) or\n"
             "once a step, which needs memory for whole ones"},
    {.word = "reproducible",
     .option = "--reproducible",
     .kind = ValueKind::Choice,
     .ofSharding = true,
     .values = "plan|ranks",
     .otherwise = "plan",
     .help = "The same bits for the same plan (plan), or on any number of ranks that gives each 1, 2, 4,\n"
             "... of a step's micro-batches (ranks), which takes memory and time; default: plan"},
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
     .help = "Samples per evaluation batch; default: the micro-batch"},
    {.word = "steps", .values = "N", .least = 1, .most = kMaxSteps, .otherwise = "none"},
    {.word = "memory_limit",
     .option = "--memory-limit",
     .kind = ValueKind::Bytes,
     .values = "SIZE",
     .least = 1,
     .otherwise = "none",
     .help = "Bytes a process that runs the plan may take, e.g. 16GiB; with --target=cuda, of the GPU's.\n"
             "Decides what nobody gave of stage, groups, checkpointing and micro-batches, and takes the\n"
             "fastest plan that fits"},
    {.word = "reserve_memory",
     .option = "--reserve-memory",
     .kind = ValueKind::Bytes,
     .values = "SIZE",
     .least = 1,
     .most = kMaxReserve,
     .otherwise = "none",
     .help = "With --target=cuda: bytes of the GPU that --memory-limit leaves to the driver's context,\n"
             "libraries and graphs; default: 640MiB, on several ranks 1152MiB"},
    {.word = "host_memory",
     .option = "--host-memory",
     .kind = ValueKind::Bytes,
     .values = "SIZE",
     .least = 1,
     .otherwise = "none",
     .help = "With --target=cuda: bytes of a node's host that its ranks together may take for what is\n"
             "offloaded; default: what the machine of reference has (--gpu)"},
    {.word = "fp32_products",
     .option = "--fp32-products",
     .kind = ValueKind::Choice,
     .values = "fma|bf16x3|tf32",
     .otherwise = "fma",
     .help = "How matrix products of fp32 numbers are computed: fma on every CPU; bf16x3, as accurate and\n"
             "faster, on CPUs with AMX; or tf32, of numbers rounded to 11 bits, on tensor cores of\n"
             "GPUs"},
    {.word = "library_calls",
     .option = "--library-calls",
     .kind = ValueKind::Choice,
     .values = "none|plain|products|attention|all",
     .otherwise = "of the target",
     .help = "What is left to the device's libraries, in place of generated code. GPUs leave products and\n"
             "attention. Its gradient needs compute capability 9 or 10: attention and all leave it, and a\n"
             "--gpu of that kind. plain leaves products and attention, with biases, activations and sums\n"
             "beside products to kernels. CPUs leave nothing: there it is plain code, slow and for tests"},
    {.word = "activation_checkpointing",
     .option = "--activation-checkpointing",
     .kind = ValueKind::Choice,
     .values = "none|selective|full|budget",
     .otherwise = "none",
     .help = "What the backward computes again instead of keeping it from the forward: nothing (none),\n"
             "what is cheap (selective), all but matrix products and attention; all inside blocks (full);\n"
             "or what costs the least time so that the plan fits into --memory-limit (budget)"},
    {.word = "checkpoint_blocks",
     .option = "--checkpoint-blocks",
     .kind = ValueKind::Names,
     .values = "NAME,...",
     .otherwise = "outermost",
     .help = "With full and budget: the blocks whose uses the backward computes again; default: the\n"
             "outermost uses of all blocks (outermost)",
     .ofCheckpoints = true},
    {.word = "checkpoint_stride",
     .option = "--checkpoint-stride",
     .values = "K",
     .least = 1,
     .most = kMaxLength,
     .otherwise = "1",
     .help = "With full and budget: of every K uses of these blocks the first alone; default: 1",
     .ofCheckpoints = true},
    {.word = "checkpoint_keep",
     .option = "--checkpoint-keep",
     .kind = ValueKind::Shares,
     .values = "[COUNTx]PERCENT,...",
     .otherwise = "0",
     .help = "With full: the share of the bytes inside each of these uses, the last number for all that\n"
             "follow, which is kept all the same, what takes the longest to compute again first;\n"
             "100 keeps all, and the default, 0, nothing; 12x15 says 15 for twelve uses",
     .ofCheckpoints = true},
    {.word = "checkpoint_rest",
     .option = "--checkpoint-rest",
     .kind = ValueKind::Choice,
     .values = "none|selective",
     .otherwise = "none",
     .help = "With full: what is computed again outside these uses and of what they keep: nothing (none),\n"
             "or what is cheap (selective); default: none",
     .ofCheckpoints = true},
    {.word = "target",
     .option = "--target",
     .kind = ValueKind::Choice,
     .values = "cpu|cuda",
     .otherwise = "cpu",
     .help = "What the plan runs on: x86-64 CPUs, or NVIDIA's GPUs from compute capability 8.0 on"},
    {.word = "cpu",
     .option = "--cpu",
     .kind = ValueKind::Words,
     .values = "all|native|x86-64-v3|x86-64-v4|x86-64-v4-bf16|x86-64-v4-amx",
     .otherwise = "all",
     .help = "Which CPUs the plan has machine code for: all, those like this one (native), or of the\n"
             "named levels, with commas between them; fewer compile faster"},
    {.word = "gpu",
     .option = "--gpu",
     .kind = ValueKind::Choice,
     .values = "h100-sxm|h100-pcie|h200|a100|a100-40gb",
     .otherwise = "none",
     .help =
         "With --target=cuda: the GPU whose rates decide what is worth while, and predict a step's\n"
         "seconds; the plan runs on others too (--gpu-levels), unless it has cuDNN's gradient of\n"
         "attention, which a named GPU of compute capability 9 gets. Without a name trainc takes the rates\n"
         "of h100-sxm, and the plan runs on every GPU"},
    {.word = "gpu_levels",
     .option = "--gpu-levels",
     .kind = ValueKind::Words,
     .values = "all|none|sm_80|sm_90|sm_100",
     .otherwise = "all",
     .help = "With --target=cuda: which generations of GPUs the plan has machine code for, with commas\n"
             "between them; all others compile its PTX when a run starts; fewer compile faster"},
    {.word = "precision",
     .option = "--precision",
     .kind = ValueKind::Choice,
     .values = "fp32|bf16|fp16",
     .otherwise = "fp32",
     .help = "What the step computes with: fp32, or bf16 or fp16 where that costs no accuracy that counts\n"
             "(matrix products, attention, activations), with parameters and their update in fp32; fp16\n"
             "scales the loss; default: fp32"},
    {.word = "params",
     .option = "--param-type",
     .kind = ValueKind::Choice,
     .values = "f32|bf16",
     .otherwise = "f32",
     .help = "In which type the run holds parameters: f32, with a copy in the type that it computes with,\n"
             "or with --precision=bf16 bf16 alone, which updates round at random; default: f32",
     .ofPrecision = true},
    {.word = "reduce",
     .option = "--reduce-type",
     .kind = ValueKind::Choice,
     .values = "f32|bf16|f16",
     .otherwise = "f32",
     .help = "In which type ranks send each other gradients; each adds them up in f32; default: f32",
     .ofPrecision = true},
    {.word = "buffers",
     .option = "--buffer-type",
     .kind = ValueKind::Choice,
     .values = "f32|bf16|f16",
     .otherwise = "f32",
     .help = "In which type the step computes with columns of numbers in the data; default: f32",
     .ofPrecision = true},
    {.word = "keep",
     .option = "--keep-f32",
     .kind = ValueKind::Names,
     .values = "PATTERN,...",
     .otherwise = "none",
     .help = "Parameters whose names match, with * for any text, are read in f32, and the ops that read\n"
             "them compute in f32; default: none",
     .ofPrecision = true},
    {.word = "products",
     .option = "--product-type",
     .kind = ValueKind::Choice,
     .values = "bf16|fp8",
     .otherwise = "that of --precision",
     .help = "With --precision=bf16: in which type the training step multiplies matrices: bf16, or fp8 with\n"
             "scales of its own for each matrix, on GPUs of compute capability 8.9 and higher;\n"
             "default: that of --precision",
     .ofPrecision = true},
    {.word = "eval_precision",
     .option = "--eval-precision",
     .kind = ValueKind::Choice,
     .values = "fp32|bf16|fp16",
     .derived = "precision",
     .help = "What evaluation computes with; default: as --precision"},
    {.word = "optimizer_states",
     .option = "--optimizer-states",
     .kind = ValueKind::Choice,
     .values = "f32|bf16",
     .otherwise = "f32",
     .help = "In which type the run holds the optimizer's moments; it computes them in f32, and rounds at\n"
             "random to bf16; default: f32"},
    {.word = "offload",
     .option = "--offload",
     .kind = ValueKind::Words,
     .values = "none|optimizer|gradients|parameters|activations|hidden_activations",
     .otherwise = "none",
     .help = "What lies outside the device's memory while a run does not compute with it, with commas\n"
             "between: the optimizer's moments, sums of gradients over micro-batches, parameters,\n"
             "activations that the backward reads late, or those of them whose copies lie beside\n"
             "computation (hidden_activations); bits do not change"},
    {.word = "offload_to",
     .option = "--offload-to",
     .kind = ValueKind::Choice,
     .values = "disk|host",
     .otherwise = "of the target",
     .help =
         "With --offload: where that is: on disk, the default of CPUs, or in the memory of a GPU's host,\n"
         "the default of GPUs",
     .ofOffload = true},
    {.word = "offload_group",
     .option = "--offload-group",
     .kind = ValueKind::Bytes,
     .values = "SIZE",
     .least = 4096,
     .otherwise = "16MiB",
     .help = "With --offload: bytes of states that are fetched and updated together, while the next group\n"
             "is fetched; default: 16MiB, or a 1024th of all that a rank has there, if that is more",
     .ofOffload = true},
    {.word = "offload_update",
     .option = "--offload-update",
     .kind = ValueKind::Choice,
     .values = "device|host",
     .otherwise = "device",
     .help =
         "With --offload=optimizer in the memory of a GPU's host: whether the GPU fetches the moments and\n"
         "updates, or the host's cores update where they lie, and gradients and parameters move;\n"
         "default: device",
     .ofOffload = true},
    {.word = "skipped_steps",
     .option = "--skipped-steps",
     .kind = ValueKind::Choice,
     .values = "hold|advance",
     .otherwise = "hold",
     .help = "With --precision=fp16: whether a step that overflows holds the schedule of the learning rate\n"
             "or advances it; default: hold",
     .ofFp16 = true},
    {.word = "loss_scale",
     .option = "--loss-scale",
     .values = "N",
     .most = kMaxLossScale,
     .otherwise = "0",
     .help = "With --precision=fp16: what the loss is multiplied by, so that small gradients do not\n"
             "vanish; 0, the default: found and kept up by the run itself",
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
     .help = "With --precision=fp16: steps without overflow after which the scale doubles; default: 2000",
     .ofFp16 = true},
    {.word = "loss_scale_hysteresis",
     .option = "--loss-scale-hysteresis",
     .values = "N",
     .least = 1,
     .most = kMaxLossScaleWindow,
     .otherwise = "1",
     .help = "With --precision=fp16: how many steps in a row overflow before the scale halves; default: 1",
     .ofFp16 = true},
    {.word = "loss_scale_min",
     .option = "--loss-scale-min",
     .values = "N",
     .least = 1,
     .most = kMaxLossScale,
     .otherwise = "1",
     .help = "With --precision=fp16: the scale does not shrink below it; default: 1",
     .ofFp16 = true},
};

/// A setting that somebody gave: its word, and its value as an option has it.
struct GivenSetting {
  std::string word, value;
};

} // namespace trainc::train
