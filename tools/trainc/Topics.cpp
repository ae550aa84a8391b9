#include "tools/trainc/Topics.h"

#include "plan/settings/settings.h"

namespace trainc {

namespace {

constexpr train::Theme kOfMemory[] = {train::Theme::Memory, train::Theme::Checkpointing,
                                      train::Theme::Offload};
constexpr train::Theme kOfOffload[] = {train::Theme::Offload};
constexpr train::Theme kOfRanks[] = {train::Theme::Sharding};
constexpr train::Theme kOfPrecision[] = {train::Theme::Precision, train::Theme::LossScale};

constexpr Topic kTopics[] = {
    {"start", "from a model to text that it continues",
     R"(  trainc compile examples/gpt/small.mlir -o small.plan
  trainc tokenize --tokenizer=bytes book.txt -o tokens.bin
  trainrun small.plan --data tokens.bin --steps 500 --checkpoint-dir run1
  trainrun small.plan --resume=run1 --tokenizer=bytes --generate="In the beginning"

A model and its training program are one text (.mlir). trainc compiles it to a plan, which holds all
decisions: kernels, memory, the order of everything. trainrun runs the plan and needs nothing else.

See docs/tutorials/first-model.md, docs/reference/language.md.
)"},
    {"data", "token files, tables of tensors, tokenizers",
     R"(  trainc tokenize --tokenizer=gpt2/tokenizer.json 'texts/*.txt' -o tokens.bin
  trainrun gpt.plan --data tokens.bin --eval-data val.bin --eval-every 100 --steps 1000

trainc tokenize writes raw tokens, and beside them tokens.bin.json, which names the tokenizer.
trainrun also reads token files of llm.c, and safetensors with a tensor for each column of the
model, one row a sample. Which samples a step sees depends on --seed, the data and the size of the
global batch, not on the number of ranks.

See docs/reference/data-formats.md, docs/reference/tokenizers.md.
)"},
    {"memory", "fitting a model into a limit", R"(  trainc estimate gpt.mlir --memory=16GiB
  trainc compile gpt.mlir --memory-limit=16GiB

The peak of a rank is known before the run, to the byte. estimate compares strategies. With
--memory-limit the compiler takes the fastest that fits. Each choice can also be given:
  --micro-batch, --accumulate          smaller batches, added up
  --activation-checkpointing           activations are recomputed instead of kept
  --zero-stage with --ranks            each rank keeps a shard of the states
  --offload                            states and activations are kept in host memory or on disk
  --precision, --optimizer-states      numbers of fewer bytes

See docs/how-to/fit-into-memory.md, docs/how-to/checkpoint-activations.md, docs/how-to/offload.md.
)",
     kOfMemory},
    {"ranks", "several processes that train together",
     R"(  trainc compile gpt.mlir --ranks=4 --zero-stage=3 -o gpt4.plan
  trainrun gpt4.plan --nproc-per-node=4 --data tokens.bin --steps 1000

A plan is for a number of ranks. On one host trainrun starts them. On several hosts mpirun, srun or
torchrun do: leave --nproc-per-node out then. --zero-stage says what ranks keep shards of: nothing
(0), the optimizer's states (1), gradients too (2), parameters too (3). A checkpoint can be resumed
at any number of ranks.

See docs/how-to/start-several-ranks.md, docs/explanation/sharding.md, docs/reference/sharding.md.
)",
     kOfRanks},
    {"offload", "keeping states and activations in host memory or on disk",
     R"(  trainc compile gpt.mlir --offload=optimizer -o gpt.plan
  trainrun gpt.plan --data tokens.bin --steps 1000 --offload-dir=/mnt/nvme

--offload says what is kept outside the device's memory while it is not in use. Copies overlap with
computation, and bits do not change. With --memory-limit the compiler decides what to offload.

See docs/how-to/offload.md, docs/explanation/offload.md.
)",
     kOfOffload},
    {"precision", "bf16, fp16, fp8 and what stays in fp32", R"(  trainc compile gpt.mlir --precision=bf16
  trainc compile gpt.mlir --precision=fp16 --loss-scale=0

The run holds parameters in fp32, unless --param-type says otherwise, and computes in the precision.
With fp16 the loss is scaled; the run finds the scale. --keep-f32 names parameters that stay in
fp32. --eval-precision is for evaluation, --reduce-type for sums over ranks, --product-type=fp8 for
matrix products.

See docs/explanation/precision.md, docs/reference/precision-types.md, docs/reference/fp8.md.
)",
     kOfPrecision},
    {"checkpoints", "saving, resuming, weights of others",
     R"(  trainrun gpt.plan --data tokens.bin --steps 1000 --checkpoint-dir run1 --checkpoint-every 100
  trainrun gpt.plan --data tokens.bin --steps 2000 --checkpoint-dir run1 --resume
  trainc consolidate run1 -o model.safetensors

The last step always writes a checkpoint, and so does a run that SIGTERM ends. A resumed run has the
same bits as one that was not interrupted. Checkpoints are safetensors with the names of the
model's parameters, and Hugging Face loads those of a model that has its names. --init reads weights
by names, with --init-missing for parameters that a file lacks.

See docs/reference/checkpoints.md, docs/how-to/resume-elsewhere.md,
docs/how-to/start-from-weights.md.
)"},
    {"training", "running a plan on data",
     R"(  trainrun gpt.plan --data train.bin --eval-data eval.bin --eval-every 100 --steps 1000 \
    --checkpoint-dir run1 --metrics run1.jsonl

The plan decides what is computed, trainrun --help lists what the run decides. The optimizer, its
learning rate and the schedule are lines of train.program in the model's text. trainc counts steps;
an epoch has samples / (samples per step) of them.

See docs/reference/trainrun-options.md, docs/reference/program.md, docs/reference/metrics.md.
)"},
    {"generate", "continuing a text with trained weights",
     R"(  trainrun gpt.plan --resume=run1 --tokenizer=bytes --generate="In the beginning" --temperature 0.8
  trainrun gpt.plan --init=gpt2 --generate="In the beginning" --max-tokens 50

The weights are those of a checkpoint (--resume) or of files (--init). Without --tokenizer, trainrun
takes the one that the data was made with. A compile says if a plan cannot generate.

See docs/how-to/generate-text.md.
)"},
};

} // namespace

std::span<const Topic> helpTopics() { return kTopics; }

std::string explanationOf(const Topic &topic) {
  constexpr size_t kWidth = 100; // of a terminal
  std::string text(topic.text);
  for (const train::Theme theme : topic.themes) {
    std::string line = std::string(train::headingOf(theme)) + ":";
    text += '\n';
    for (const train::Setting *setting : train::kSettings) {
      if (setting->theme != theme || !setting->hasOption)
        continue;
      if (line.size() + 1 + setting->option().size() > kWidth) {
        text += line + '\n';
        line = " ";
      }
      line += " " + setting->option();
    }
    text += line + '\n';
  }
  return text;
}

} // namespace trainc
