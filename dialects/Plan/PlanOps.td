// The plan: addresses and instructions, one op per table of runtime/schema/plan.fbs.

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
    The last form of a program, before it is written: every op stands for one table of the plan file's schema
    (`runtime/schema/plan.fbs`), which documents the meaning and units of each field.
  }];
  let useDefaultAttributePrinterParser = 1;
}

class Plan_Op<string mnemonic, list<Trait> traits = []> : Op<Plan_Dialect, mnemonic, traits>;
class Plan_Attr<string cppName, string attrMnemonic> : AttrDef<Plan_Dialect, cppName> { let mnemonic = attrMnemonic; }
def Plan_Param : Plan_Attr<"Param", "param"> {
  let summary = "a kernel parameter: access, element type, the bytes it may touch, and which parameters may lie at the same";
  let parameters = (ins "Access":$access, "::mlir::Type":$element, "int64_t":$bytes,
                        OptionalArrayRefParameter<"int64_t">:$mayAlias);
  let assemblyFormat = "`<` $access `,` $element `,` $bytes (`may_alias` `[` $mayAlias^ `]`)? `>`";
}

def Plan_Operand : Plan_Attr<"Operand", "operand"> {
  let summary = "a byte offset into a buffer, advanced by `loop_stride` bytes per iteration of the enclosing loop, and `rank_stride` bytes per rank";
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$buffer, "int64_t":$offset, DefaultValuedParameter<"int64_t", "0">:$loopStride,
                        DefaultValuedParameter<"int64_t", "0">:$rankStride);
  let assemblyFormat = "`<` $buffer `+` $offset (`loop_stride` $loopStride^)? (`rank_stride` $rankStride^)? `>`";
}

def Plan_OperandArray : TypedArrayAttrBase<Plan_Operand, "operands">;

def Plan_Range : Plan_Attr<"Range", "range"> {
  let summary = "one tensor that a collective moves, of `elements` as a whole";
  let parameters = (ins "::trainc::plan::OperandAttr":$source, "::trainc::plan::OperandAttr":$destination,
                        "int64_t":$elements, "::mlir::Type":$element, OptionalParameter<"::mlir::Type">:$into,
                        OptionalParameter<"::mlir::FlatSymbolRefAttr">:$sum, OptionalParameter<"::trainc::plan::OperandAttr">:$workspace,
                        DefaultValuedParameter<"int64_t", "0">:$workspaceBytes);
  let description = [{
    `into` is the element type of the destination of a reduce-scatter whose sums are not rounded: f32 for bf16 or f16. `sum` is
    the kernel that adds what ranks have sent to each other's workspaces, where whoever moves it does not add it.
  }];
  let assemblyFormat = [{
    `<` $source `to` $destination `elements` $elements `of` $element (`into` $into^)?
    (`sum` $sum^ `workspace` $workspace `bytes` $workspaceBytes)? `>`
  }];
  let extraClassDeclaration = [{
    /// Of the destination.
    ::mlir::Type getDestinationElement() const { return getInto() ? getInto() : getElement(); }
  }];
}

def Plan_RangeArray : TypedArrayAttrBase<Plan_Range, "ranges">;

// How an op of the phase `scheduled` is executed: which kernels, on which of its values. Arguments are numbered
// through the op's operands, then its results, then its scratch buffers.
def Plan_LaunchSpec : Plan_Attr<"LaunchSpec", "launch_spec"> {
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$kernel, ArrayRefParameter<"int64_t">:$args);
  let assemblyFormat = "`<` $kernel `(` $args `)` `>`";
}

// How an op of the phase `scheduled` is left to a library: by the instruction `call` with these `sizes`, and which of the op's values
// are its operands, numbered as the arguments of a launch.
def Plan_LibraryCallSpec : Plan_Attr<"LibraryCallSpec", "library_call_spec"> {
  let parameters = (ins StringRefParameter<"instruction">:$call, "::mlir::DictionaryAttr":$operands, "::mlir::DictionaryAttr":$sizes);
  let assemblyFormat = "`<` $call $operands $sizes `>`";
  let extraClassDeclaration = [{
    /// The instruction, whose source op is `source`, with operand(number of an argument) for each operand.
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
    A buffer says from where a copy fetches what it holds from another space, and to where copies store what it holds.

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
    A launch runs `grid` blocks. `shared` is the memory of a block's own. `threads` says how many threads of a GPU run a block
    together; a CPU runs a block on one thread.

    What a launch costs follows from `flops`, from `moves`, the bytes between memory and processor, and from `chain`, the accesses that
    wait for one another. Without `moves` each parameter moves once, and twice if it is read and written. `arithmetic` counts
    instructions on single numbers, besides `flops`.

    In a plan for GPUs a kernel `on_host` is for the host's cores. Its code is in the module @host_kernels.

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
  let extraClassDeclaration = [{
    /// Of one launch.
    ::trainc::Work getWork();
  }];
}

def Plan_EntryOp : Plan_Op<"entry", [Symbol, IsolatedFromAbove, NoTerminator, SingleBlock]> {
  let summary = "something the runtime can run: inputs, then instructions in order";
  let description = [{
    `flops` are those of the model's products and attention, by which utilisation is measured. What activation checkpointing computes a
    second time is `recomputed`, and is not among them.
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
    An instruction: `op` is the source op for messages, e.g. "h.3.attn.c_attn: nn.matmul", with the location's file and line. It begins
    when those before it on its stream are done and those that it comes `after`, which are numbered through the entry's instructions.
  }];
  let methods = [
    InterfaceMethod<"", "::mlir::StringRef", "getSourceOp", (ins), "return $_op.getOp();">,
    InterfaceMethod<"", "::trainc::plan::Stream", "getStream">,
    InterfaceMethod<"", "::llvm::ArrayRef<int64_t>", "getAfterOrNone", (ins),
                    "return $_op.getAfter() ? *$_op.getAfter() : ::llvm::ArrayRef<int64_t>();">,
    InterfaceMethod<"", "void", "comeAfter", (ins "::llvm::ArrayRef<int64_t>":$instructions),
                    "$_op.setAfter(instructions);">,
    InterfaceMethod<[{ Which bytes it touches. }],
      "::llvm::SmallVector<::trainc::plan::OperandUse>", "getUses", (ins "const ::trainc::plan::Surroundings &":$around)>,
    InterfaceMethod<[{ What it asks of a machine; none of a loop, whose instructions do, and of collectives, which the link bounds. }],
      "::std::optional<::trainc::Work>", "getWork", (ins "const ::trainc::plan::Surroundings &":$around)>,
    InterfaceMethod<[{ Kind and sizes, for reports: those of equal instructions are equal. }],
      "::std::string", "describe", (ins), [{}], [{ return $_op->getName().stripDialect().str(); }]>];
}

def Plan_LibraryCallInterface : OpInterface<"LibraryCallOpInterface"> {
  let cppNamespace = "::trainc::plan";
  let description = [{ An instruction that the device leaves to a library. }];
  let methods = [
    InterfaceMethod<[{ The bytes of each operand that the call has. }],
      "::llvm::SmallVector<::trainc::plan::OperandUse>", "getOperandUses">,
    InterfaceMethod<[{ What the call asks of a machine, which follows from its sizes alone. }],
      "::trainc::Work", "getCallWork">];
}

// `own`: methods of the interface that are not its defaults.
class Plan_InstructionOp<string mnemonic, dag operands, list<Trait> traits = [], list<string> own = []>
    : Plan_Op<mnemonic, [DeclareOpInterfaceMethods<Plan_InstructionInterface, own>] # traits> {
  let arguments = !con(operands, (ins StrAttr:$op, OptionalAttr<DenseI64ArrayAttr>:$after));
  string trailer = "$op (`after` $after^)? ";
}

class Plan_ComputeOp<string mnemonic, dag operands, list<Trait> traits = [], list<string> own = []>
    : Plan_InstructionOp<mnemonic, operands, traits, own> {
  string onCompute = "::trainc::plan::Stream $cppClass::getStream() { return ::trainc::plan::Stream::compute; }";
  let extraClassDefinition = onCompute;
}

def Plan_LaunchOp : Plan_InstructionOp<"launch", (ins FlatSymbolRefAttr:$kernel, Plan_OperandArray:$args,
                                                      DefaultValuedAttr<Plan_Stream, "Stream::compute">:$stream), [], ["describe"]> {
  let summary = "runs all tiles of a kernel";
  let description = [{
    A kernel for the host's cores runs on the stream `host_compute`.

    ```mlir
    plan.launch @rows_0123456789abcdef [#plan.operand<@exp_avg.w + 0>, #plan.operand<@saved + 0>] on host_compute "nn.kernel" after [12]
    ```
  }];
  let assemblyFormat = "$kernel $args (`on` $stream^)? " # trailer # "attr-dict";
}

class Plan_LibraryCallOp<string mnemonic, dag operands>
    : Plan_ComputeOp<mnemonic, !con(operands, (ins OptionalAttr<Plan_Operand>:$workspace,
                                                   DefaultValuedAttr<I64Attr, "0">:$workspace_bytes)),
                     [DeclareOpInterfaceMethods<Plan_LibraryCallInterface>], ["describe"]> {
  let extraClassDefinition = onCompute # [{
    ::llvm::SmallVector<::trainc::plan::OperandUse> $cppClass::getUses(const ::trainc::plan::Surroundings &) {
      return getOperandUses();
    }
    ::std::optional<::trainc::Work> $cppClass::getWork(const ::trainc::plan::Surroundings &) { return getCallWork(); }
  }];
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
  let summary = "a matrix product that the device leaves to a library";
  let description = [{
    result = activation(op(a) op(b) (+ result) (+ bias)), for each matrix of a batch. `row` and `matrix` say how many elements after
    a row, or a matrix, the next one begins. Sums are in f32, and so are the factors and all other operands, except for those whose types
    `factors` and `product` say. With `tf32` factors may be rounded to 11 significant bits. The sums of fp8 factors, `and` the type of b if
    it differs, are multiplied by both scales first.

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
  let summary = "attention, or its gradient, that the device leaves to a library";
  let description = [{
    Of tensors whose heads lie side by side; see the schema for their shapes. They are of f32, or of the type that `values` says; the
    log-sum-exp is of f32.

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
  let summary = "copies bytes, within the device or from one space to another";
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

def Plan_CollectiveOp : Plan_InstructionOp<"collective", (ins CollectiveKind:$kind, RankGroup:$group,
      ConfinedAttr<Plan_RangeArray, [ArrayMinCount<1>, ArrayMaxCount<1024>]>:$ranges)> {
  let summary = "what ranks do together, on the stream `communication`";
  let description = [{
    The ranks meet once for all ranges: the buckets of a unit that is gathered, or small tensors that are summed together.
    Each range gets the bits that it would get alone. Sums are made in f32; those of bf16 and f16 numbers are rounded once, or
    not at all where a reduce-scatter puts them into f32.

    ```mlir
    plan.collective all_gather in shard [
      #plan.range<<@"h.0.matrices" + 0> to <@"h.0.matrices.whole" + 0> elements 196608 of f32>,
      #plan.range<<@"h.0.vectors" + 0> to <@"h.0.vectors.whole" + 0> elements 3072 of f32>] "h.0: dist.all_gather_start" after [12]
    ```
  }];
  let assemblyFormat = "$kind `in` $group $ranges " # trailer # "attr-dict";
  let extraClassDefinition = "::trainc::plan::Stream $cppClass::getStream() { return ::trainc::plan::Stream::communication; }";
}

def Plan_ScalarOp : Plan_Op<"scalar"> {
  let summary = "a scalar exchanged with the host around entries";
  let arguments = (ins StrAttr:$name, FlatSymbolRefAttr:$buffer, TypeAttr:$element, ScalarDirection:$direction);
  let assemblyFormat = "$name $direction $buffer `:` $element attr-dict";
}

def Plan_StateOp : Plan_Op<"state"> {
  let summary = "a persistent tensor by its logical name: what checkpoints hold";
  let description = [{
    Its elements lie in the buffer from `offset` on. If the state is `divided`, they lie in a flat tensor, and the buffer holds the
    rank's part of that.
  }];
  let arguments = (ins StrAttr:$name, FlatSymbolRefAttr:$buffer, TypeAttrOf<AnyRankedTensor>:$type, Plan_Role:$role,
                       DefaultValuedAttr<I64Attr, "0">:$offset, UnitAttr:$divided);
  let assemblyFormat = "$name $role $buffer (`at` $offset^)? (`divided` $divided^)? `:` $type attr-dict";
}

def Plan_TrainingOp : Plan_Op<"training"> {
  let summary = "ranks, batch, accumulation and learning-rate schedule; whether skipped steps move it";
  let arguments = (ins I64Attr:$ranks, I64Attr:$shard_ranks, I64Attr:$micro_batch, I64Attr:$accumulate, I64Attr:$seq_len, I64Attr:$steps, I64Attr:$eval_batch,
                       ScheduleKind:$schedule, F64Attr:$peak, F64Attr:$minimum, I64Attr:$warmup, I64Attr:$total, UnitAttr:$skipped_advance);
  let assemblyFormat = [{
    `ranks` $ranks `shard` $shard_ranks `micro_batch` $micro_batch `accumulate` $accumulate `seq_len` $seq_len `steps` $steps `eval_batch` $eval_batch
    $schedule `peak` $peak `minimum` $minimum `warmup` $warmup `total` $total (`skipped_advance` $skipped_advance^)? attr-dict
  }];
}

def Plan_GenerationOp : Plan_Op<"generation"> {
  let summary = "sizes of prefill and decode";
  let arguments = (ins I64Attr:$context, I64Attr:$vocabulary, FlatSymbolRefAttr:$logits);
  let assemblyFormat = "`context` $context `vocabulary` $vocabulary `logits` $logits attr-dict";
}

def Plan_NoGenerationOp : Plan_Op<"no_generation"> {
  let summary = "what in the model stands against prefill and decode";
  let arguments = (ins StrAttr:$reason);
  let assemblyFormat = "$reason attr-dict";
}

def Plan_ExportOp : Plan_Op<"export"> {
  let summary = "a file written beside each checkpoint's weights";
  let arguments = (ins StrAttr:$file, StrAttr:$text);
  let assemblyFormat = "$file $text attr-dict";
}

#endif
