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
    `train.program` declares what to train and how. From the phase `step` on, a module holds one `train.state` for each tensor that persists
    across entries, and one `train.entry` for each unit that the runtime executes.
  }];
  let dependentDialects = ["::trainc::nn::NNDialect"];
  let extraClassDeclaration = [{
    /// Reports an unknown op of the dialect, with the closest name.
    std::optional<ParseOpHook> getParseOperationHook(::llvm::StringRef opName) const override;
  }];
  let useDefaultAttributePrinterParser = 1;
}

class Train_Op<string mnemonic, list<Trait> traits = []> : Op<Train_Dialect, mnemonic, traits>;
class Train_Attr<string cppName, string attrMnemonic> : AttrDef<Train_Dialect, cppName> { let mnemonic = attrMnemonic; }

def Train_Optimizer : Train_Attr<"Optimizer", "optimizer"> {
  let summary = "an update rule and its numbers, e.g. `adamw(lr 6e-4, weight_decay 0.1)`";
  let description = [{
    `Optimizers.def` has the kinds, with the numbers of each, their defaults and ranges.
    [The program's reference](program.md#optimizers-and-schedules) describes them.
  }];
  let parameters = (ins StringRefParameter<"word of the registry (`Optimizers.def`)">:$kind, "::mlir::DictionaryAttr":$numbers);
  let extraClassDeclaration = [{
    /// The number of that word; 0 if the kind has none.
    double number(::llvm::StringRef word) const;
    /// The learning rate.
    ::mlir::FloatAttr getLr() const { return getNumbers().getAs<::mlir::FloatAttr>("lr"); }
    /// Whether the rule has moments, i.e. states of the parameters' sizes.
    bool hasMoments() const;
  }];
  let genVerifyDecl = 1;
  let hasCustomAssemblyFormat = 1;
}

def Train_Schedule : Train_Attr<"Schedule", "schedule"> {
  let summary = "the learning rate over steps, e.g. `cosine(warmup 700, total 10000, minimum 6e-5)`";
  let parameters = (ins StringRefParameter<"name of a formula (`plan/facts/schedules.h`)">:$kind, "int64_t":$total, "::mlir::DenseF64ArrayAttr":$numbers);
  let extraClassDeclaration = [{
    /// The schedule with the default of each number.
    static ScheduleAttr standard(::mlir::MLIRContext *context, ::llvm::StringRef kind);
    /// The number of that word; 0 if the kind has none.
    double number(::llvm::StringRef word) const;
  }];
  let genVerifyDecl = 1;
  let hasCustomAssemblyFormat = 1;
}

def Train_Group : Train_Attr<"Group", "group"> {
  let summary = "settings of the parameters whose names match a pattern (`*` matches any text); the last matching group wins";
  let description = [{ Each setting is absent or explicit; `frozen` is true for `frozen` and false for `trained`. }];
  let parameters = (ins StringRefParameter<"pattern">:$pattern, OptionalParameter<"::mlir::FloatAttr">:$lr_scale,
                        OptionalParameter<"::mlir::FloatAttr">:$weight_decay,
                        OptionalParameter<"::mlir::BoolAttr">:$frozen);
  let genVerifyDecl = 1;
  let hasCustomAssemblyFormat = 1;
}

def Train_Member : Train_Attr<"Member", "member"> {
  let summary = "a parameter in a flat state: its name, the offset of its first element, its type";
  let parameters = (ins StringRefParameter<"name">:$name, "int64_t":$offset, "::mlir::RankedTensorType":$type);
  let assemblyFormat = "`<` $name `,` $offset `,` $type `>`";
}

def Train_Block : Train_Attr<"Block", "block"> {
  let summary = "a use of a block: its scope and the block's name";
  let parameters = (ins StringRefParameter<"scope">:$scope, StringRefParameter<"name">:$name);
  let assemblyFormat = "`<` $scope `,` $name `>`";
}

def Train_Settings : Train_Attr<"Settings", "settings"> {
  let summary = "settings of one theme, by name";
  let description = [{
    Values are 64-bit integers or texts. The table in `plan/settings/settings.h` says which names and values are valid, and `docs/reference/settings.md`
    describes each. A `train.program` has one such attribute for each theme.
  }];
  let parameters = (ins "::mlir::DictionaryAttr":$values);
  let assemblyFormat = "`<` $values `>`";
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
    `batch B x T`: samples per micro-batch and rank, and tokens per sample (absent for models without a sequence). Parameters of fewer than
    two dimensions are not decayed unless a group sets their decay. Each other setting is its name and its value: `zero_stage 3`,
    `precision bf16`, `memory_limit 16GiB`, and in quotes if the value is a list: `offload "optimizer,gradients"`. [Settings](settings.md)
    describes all of them. The op stores the settings of each theme in one attribute.

    Options of `trainc compile` override these settings before any pass runs; `trainrun --steps` overrides the steps. `sources`, which is
    not printed, records the source of each setting: its line, its option, or the setting that it is derived from. When the model is
    instantiated, its exports move to the program. If it cannot have entries `prefill` and `decode`, `no_generation` gives the reason.
    If no parameter is trained, or the loss depends on none, `no_training` gives the reason: the plan evaluates, and generates if it can. If
    the loss combines the samples of a micro-batch, so that it depends on the size of the micro-batch, `combined_samples` gives the place.
    `likelihood`: the loss of evaluation is the mean negative log-likelihood of the labels. `model_checksum` tells this model from others.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$model, Train_Optimizer:$optimizer,
                       Train_Schedule:$schedule, OptionalAttr<F64Attr>:$clip, OptionalAttr<Train_Settings>:$step,
                       OptionalAttr<Train_Settings>:$memory, OptionalAttr<Train_Settings>:$checkpointing,
                       OptionalAttr<Train_Settings>:$offload, OptionalAttr<Train_Settings>:$sharding,
                       OptionalAttr<Train_Settings>:$precision, OptionalAttr<Train_Settings>:$loss_scale,
                       OptionalAttr<Train_Settings>:$target,
                       OptionalAttr<TypedArrayAttrBase<Train_Group, "groups">>:$groups,
                       OptionalAttr<DictionaryAttr>:$exports, OptionalAttr<StrAttr>:$no_generation,
                       OptionalAttr<StrAttr>:$no_training, OptionalAttr<StrAttr>:$combined_samples, UnitAttr:$likelihood,
                       OptionalAttr<I64Attr>:$model_checksum,
                       OptionalAttr<DictionaryAttr>:$sources, OptionalAttr<Train_Settings>:$adapters);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Train_StateOp : Train_Op<"state", [Symbol]> {
  let summary = "a tensor that persists across entries";
  let description = [{
    A `scalar` with a direction is exchanged with the host before or after an entry. Its name, or `as loss` in `@name as loss`, identifies
    it (see HostScalar in plan.fbs). `frozen` parameters have no gradient. A flat state holds the elements of its `members` one after another.
    If its `dist.placement` shards it, each rank holds one shard, whose type is the state's type from the phase `spmd` on. `blocks` are the uses of blocks
    that contain the parameter's declaration, the outermost first. A state of role `output` is a result of generation (`logits`). A state of
    role `working` holds a parameter in the compute type; checkpoints do not store it, and the entry `refresh` computes it. A state of role
    `chunks` holds the numbers of the 256-element chunks of a flat state, which key random numbers; the entry `refresh` computes it. A state
    of role `activation` holds a value of one entry from its `train.set` to its `train.get`; its contents are undefined when an entry
    begins.

    A state `on disk` or `on host` is offloaded (pass `offload`). An offloaded state can be read and written in pieces.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Train_StateRole:$role, TypeAttrOf<AnyRankedTensor>:$type,
                       UnitAttr:$frozen, OptionalAttr<HostScalar>:$scalar,
                       OptionalAttr<TypedArrayAttrBase<Train_Member, "members">>:$members,
                       OptionalAttr<TypedArrayAttrBase<Train_Block, "blocks">>:$blocks,
                       DefaultValuedAttr<Plan_Space, "::trainc::plan::Space::device">:$space);
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "::trainc::train::StateRole":$role, "::mlir::RankedTensorType":$type), [{
    build($_builder, $_state, $_builder.getStringAttr(name), StateRoleAttr::get($_builder.getContext(), role),
          ::mlir::TypeAttr::get(type), /*frozen=*/::mlir::UnitAttr(), /*scalar=*/HostScalarAttr(), /*members=*/::mlir::ArrayAttr(),
          /*blocks=*/::mlir::ArrayAttr(),
          ::trainc::plan::SpaceAttr::get($_builder.getContext(), ::trainc::plan::Space::device));
  }]>];
  let assemblyFormat = [{
    $role (`frozen` $frozen^)? (`on` $space^)? custom<StateName>($sym_name, $scalar) `:` $type attr-dict
  }];
  let hasVerifier = 1;
}

def Train_StateResource : Resource<"::trainc::train::StateResource">;
def Train_BatchResource : Resource<"::trainc::train::BatchResource">;
def Train_GradientResource : Resource<"::trainc::train::GradientResource">;
def Train_BlockUseResource : Resource<"::trainc::train::BlockUseResource">;

def Train_GetOp : Train_Op<"get", [HasParent<"EntryOp">, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the state's value at this point of the entry";
  let description = [{
    An offloaded state is copied to the device. The copy overlaps with the ops between this op and the first use of the result. It may copy
    a piece of the state, which begins at element `offset`.

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
    The value is copied to an offloaded state, or to a piece of it that begins at element `offset`. The copy overlaps with the ops that
    follow.
  }];
  let arguments = (ins Arg<FlatSymbolRefAttr, "", [MemWrite<Train_StateResource>]>:$state, AnyRankedTensor:$value,
                       DefaultValuedAttr<I64Attr, "0">:$offset);
  let assemblyFormat = "$state (`at` $offset^)? `,` $value attr-dict `:` type($value)";
}

def Train_BlockUseOp : Train_Op<"block_use", [HasParent<"EntryOp">, AttrSizedOperandSegments, MemoryEffects<[MemWrite<Train_BlockUseResource>]>]> {
  let summary = "inputs and outputs of a use of a block";
  let description = [{
    A marker in the phase `step`, for passes that treat blocks as units: forward ops on paths from `inputs` to `outputs` belong to the
    block. It computes nothing, and passes do not count it as a reader of a value. If `accumulate-in-place` adds to an output, the sum
    replaces the output.

    ```mlir
    train.block_use <"h.3", "layer"> from %x to %y : tensor<4x1024x768xf32> to tensor<4x1024x768xf32>
    ```
  }];
  let arguments = (ins Train_Block:$block, Variadic<AnyRankedTensor>:$inputs, Variadic<AnyRankedTensor>:$outputs);
  let assemblyFormat = "$block `from` $inputs `to` $outputs attr-dict `:` type($inputs) `to` type($outputs)";
}

def Train_MinimizeOp : Train_Op<"minimize", [MemoryEffects<[MemWrite<Train_GradientResource>]>]> {
  let summary = "the scalar to be differentiated; autodiff replaces it by the backward and train.gradient ops";
  let arguments = (ins AnyRankedTensor:$loss);
  let assemblyFormat = "$loss attr-dict `:` type($loss)";
}

def Train_GradientOp : Train_Op<"gradient", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the gradient of a parameter over this micro-batch; the optimizer pass replaces it";
  let arguments = (ins Arg<FlatSymbolRefAttr, "", [MemWrite<Train_GradientResource>]>:$parameter, AnyRankedTensor:$value);
  let assemblyFormat = "$parameter `,` $value attr-dict `:` type($value)";
}

def Train_SumOverRanksOp : Train_Op<"sum_over_ranks", [Pure, SameOperandsAndResultType]> {
  let summary = "the sum of a value over all ranks; the shard pass replaces it";
  let description = [{ `of`: the parameter state, if gradients are summed. }];
  let arguments = (ins AnyRankedTensor:$value, OptionalAttr<FlatSymbolRefAttr>:$of);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$value (`of` $of^)? attr-dict `:` type($value)";
}

def Train_MaxOverRanksOp : Train_Op<"max_over_ranks", [Pure, SameOperandsAndResultType]> {
  let summary = "the elementwise maximum of a value over all ranks; the shard pass replaces it";
  let arguments = (ins AnyRankedTensor:$value);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

def Train_MagnitudesOp : Train_Op<"magnitudes", [MemoryEffects<[MemWrite<Train_GradientResource>]>, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the maximum magnitudes of tensors that this micro-batch rounded to fp8; the optimizer pass replaces it";
  let description = [{
    One magnitude for each scale. Both states are flat and have 16 consecutive elements for each scale; in `history` these are the
    magnitudes of the last 16 steps. `limit` is the largest number of the fp8 type.

    ```mlir
    train.magnitudes %largest of @fp8_scales.values history @fp8_amaxes.values limit 448.0 : tensor<2xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$largest, FlatSymbolRefAttr:$scales, FlatSymbolRefAttr:$history, F64Attr:$limit);
  let assemblyFormat = "$largest `of` $scales `history` $history `limit` custom<Number>($limit) attr-dict `:` type($largest)";
}

def Train_EntryOp : Train_Op<"entry", [Symbol, IsolatedFromAbove, NoTerminator, SingleBlock]> {
  let summary = "a unit that the runtime executes: init, refresh, begin_step, micro_step, last_micro_step, update, eval, prefill, decode";
  let description = [{ Its kind is its name, or `micro_step` in `@name as micro_step`. }];
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
    Values of integer columns must be below `limit` (0: unchecked) or equal to `ignore`. Samples whose values are all `ignore` in each
    column that `pads` count in no loss of the entry; they pad an incomplete batch.
  }];
  let arguments = (ins StrAttr:$column, BatchExtent:$extent, DefaultValuedAttr<I64Attr, "0">:$limit,
                       DefaultValuedAttr<I64Attr, "-1">:$ignore, UnitAttr:$pads);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$column $extent (`limit` $limit^)? (`ignore` $ignore^)? (`pads` $pads^)? attr-dict `:` type($result)";
}

#endif
