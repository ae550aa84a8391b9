// The plan: addresses and instructions, one op per table of plan/schema/plan.fbs.

#ifndef TRAINC_PLAN_OPS
#define TRAINC_PLAN_OPS

include "dialects/Interfaces/Enums.td"
include "dialects/Plan/PlanEnums.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Plan_Dialect : Dialect {
  let name = "plan";
  let cppNamespace = "::trainc::plan";
  let summary = "Arenas, buffers, kernels and instructions of a plan file";
  let description = [{
    The last form of a program before it is written. Each op corresponds to one table of the plan file's schema (`plan/schema/plan.fbs`),
    which documents the meaning and units of each field.
  }];
  let useDefaultAttributePrinterParser = 1;
}

class Plan_Op<string mnemonic, list<Trait> traits = []> : Op<Plan_Dialect, mnemonic, traits>;
class Plan_Attr<string cppName, string attrMnemonic> : AttrDef<Plan_Dialect, cppName> { let mnemonic = attrMnemonic; }
def Plan_Param : Plan_Attr<"Param", "param"> {
  let summary = "a kernel parameter: access, element type, maximum bytes accessed, and the parameters that may alias it";
  let parameters = (ins "Access":$access, "::mlir::Type":$element, "int64_t":$bytes,
                        OptionalArrayRefParameter<"int64_t">:$mayAlias);
  let assemblyFormat = "`<` $access `,` $element `,` $bytes (`may_alias` `[` $mayAlias^ `]`)? `>`";
}

def Plan_Operand : Plan_Attr<"Operand", "operand"> {
  let summary = "a byte offset into a buffer, advanced by `loop_stride` bytes per iteration of the enclosing loop, and `rank_stride` bytes per place along axes of the mesh";
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$buffer, "int64_t":$offset, DefaultValuedParameter<"int64_t", "0">:$loopStride,
                        DefaultValuedParameter<"int64_t", "0">:$rankStride, OptionalParameter<"::mlir::ArrayAttr">:$axes);
  let assemblyFormat = "`<` $buffer `+` $offset (`loop_stride` $loopStride^)? (`rank_stride` $rankStride^ `along` custom<Axes>($axes))? `>`";
}

def Plan_OperandArray : TypedArrayAttrBase<Plan_Operand, "operands">;

def Plan_Range : Plan_Attr<"Range", "range"> {
  let summary = "one tensor that a collective moves; `elements` counts the whole tensor over all ranks of the group";
  let parameters = (ins "::trainc::plan::OperandAttr":$source, "::trainc::plan::OperandAttr":$destination,
                        "int64_t":$elements, "::mlir::Type":$element, OptionalParameter<"::mlir::Type">:$into,
                        OptionalParameter<"::mlir::FlatSymbolRefAttr">:$sum, OptionalParameter<"::trainc::plan::OperandAttr">:$workspace,
                        DefaultValuedParameter<"int64_t", "0">:$workspaceBytes);
  let description = [{
    `into` is the element type of the destination if a reduce-scatter leaves its sums unrounded: f32 for bf16 or f16. `sum` is the kernel
    that sums the values that ranks have sent to each other's workspaces. It is absent if the communication engine sums.
  }];
  let assemblyFormat = [{
    `<` $source `to` $destination `elements` $elements `of` $element (`into` $into^)?
    (`sum` $sum^ `workspace` $workspace `bytes` $workspaceBytes)? `>`
  }];
  let extraClassDeclaration = [{
    /// Element type of the destination.
    ::mlir::Type getDestinationElement() const { return getInto() ? getInto() : getElement(); }
  }];
}

def Plan_RangeArray : TypedArrayAttrBase<Plan_Range, "ranges">;

// One kernel launch of an op of the phase `scheduled`. Argument numbers count the op's operands, then its results, then its // scratch
// buffers.
def Plan_LaunchSpec : Plan_Attr<"LaunchSpec", "launch_spec"> {
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$kernel, ArrayRefParameter<"int64_t">:$args);
  let assemblyFormat = "`<` $kernel `(` $args `)` `>`";
}

// The library call that executes an op of the phase `scheduled`: the instruction `call`, its `sizes`, and its operands as argument //
// numbers of Plan_LaunchSpec.
def Plan_LibraryCallSpec : Plan_Attr<"LibraryCallSpec", "library_call_spec"> {
  let parameters = (ins StringRefParameter<"instruction">:$call, "::mlir::DictionaryAttr":$operands, "::mlir::DictionaryAttr":$sizes);
  let assemblyFormat = "`<` $call $operands $sizes `>`";
  let extraClassDeclaration = [{
    /// Builds the instruction with the source op `source`; `operand` maps argument numbers to operands.
    ::mlir::Operation *build(::mlir::OpBuilder &builder, ::mlir::Location loc, ::llvm::StringRef source,
                             ::llvm::function_ref<::trainc::plan::OperandAttr(int64_t)> operand) const;
  }];
}

def Plan_ArenaOp : Plan_Op<"arena", [Symbol]> {
  let summary = "one allocation made at start-up";
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$bytes, DefaultValuedAttr<Plan_Space, "Space::device">:$space,
                       UnitAttr:$persistent);
  let assemblyFormat = "$sym_name (`in` $space^)? `bytes` $bytes (`persistent` $persistent^)? attr-dict";
}

def Plan_BufferOp : Plan_Op<"buffer", [Symbol]> {
  let summary = "a range of an arena";
  let description = [{
    `fetched` is the source of the copy that fills the buffer from another space. `stored` lists the destinations of copies out of it.

    ```mlir
    plan.buffer @update.7 in @scratch at 0 bytes 4096 of f32 activation fetched <@grad.w + 0> stored [#plan.operand<@w + 0>]
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$arena, I64Attr:$offset, I64Attr:$bytes,
                       TypeAttr:$element, Plan_Role:$role, OptionalAttr<Plan_Operand>:$fetched,
                       OptionalAttr<Plan_OperandArray>:$stored);
  let assemblyFormat = [{
    $sym_name `in` $arena `at` $offset `bytes` $bytes `of` $element $role (`fetched` $fetched^)? (`stored` $stored^)? attr-dict
  }];
}

def Plan_KernelOp : Plan_Op<"kernel", [Symbol]> {
  let summary = "a generated kernel; its code is a function of the same name in the module @kernels";
  let description = [{
    A launch runs `grid` blocks. `shared` is the size of a block's own memory in bytes. `threads` is the number of GPU threads per block; a
    CPU runs a block on one thread.

    The predicted time of a launch follows from `flops`, from `moves` (bytes between memory and processor), and from `chain` (length of the
    chain of dependent accesses). Without `moves` each parameter moves once, and twice if it is read and written. `arithmetic` counts scalar
    instructions besides `flops`.

    In a plan for GPUs, a kernel `on_host` runs on the host's cores. Its code is in the module @host_kernels.

    ```mlir
    plan.kernel @copy copy grid 4 threads 256 flops 0 moves 2048 [#plan.param<read, f32, 65536>, #plan.param<write, f32, 1024>]
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Plan_KernelKind:$kind, TypedArrayAttrBase<Plan_Param, "parameters">:$params,
                       I64Attr:$grid, I64Attr:$flops, OptionalAttr<I64Attr>:$moved_bytes, DefaultValuedAttr<I64Attr, "0">:$chain,
                       DefaultValuedAttr<I64Attr, "0">:$shared_bytes, DefaultValuedAttr<I64Attr, "1">:$threads,
                       DefaultValuedAttr<I64Attr, "0">:$arithmetic, UnitAttr:$on_host);
  let assemblyFormat = [{
    $sym_name $kind (`on_host` $on_host^)? `grid` $grid (`threads` $threads^)? `flops` $flops (`moves` $moved_bytes^)? (`chain` $chain^)?
    (`shared` $shared_bytes^)? $params (`arithmetic` $arithmetic^)? attr-dict
  }];
}

def Plan_EntryOp : Plan_Op<"entry", [Symbol, IsolatedFromAbove, NoTerminator, SingleBlock]> {
  let summary = "a unit that the runtime executes: inputs, then instructions in order";
  let description = [{
    `flops` counts the model's matrix products and attention; utilisation is computed from it. `recomputed` counts the recomputation of
    activation checkpointing, which `flops` does not include.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, EntryKind:$kind, I64Attr:$flops, DefaultValuedAttr<I64Attr, "0">:$recomputed_flops);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "custom<EntryName>($sym_name, $kind) `flops` $flops (`recomputed` $recomputed_flops^)? attr-dict-with-keyword $body";
}

def Plan_InputOp : Plan_Op<"input"> {
  let summary = "a batch column that the runtime fills before the entry runs";
  let arguments = (ins StrAttr:$column, FlatSymbolRefAttr:$buffer, TypeAttrOf<AnyRankedTensor>:$type, BatchExtent:$extent,
                       I64Attr:$limit, I64Attr:$ignore, UnitAttr:$pads);
  let assemblyFormat = "$column $buffer `:` $type $extent `limit` $limit `ignore` $ignore (`pads` $pads^)? attr-dict";
}

def Plan_InstructionInterface : OpInterface<"InstructionOpInterface"> {
  let cppNamespace = "::trainc::plan";
  let description = [{
    An instruction. `op` is the source op for messages, e.g. "h.3.attn.c_attn: nn.matmul", with the location's file and line. It starts
    after the previous instruction of its stream and after the instructions that `after` lists by their number in the entry.
  }];
  let methods = [
    InterfaceMethod<"", "::mlir::StringRef", "getSourceOp", (ins), "return $_op.getOp();">,
    InterfaceMethod<"", "::trainc::plan::Stream", "getStream">,
    InterfaceMethod<"", "::llvm::ArrayRef<int64_t>", "getAfterOrNone", (ins),
                    "return $_op.getAfter() ? *$_op.getAfter() : ::llvm::ArrayRef<int64_t>();">,
    InterfaceMethod<"", "void", "comeAfter", (ins "::llvm::ArrayRef<int64_t>":$instructions),
                    "$_op.setAfter(instructions);">];
}

class Plan_InstructionOp<string mnemonic, dag operands, list<Trait> traits = []>
    : Plan_Op<mnemonic, [DeclareOpInterfaceMethods<Plan_InstructionInterface>] # traits> {
  let arguments = !con(operands, (ins StrAttr:$op, OptionalAttr<DenseI64ArrayAttr>:$after));
  string trailer = "$op (`after` $after^)? ";
}

class Plan_ComputeOp<string mnemonic, dag operands, list<Trait> traits = []>
    : Plan_InstructionOp<mnemonic, operands, traits> {
  let extraClassDefinition = "::trainc::plan::Stream $cppClass::getStream() { return ::trainc::plan::Stream::compute; }";
}

def Plan_LaunchOp : Plan_InstructionOp<"launch", (ins FlatSymbolRefAttr:$kernel, Plan_OperandArray:$args,
                                                      DefaultValuedAttr<Plan_Stream, "Stream::compute">:$stream)> {
  let summary = "runs all blocks of a kernel";
  let description = [{
    Kernels of the host's cores run on the stream `host_compute`.

    ```mlir
    plan.launch @rows_0123456789abcdef [#plan.operand<@exp_avg.w + 0>, #plan.operand<@saved + 0>] on host_compute "nn.kernel" after [12]
    ```
  }];
  let assemblyFormat = "$kernel $args (`on` $stream^)? " # trailer # "attr-dict";
}

class Plan_LibraryCallOp<string mnemonic, dag operands>
    : Plan_ComputeOp<mnemonic, !con(operands, (ins OptionalAttr<Plan_Operand>:$workspace,
                                                   DefaultValuedAttr<I64Attr, "0">:$workspace_bytes))> {
  string planned = "(`workspace` $workspace^ `bytes` $workspace_bytes)? ";
}

def Plan_MatrixProductOp : Plan_LibraryCallOp<"matrix_product", (ins Plan_Operand:$a, Plan_Operand:$b, Plan_Operand:$result,
      OptionalAttr<Plan_Operand>:$bias, OptionalAttr<Plan_Operand>:$auxiliary, OptionalAttr<Plan_Operand>:$side,
      OptionalAttr<Plan_Operand>:$a_scale, OptionalAttr<Plan_Operand>:$b_scale, I64Attr:$m, I64Attr:$n, I64Attr:$k, DefaultValuedAttr<I64Attr, "1">:$batch,
      I64Attr:$row_a, I64Attr:$row_b, I64Attr:$row_result, DefaultValuedAttr<I64Attr, "0">:$matrix_a,
      DefaultValuedAttr<I64Attr, "0">:$matrix_b, DefaultValuedAttr<I64Attr, "0">:$matrix_result,
      UnitAttr:$transpose_a, UnitAttr:$transpose_b, UnitAttr:$adds,
      DefaultValuedAttr<Activation, "Activation::none">:$activation,
      DefaultValuedAttr<SideSum, "SideSum::none">:$side_sum, OptionalAttr<TypeAttr>:$factors, OptionalAttr<TypeAttr>:$factors_b,
      OptionalAttr<TypeAttr>:$product, UnitAttr:$tf32)> {
  let summary = "a matrix product executed by a library";
  let description = [{
    result = activation(op(a) op(b) (+ result) (+ bias)), for each matrix of a batch. `row` and `matrix` are the strides between rows and
    between matrices, in elements. Sums are f32. `factors` (`and` the type of b if it differs) and `product` give the types of the factors
    and of the result; all other operands, and types not given, are f32. With `tf32` factors may be rounded to 11 significant bits. Sums of
    fp8 factors are multiplied by both scales before all other steps.

    ```mlir
    plan.matrix_product 1024 x 3072 x 768 a <@x + 0> row 768 b <@w + 0> row 3072 to <@h + 0> row 3072
      bias <@bias + 0> activation gelu_tanh auxiliary <@before + 0> "h.0.mlp.c_fc: nn.product"
    plan.matrix_product 1024 x 768 x 3072 a <@dy + 0> row 3072 b <@w + 0> transposed row 3072 to <@dx + 0> row 768
      scaled <@sdy + 0>, <@sw + 0> factors f8E5M2 and f8E4M3FN product bf16 "h.0.mlp.c_fc: nn.matmul"
    ```
  }];
  let assemblyFormat = "$m `x` $n `x` $k (`batch` $batch^)? "
      "`a` $a (`transposed` $transpose_a^)? `row` $row_a (`matrix` $matrix_a^)? "
      "`b` $b (`transposed` $transpose_b^)? `row` $row_b (`matrix` $matrix_b^)? "
      "`to` $result (`adds` $adds^)? `row` $row_result (`matrix` $matrix_result^)? "
      "(`bias` $bias^)? (`activation` $activation^)? (`auxiliary` $auxiliary^)? (`sum` $side_sum^)? (`side` $side^)? "
      "(`scaled` $a_scale^ `,` $b_scale)? (`factors` $factors^ (`and` $factors_b^)?)? (`product` $product^)? (`tf32` $tf32^)? "
      # planned # trailer # "attr-dict";
}

def Plan_AttentionOp : Plan_LibraryCallOp<"attention", (ins Plan_AttentionPass:$pass, Plan_Operand:$query, Plan_Operand:$key,
      Plan_Operand:$value, Plan_Operand:$out, Plan_Operand:$log_sum_exp, OptionalAttr<Plan_Operand>:$segments,
      OptionalAttr<Plan_Operand>:$limit, OptionalAttr<Plan_Operand>:$out_gradient, OptionalAttr<Plan_Operand>:$query_gradient,
      OptionalAttr<Plan_Operand>:$key_gradient, OptionalAttr<Plan_Operand>:$value_gradient,
      I64Attr:$batch, I64Attr:$queries, I64Attr:$keys, I64Attr:$heads, I64Attr:$key_heads, I64Attr:$head_size,
      I64Attr:$value_size, UnitAttr:$causal, F64Attr:$scale, OptionalAttr<TypeAttr>:$values)> {
  let summary = "attention, or its gradient, executed by a library";
  let description = [{
    Each row of a tensor holds the heads one after another; the schema gives the shapes. Elements are f32, or of the type `values`. The
    log-sum-exp is f32.

    ```mlir
    plan.attention forward batch 8 queries 128 keys 128 heads 4 by 4 sizes 32 by 32 causal scale 1.767767e-01
      query <@q + 0> key <@k + 0> value <@v + 0> out <@out + 0> lse <@lse + 0> "h.0.attn: nn.attention"
    ```
  }];
  let assemblyFormat = "$pass `batch` $batch `queries` $queries `keys` $keys `heads` $heads `by` $key_heads "
      "`sizes` $head_size `by` $value_size (`causal` $causal^)? `scale` $scale (`values` $values^)? "
      "`query` $query `key` $key `value` $value `out` $out `lse` $log_sum_exp (`segments` $segments^)? (`limit` $limit^)? "
      "(`out_gradient` $out_gradient^ `query_gradient` $query_gradient `key_gradient` $key_gradient `value_gradient` $value_gradient)? "
      # planned # trailer # "attr-dict";
}

def Plan_CopyOp : Plan_InstructionOp<"copy", (ins Plan_Operand:$source, Plan_Operand:$destination, I64Attr:$bytes,
                                                  DefaultValuedAttr<Plan_Stream, "Stream::compute">:$stream)> {
  let summary = "copies bytes within the device, or from one space to another";
  let assemblyFormat = "$source `to` $destination `bytes` $bytes (`on` $stream^)? " # trailer # "attr-dict";
}

def Plan_ZeroOp : Plan_ComputeOp<"zero", (ins Plan_Operand:$destination, I64Attr:$bytes)> {
  let summary = "sets bytes to zero";
  let assemblyFormat = "$destination `bytes` $bytes " # trailer # "attr-dict";
}

def Plan_LoopOp : Plan_ComputeOp<"loop", (ins I64Attr:$count), [NoTerminator, SingleBlock]> {
  let summary = "runs its instructions `count` times in order";
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`count` $count " # trailer # "attr-dict-with-keyword $body";
}

def Plan_CollectiveOp : Plan_InstructionOp<"collective", (ins CollectiveKind:$kind, StrArrayAttr:$axes,
      ConfinedAttr<Plan_RangeArray, [ArrayMinCount<1>, ArrayMaxCount<1024>]>:$ranges)> {
  let summary = "a collective on the stream `communication`";
  let description = [{
    The ranks synchronise once for all ranges: the buckets of one gathered unit, or small tensors that are summed together. Each range gets
    the same bits as in a collective of its own. Sums are f32. Sums of bf16 and f16 numbers are rounded once, or not at all if a
    reduce-scatter stores them as f32.

    ```mlir
    plan.collective all_gather in shard [
      #plan.range<<@"h.0.matrices" + 0> to <@"h.0.matrices.whole" + 0> elements 196608 of f32>,
      #plan.range<<@"h.0.vectors" + 0> to <@"h.0.vectors.whole" + 0> elements 3072 of f32>] "h.0: dist.all_gather_start" after [12]
    ```
  }];
  let assemblyFormat = "$kind `in` custom<Axes>($axes) $ranges " # trailer # "attr-dict";
  let extraClassDefinition = "::trainc::plan::Stream $cppClass::getStream() { return ::trainc::plan::Stream::communication; }";
}

def Plan_ScalarOp : Plan_Op<"scalar"> {
  let summary = "a scalar exchanged with the host before or after an entry";
  let arguments = (ins StrAttr:$name, FlatSymbolRefAttr:$buffer, TypeAttr:$element, ScalarDirection:$direction,
                       DefaultValuedAttr<I64Attr, "1">:$count);
  let assemblyFormat = "$name $direction $buffer (`count` $count^)? `:` $element attr-dict";
}

def Plan_StateOp : Plan_Op<"state"> {
  let summary = "a persistent tensor under its logical name, as checkpoints store it";
  let description = [{
    The state begins at `offset` of the buffer. If it is `sharded` over axes of the mesh, `offset` refers to a flat tensor of which the
    buffer holds the rank's shard.
  }];
  let arguments = (ins StrAttr:$name, FlatSymbolRefAttr:$buffer, TypeAttrOf<AnyRankedTensor>:$type, Plan_Role:$role,
                       DefaultValuedAttr<I64Attr, "0">:$offset, OptionalAttr<StrArrayAttr>:$sharded);
  let assemblyFormat = "$name $role $buffer (`at` $offset^)? (`sharded` custom<Axes>($sharded)^)? `:` $type attr-dict";
}

def Plan_TrainingOp : Plan_Op<"training"> {
  let summary = "batch, accumulation and learning-rate schedule, whether skipped steps advance the schedule, and whether eval has a perplexity";
  let arguments = (ins I64Attr:$micro_batch, I64Attr:$accumulate, I64Attr:$seq_len, I64Attr:$steps, I64Attr:$eval_batch,
                       StrAttr:$schedule, DenseF64ArrayAttr:$numbers, F64Attr:$peak, I64Attr:$total, UnitAttr:$skipped_advance, UnitAttr:$likelihood, OptionalAttr<I64Attr>:$model_checksum);
  let assemblyFormat = [{
    `micro_batch` $micro_batch `accumulate` $accumulate `seq_len` $seq_len `steps` $steps `eval_batch` $eval_batch
    custom<Schedule>($schedule) `numbers` $numbers `peak` $peak `total` $total (`skipped_advance` $skipped_advance^)? (`likelihood` $likelihood^)? (`model_checksum` $model_checksum^)? attr-dict
  }];
}

def Plan_GenerationOp : Plan_Op<"generation"> {
  let summary = "sizes of prefill and decode";
  let arguments = (ins I64Attr:$context, I64Attr:$vocabulary, FlatSymbolRefAttr:$logits, I64Attr:$batch);
  let assemblyFormat = "`context` $context `vocabulary` $vocabulary `batch` $batch `logits` $logits attr-dict";
}

def Plan_NoGenerationOp : Plan_Op<"no_generation"> {
  let summary = "reason why the plan has no prefill and decode";
  let arguments = (ins StrAttr:$reason);
  let assemblyFormat = "$reason attr-dict";
}

def Plan_NoTrainingOp : Plan_Op<"no_training"> {
  let summary = "why a training step would change nothing";
  let arguments = (ins StrAttr:$reason);
  let assemblyFormat = "$reason attr-dict";
}

def Plan_ExportOp : Plan_Op<"export"> {
  let summary = "a file written beside each checkpoint's weights";
  let arguments = (ins StrAttr:$file, StrAttr:$text);
  let assemblyFormat = "$file $text attr-dict";
}

#endif
