// The training program and a step's entries and state.

#ifndef TRAINC_TRAIN_OPS
#define TRAINC_TRAIN_OPS

include "dialects/Interfaces/Enums.td"
include "dialects/Plan/PlanEnums.td"
include "dialects/Train/TrainEnums.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Train_Dialect : Dialect {
  let name = "train";
  let cppNamespace = "::trainc::train";
  let summary = "The training program, and the entries and state of a step";
  let description = [{
    `train.program` says what to train and how. From the phase `step` on a module holds `train.state` (every tensor that
    lives across entries) and one `train.entry` for each thing the runtime can run.
  }];
  let dependentDialects = ["::trainc::nn::NNDialect"];
  let extraClassDeclaration = [{
    /// Refuses an op that the dialect does not have, with the nearest name.
    std::optional<ParseOpHook> getParseOperationHook(::llvm::StringRef opName) const override;
  }];
  let useDefaultAttributePrinterParser = 1;
}

class Train_Op<string mnemonic, list<Trait> traits = []> : Op<Train_Dialect, mnemonic, traits>;
class Train_Attr<string cppName, string attrMnemonic> : AttrDef<Train_Dialect, cppName> { let mnemonic = attrMnemonic; }

def Train_Optimizer : Train_Attr<"Optimizer", "optimizer"> {
  let summary = "an update rule and its numbers, e.g. `adamw(lr 6e-4, weight_decay 0.1)`";
  let description = [{
    Defaults: lr 1e-3, beta1 0.9, beta2 0.999 (0.95 is usual for language models), eps 1e-8, weight_decay 0 (adamw: decoupled;
    adam, sgd: added to the gradient), momentum 0.
  }];
  let parameters = (ins "OptimizerKind":$kind, "::mlir::FloatAttr":$lr, "::mlir::FloatAttr":$beta1, "::mlir::FloatAttr":$beta2, "::mlir::FloatAttr":$eps,
                        "::mlir::FloatAttr":$weight_decay, "::mlir::FloatAttr":$momentum);
  let extraClassDeclaration = [{
    /// Whether the rule has states of the size of each parameter.
    bool hasMoments() const;
  }];
  let genVerifyDecl = 1;
  let hasCustomAssemblyFormat = 1;
}

def Train_Schedule : Train_Attr<"Schedule", "schedule"> {
  let summary = "the learning rate over steps, e.g. `cosine(warmup 700, total 10000, minimum 6e-5)`";
  let parameters = (ins "ScheduleKind":$kind, "int64_t":$warmup, "int64_t":$total, "::mlir::FloatAttr":$minimum);
  let genVerifyDecl = 1;
  let hasCustomAssemblyFormat = 1;
}

def Train_Group : Train_Attr<"Group", "group"> {
  let summary = "settings of the parameters whose names match a pattern (`*` matches any text), later groups winning";
  let description = [{ Each setting is absent or explicit; `frozen` is true for `frozen` and false for `trained`. }];
  let parameters = (ins StringRefParameter<"pattern">:$pattern, OptionalParameter<"::mlir::FloatAttr">:$lr_scale,
                        OptionalParameter<"::mlir::FloatAttr">:$weight_decay,
                        OptionalParameter<"::mlir::BoolAttr">:$frozen);
  let genVerifyDecl = 1;
  let hasCustomAssemblyFormat = 1;
}

def Train_Member : Train_Attr<"Member", "member"> {
  let summary = "the place of a parameter in a flat state: its name, the offset of its first element, its type";
  let parameters = (ins StringRefParameter<"name">:$name, "int64_t":$offset, "::mlir::RankedTensorType":$type);
  let assemblyFormat = "`<` $name `,` $offset `,` $type `>`";
}

def Train_Block : Train_Attr<"Block", "block"> {
  let summary = "a use of a block: its scope and the block's name";
  let parameters = (ins StringRefParameter<"scope">:$scope, StringRefParameter<"name">:$name);
  let assemblyFormat = "`<` $scope `,` $name `>`";
}

def Train_Sharding : Train_Attr<"Sharding", "sharding"> {
  let summary = "how ranks divide and gather parameters, e.g. `sharding(wrap = \"layer\", prefetch = 2)`";
  let description = [{
    What is left out has a default; H is the model's width, the size that most parameters have among their dimensions.

    * `wrap`: which parameters are gathered and reduced together, as a unit. By default (`"blocks"`) they are those of each outermost use of a
      block. `"encoder,decoder"` takes those of each use of the named blocks; a block inside another is then a unit apart. `"1000000"` takes
      those of blocks with at least so many parameters, and `"model"` those of the whole model. Parameters outside are a unit of their own.
    * `hybrid_shard` (all ranks): divides states among so many ranks with adjacent numbers, and replicates them across.
    * `sync`: whether gradients are summed over ranks after every `"micro_step"` (the default from `zero_stage 2` on) or once a `"step"`. The
      second needs memory for whole gradients.
    * `reproducible`: `"plan"`, the default, promises the same bits for the same plan. `"ranks"` makes a step's sums a fixed binary tree over
      its micro-batches. Training then has the same bits on any number of ranks that divides the micro-batches into equal powers of two.
      `accumulate` must be a power of two, and gradients are summed over ranks once a step.
    * `reduce_bucket`, `gather_bucket` (H * H): sums, and gathers, of several units are one collective as long as all have at most so many
      elements.

    With `zero_stage 3` also:

    * `persist_below` (10 * H): parameters of fewer elements stay whole on every rank.
    * `reshard_after_forward` (true): gathered parameters are dropped when others are computed with, and gathered again for the backward.
    * `max_reuse_distance` (0): they stay all the same if the parameters that are computed with between have fewer elements than this.
    * `prefetch` (1): how many units are gathered ahead of the one that is computed.
    * `max_live` (no limit): gathers ahead only while at most so many elements are gathered.
    * `gathers_in_flight` (2): gathers that have begun and are not done, at most.
  }];
  let parameters = (ins "::mlir::DictionaryAttr":$words);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Train_ProgramOp : Train_Op<"program", [Symbol]> {
  let summary = "what to train and how";
  let description = [{
    ```mlir
    train.program @pretrain {
      model @gpt2
      optimizer adamw(lr 6e-4, beta2 0.95, weight_decay 0.1)
      schedule cosine(warmup 700, minimum 6e-5)
      clip 1.0
      batch 4 x 1024
      ranks 4
      accumulate 8
      eval_batch 16
      steps 20000
      group "*.bias" weight_decay 0.0
      group "h.*" frozen
      group "h.11.*" trained lr_scale 0.1
    }
    ```
    `batch B x T`: samples per micro-batch and rank, and tokens per sample (left out for models without a sequence). `ranks` processes
    train together, each on samples of its own. `zero_stage` says what each keeps a part of: nothing (0), the optimizer's states (1),
    gradients too (2), parameters too (3); `sharding(...)` says how. `accumulate` micro-batches of every rank make one step. `eval_batch`:
    samples per evaluation batch, `batch`'s unless given. Parameters of fewer than two dimensions are not decayed unless a group says so.

    `memory_limit 16GiB` bounds what a process that runs the plan may take; of a GPU it leaves `reserve_memory` to what no plan places, and of a node's host its ranks may take `host_memory`. `fp32_products bf16x3` says how products of f32 numbers are
    computed. `library_calls products` leaves matrix products to libraries of the device, `attention` attention and its
    gradient, `all` both, `plain` products without epilogues and attention without its gradient; without it the target decides. With
    `activation_checkpointing selective` the backward computes again what is cheap to compute, which then need not be kept. With `full`
    it computes blocks again, those of `checkpoint_blocks "layer"`, of every `checkpoint_stride 2` uses the first, except for the percentage of
    each that `checkpoint_keep "0,50"` says; outside, `checkpoint_rest selective` computes again what is cheap. `budget` chooses the last
    two so that the plan fits into `memory_limit`.
    `cpu "x86-64-v4"` says for which levels of CPUs there is code; of `"native"` the compiler makes the name of a level.
    `precision bf16` computes with bf16 numbers where that costs no accuracy that counts, and keeps parameters in f32. `precision fp16` does
    so with f16 numbers, and scales the loss: `loss_scale`, `loss_scale_init`, `loss_scale_window`, `loss_scale_hysteresis` and
    `loss_scale_min` say how, and `skipped_steps advance` moves the schedule in steps that overflow, too.
    `precision bf16 (params = f32, compute = bf16, reduce = f32, buffers = f32, keep "*.norm.*" f32)` says as well in which types the run
    holds parameters, computes, sums gradients over ranks and takes columns of the data, and which parameters are read in f32. Each
    word may be left out. `eval_precision fp32` says in which precision evaluation computes, and `optimizer_states bf16` how the run
    holds the optimizer's moments. `offload "optimizer"` keeps these outside the device's memory, on disk or where `offload_to` says, and
    updates `offload_group` bytes of them at a time; `offload "optimizer,gradients,parameters,activations"` does so with all states,
    and with what the backward reads of the forward; `hidden_activations` in place of `activations` keeps in memory what copies do not hide.
    `offload_update host` has the host's cores of a GPU compute the updates of moments that lie in their memory.
    `target cuda` makes a plan for NVIDIA's GPUs instead of CPUs, and `gpu "h200"` says for which one the compiler weighs and predicts.
    `gpu_levels "sm_90"` says for which generations there is machine code beside PTX, which runs on all.

    The options of `trainc compile` are written over these before any pass runs; `trainrun --steps` overrides the steps. `sources`, which
    the text does not show, says where each setting comes from: its line, its option, or what it is derived from. The model's exports move
    here when it is instantiated. If something in the model stands against entries `prefill` and `decode`, `no_generation` then says what.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$model, Train_Optimizer:$optimizer,
                       Train_Schedule:$schedule, OptionalAttr<F64Attr>:$clip, OptionalAttr<I64Attr>:$micro_batch,
                       OptionalAttr<I64Attr>:$seq_len, DefaultValuedAttr<I64Attr, "1">:$ranks,
                       DefaultValuedAttr<I64Attr, "0">:$zero_stage, OptionalAttr<Train_Sharding>:$sharding,
                       DefaultValuedAttr<I64Attr, "1">:$accumulate,
                       OptionalAttr<I64Attr>:$eval_batch, OptionalAttr<I64Attr>:$steps,
                       OptionalAttr<I64Attr>:$memory_limit, OptionalAttr<I64Attr>:$reserve_memory, OptionalAttr<I64Attr>:$host_memory, OptionalAttr<StrAttr>:$fp32_products, OptionalAttr<StrAttr>:$library_calls, OptionalAttr<StrAttr>:$activation_checkpointing,
                       OptionalAttr<StrAttr>:$checkpoint_blocks, DefaultValuedAttr<I64Attr, "1">:$checkpoint_stride, OptionalAttr<StrAttr>:$checkpoint_keep, OptionalAttr<StrAttr>:$checkpoint_rest,
                       OptionalAttr<StrAttr>:$target, OptionalAttr<StrAttr>:$cpu, OptionalAttr<StrAttr>:$gpu, OptionalAttr<StrAttr>:$gpu_levels, OptionalAttr<StrAttr>:$precision,
                       OptionalAttr<StrAttr>:$params, OptionalAttr<StrAttr>:$reduce, OptionalAttr<StrAttr>:$buffers, OptionalAttr<StrAttr>:$keep, OptionalAttr<StrAttr>:$products,
                       OptionalAttr<StrAttr>:$eval_precision, OptionalAttr<StrAttr>:$optimizer_states, OptionalAttr<StrAttr>:$skipped_steps,
                       OptionalAttr<StrAttr>:$offload, OptionalAttr<StrAttr>:$offload_to, OptionalAttr<I64Attr>:$offload_group, OptionalAttr<StrAttr>:$offload_update,
                       DefaultValuedAttr<I64Attr, "0">:$loss_scale, DefaultValuedAttr<I64Attr, "65536">:$loss_scale_init,
                       DefaultValuedAttr<I64Attr, "2000">:$loss_scale_window, DefaultValuedAttr<I64Attr, "1">:$loss_scale_hysteresis,
                       DefaultValuedAttr<I64Attr, "1">:$loss_scale_min,
                       OptionalAttr<TypedArrayAttrBase<Train_Group, "groups">>:$groups,
                       OptionalAttr<DictionaryAttr>:$exports, OptionalAttr<StrAttr>:$no_generation,
                       OptionalAttr<DictionaryAttr>:$sources);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Train_StateOp : Train_Op<"state", [Symbol]> {
  let summary = "a tensor that lives across entries";
  let description = [{
    A `scalar` with a direction is exchanged with the host around entries: which, says its name or `@name as loss` (see Scalar in plan.fbs). `frozen` parameters have no gradient. A flat
    state holds the elements of its `members` one after the other. If it is `divided`, each rank has a part of them, its type from the phase `spmd` on.
    `blocks` are the uses of blocks in which a parameter is declared, the outermost first. A state of role `output` is what generation gives out (`logits`).
    One of role `working` has a parameter's values in the type that the program computes in. No checkpoint holds it; the entry
    `refresh` makes it. One of role `chunks` has the numbers of the chunks of 256 elements in a flat state, by which random numbers are
    drawn. The entry `refresh` makes it, too. One of role `activation` has a value of one entry between its `train.set` and its `train.get`
    there. Nothing is in it when an entry begins.

    A state `on disk` or `on host` lies outside the device's memory, where the pass `offload` has put it. There it can be read and
    written in pieces.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Train_StateRole:$role, TypeAttrOf<AnyRankedTensor>:$type,
                       UnitAttr:$frozen, OptionalAttr<HostScalar>:$scalar,
                       OptionalAttr<TypedArrayAttrBase<Train_Member, "members">>:$members, UnitAttr:$divided,
                       OptionalAttr<TypedArrayAttrBase<Train_Block, "blocks">>:$blocks,
                       DefaultValuedAttr<Plan_Space, "::trainc::plan::Space::device">:$space);
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "::trainc::train::StateRole":$role, "::mlir::RankedTensorType":$type), [{
    build($_builder, $_state, $_builder.getStringAttr(name), StateRoleAttr::get($_builder.getContext(), role),
          ::mlir::TypeAttr::get(type), /*frozen=*/::mlir::UnitAttr(), /*scalar=*/HostScalarAttr(), /*members=*/::mlir::ArrayAttr(),
          /*divided=*/::mlir::UnitAttr(), /*blocks=*/::mlir::ArrayAttr(),
          ::trainc::plan::SpaceAttr::get($_builder.getContext(), ::trainc::plan::Space::device));
  }]>];
  let assemblyFormat = [{
    $role (`frozen` $frozen^)? (`divided` $divided^)? (`on` $space^)? custom<StateName>($sym_name, $scalar) `:` $type attr-dict
  }];
  let hasVerifier = 1;
}

def Train_StateResource : Resource<"::trainc::train::StateResource">;
def Train_BatchResource : Resource<"::trainc::train::BatchResource">;
def Train_GradientResource : Resource<"::trainc::train::GradientResource">;
def Train_BorderResource : Resource<"::trainc::train::BorderResource">;

def Train_GetOp : Train_Op<"get", [HasParent<"EntryOp">, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the state's value at this point of the entry";
  let description = [{
    A state outside the device's memory is copied from there. The copy runs beside the ops that stand between this one and the first that
    uses the result. It may be of a piece of the state: of the elements from `offset` on.

    ```mlir
    %piece = train.get @exp_avg.wte.weight at 4096 : tensor<4096xf32>
    ```
  }];
  let arguments = (ins Arg<FlatSymbolRefAttr, "", [MemRead<Train_StateResource>]>:$state, DefaultValuedAttr<I64Attr, "0">:$offset);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$state (`at` $offset^)? attr-dict `:` type($result)";
}

def Train_SetOp : Train_Op<"set", [HasParent<"EntryOp">, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "gives the state a new value";
  let description = [{
    What a state outside the device's memory holds, or a piece of it from the element `offset` on, is copied there, beside the ops that
    follow.
  }];
  let arguments = (ins Arg<FlatSymbolRefAttr, "", [MemWrite<Train_StateResource>]>:$state, AnyRankedTensor:$value,
                       DefaultValuedAttr<I64Attr, "0">:$offset);
  let assemblyFormat = "$state (`at` $offset^)? `,` $value attr-dict `:` type($value)";
}

def Train_BorderOp : Train_Op<"border", [HasParent<"EntryOp">, AttrSizedOperandSegments, MemoryEffects<[MemWrite<Train_BorderResource>]>]> {
  let summary = "what goes into a use of a block, and what comes out of it";
  let description = [{
    A mark in the phase `step`, for passes that treat blocks as units: ops of the forward that lead from `inputs` to `outputs` are the
    block's. It computes nothing and is no reason to keep a value: passes that ask who reads a value ignore it. An output to which
    `accumulate-in-place` adds is the sum from then on.

    ```mlir
    train.border <"h.3", "layer"> from %x to %y : tensor<4x1024x768xf32> to tensor<4x1024x768xf32>
    ```
  }];
  let arguments = (ins Train_Block:$block, Variadic<AnyRankedTensor>:$inputs, Variadic<AnyRankedTensor>:$outputs);
  let assemblyFormat = "$block `from` $inputs `to` $outputs attr-dict `:` type($inputs) `to` type($outputs)";
}

def Train_MinimizeOp : Train_Op<"minimize", [MemoryEffects<[MemWrite<Train_GradientResource>]>]> {
  let summary = "the scalar whose gradient is wanted; autodiff replaces it by the backward and train.gradient ops";
  let arguments = (ins AnyRankedTensor:$loss);
  let assemblyFormat = "$loss attr-dict `:` type($loss)";
}

def Train_GradientOp : Train_Op<"gradient", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the gradient of a parameter, from this micro-batch; the optimizer pass replaces it";
  let arguments = (ins Arg<FlatSymbolRefAttr, "", [MemWrite<Train_GradientResource>]>:$parameter, AnyRankedTensor:$value);
  let assemblyFormat = "$parameter `,` $value attr-dict `:` type($value)";
}

def Train_SumOverRanksOp : Train_Op<"sum_over_ranks", [Pure, SameOperandsAndResultType]> {
  let summary = "the sum of what every rank computes from its own samples; the shard pass replaces it";
  let description = [{ `of`: the parameters' state of whose gradients it is the sum, if it is of such. }];
  let arguments = (ins AnyRankedTensor:$value, OptionalAttr<FlatSymbolRefAttr>:$of);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$value (`of` $of^)? attr-dict `:` type($value)";
}

def Train_MaxOverRanksOp : Train_Op<"max_over_ranks", [Pure, SameOperandsAndResultType]> {
  let summary = "element by element the largest of what ranks compute, each from its own samples; the shard pass replaces it";
  let arguments = (ins AnyRankedTensor:$value);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

def Train_MagnitudesOp : Train_Op<"magnitudes", [MemoryEffects<[MemWrite<Train_GradientResource>]>, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the largest magnitudes of what this micro-batch rounded to fp8; the optimizer pass replaces it";
  let description = [{
    One of each scale. Both states are flat: 16 elements of each scale lie one after the other, as the last 16 steps' magnitudes do in
    `history`. `limit` is the largest number of the type.

    ```mlir
    train.magnitudes %largest of @fp8_scales.values history @fp8_amaxes.values limit 448.0 : tensor<2xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$largest, FlatSymbolRefAttr:$scales, FlatSymbolRefAttr:$history, F64Attr:$limit);
  let assemblyFormat = "$largest `of` $scales `history` $history `limit` custom<Number>($limit) attr-dict `:` type($largest)";
}

def Train_EntryOp : Train_Op<"entry", [Symbol, IsolatedFromAbove, NoTerminator, SingleBlock]> {
  let summary = "something the runtime can run: init, refresh, begin_step, micro_step, last_micro_step, update, eval, prefill, decode";
  let description = [{ Its name says its kind, or `@name as micro_step`. }];
  let arguments = (ins SymbolNameAttr:$sym_name, EntryKind:$kind);
  let regions = (region SizedRegion<1>:$body);
  let builders = [OpBuilder<(ins "::trainc::EntryKind":$kind), [{
    build($_builder, $_state, ::trainc::stringifyEntryKind(kind), kind);
  }]>];
  let assemblyFormat = "custom<EntryName>($sym_name, $kind) attr-dict-with-keyword $body";
}

def Train_InputOp : Train_Op<"input", [MemoryEffects<[MemRead<Train_BatchResource>]>]> {
  let summary = "a batch column that the runtime fills before the entry runs";
  let description = [{
    Integer columns: values must be below `limit` (0: unchecked) or equal `ignore`. Samples whose values are all `ignore`, in each
    column that `pads`, count in no loss of the entry: they fill up an incomplete batch.
  }];
  let arguments = (ins StrAttr:$column, BatchExtent:$extent, DefaultValuedAttr<I64Attr, "0">:$limit,
                       DefaultValuedAttr<I64Attr, "-1">:$ignore, UnitAttr:$pads);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$column $extent (`limit` $limit^)? (`ignore` $ignore^)? (`pads` $pads^)? attr-dict `:` type($result)";
}

#endif
