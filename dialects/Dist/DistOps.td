// Collectives between the ranks of a job.

#ifndef TRAINC_DIST_OPS
#define TRAINC_DIST_OPS

include "dialects/Interfaces/Enums.td"
include "dialects/Interfaces/Interfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Dist_Dialect : Dialect {
  let name = "dist";
  let cppNamespace = "::trainc::dist";
  let summary = "What the ranks of a job do together";
  let description = [{
    From the phase `spmd` on, an entry is what one rank does, and all ranks run the same one. A collective is a pair, a start and a
    wait. Only the wait may use the value that the start gives, and computing goes on between the two.

    ```mlir
    %pending = dist.all_reduce_start %gradient : tensor<768x768xf32>
    ...
    %sum = dist.wait %pending : tensor<768x768xf32>
    ```

    Starts of the same kind and group that have the same `message` are one after the other and go together: one collective of the plan.
    A sum of gradients may name `of`, the state of their parameters.

    If states are divided inside groups of ranks (hybrid sharding), a collective may be `in shard` or `in replica`. The ranks of one
    group meet `in shard`. The ranks that have the same part meet `in replica`.

    Tensors that are sharded together lie one after the other in a flat one (`dist.pack`, `dist.member`), of which a rank may have its
    part (`dist.part`).
  }];
}

class Dist_Op<string mnemonic, list<Trait> traits = []> : Op<Dist_Dialect, mnemonic, traits>;

// An op without instructions: where a flat tensor and its members are the same bytes.
class Dist_PlaceOp<string mnemonic, string kernelClass>
    : Dist_Op<mnemonic, [Pure, DeclareOpInterfaceMethods<ExecutableOpInterface, ["getFlatOffset"]>]> {
  let extraClassDefinition = "::trainc::KernelClass $cppClass::getKernelClass() { return ::trainc::KernelClass::"
                             # kernelClass # "; }";
  let hasVerifier = 1;
}

// A start and its wait do something to what is under way between them: no pass erases one of the two, or makes two equal
// ones one. SSA alone orders them; collectives meet in the order in which they stand, which is that of all ranks.
def Dist_Communication : Resource<"::trainc::dist::Communication">;
def Dist_Pending : Res<AnyStaticShapeTensor, "", [MemWrite<Dist_Communication>]>;

// Begins a collective; nothing but a dist.wait may use the result.
class Dist_StartOp<string mnemonic, string kind, list<Trait> traits = []>
    : Dist_Op<mnemonic, [DeclareOpInterfaceMethods<ExecutableOpInterface>, DeclareOpInterfaceMethods<CollectiveOpInterface>] # traits> {
  let extraClassDefinition = [{
    ::trainc::KernelClass $cppClass::getKernelClass() { return ::trainc::KernelClass::Collective; }
    ::trainc::RankGroup $cppClass::getRankGroup() { return getGroup(); }
    ::trainc::CollectiveKind $cppClass::getCollectiveKind() { return ::trainc::CollectiveKind::}] # kind # "; }";
  let hasVerifier = 1;
}

def Dist_AllReduceStartOp : Dist_StartOp<"all_reduce_start", "all_reduce", [SameOperandsAndResultType]> {
  let summary = "begins to sum a value over all ranks";
  let description = [{
    Sums element by element over a binary tree of the ranks' numbers that is aligned at powers of two: ((0 + 1) + (2 + 3)) + ...
    Every rank gets the same bits. Numbers of bf16 or f16 are added in f32, and the sum is rounded once.
  }];
  let arguments = (ins AnyStaticShapeTensor:$value, DefaultValuedAttr<RankGroup, "::trainc::RankGroup::all">:$group,
                       OptionalAttr<FlatSymbolRefAttr>:$of, OptionalAttr<I64Attr>:$message);
  let results = (outs Dist_Pending:$pending);
  let assemblyFormat = "$value (`in` $group^)? (`of` $of^)? (`message` $message^)? attr-dict `:` type($value)";
}

def Dist_ReduceScatterStartOp : Dist_StartOp<"reduce_scatter_start", "reduce_scatter"> {
  let summary = "begins to sum a value over all ranks, of which each keeps its part";
  let description = [{
    The parts are equal runs of dimension 0, in the order of the ranks; sums as in `dist.all_reduce_start`. Of bf16 or f16 numbers the
    result may be f32. Then ranks send the numbers as they are, and the sums are not rounded: they are to be summed further.

    ```mlir
    %pending = dist.reduce_scatter_start %gradient in shard : tensor<512xbf16> -> tensor<256xf32>
    ```
  }];
  let arguments = (ins AnyStaticShapeTensor:$value, DefaultValuedAttr<RankGroup, "::trainc::RankGroup::all">:$group,
                       OptionalAttr<FlatSymbolRefAttr>:$of, OptionalAttr<I64Attr>:$message);
  let results = (outs Dist_Pending:$pending);
  let assemblyFormat = "$value (`in` $group^)? (`of` $of^)? (`message` $message^)? attr-dict `:` type($value) `->` type($pending)";
}

def Dist_AllGatherStartOp : Dist_StartOp<"all_gather_start", "all_gather"> {
  let summary = "begins to put all ranks' parts side by side along dimension 0, in the order of the ranks";
  let arguments = (ins AnyStaticShapeTensor:$part, DefaultValuedAttr<RankGroup, "::trainc::RankGroup::all">:$group,
                       OptionalAttr<I64Attr>:$message);
  let results = (outs Dist_Pending:$pending);
  let assemblyFormat = "$part (`in` $group^)? (`message` $message^)? attr-dict `:` type($part) `->` type($pending)";
}

def Dist_RankSumOp : Dist_Op<"rank_sum", [Pure, DeclareOpInterfaceMethods<ExecutableOpInterface>]> {
  let summary = "adds what ranks have sent to one of them";
  let description = [{
    What a kernel is made of that collectives call for sums (`sum` of `#plan.range`): one operand for each rank, in the order of their
    places. It adds any number of elements, over the tree of `dist.all_reduce_start`, in f32; the sums are rounded once, unless the
    result is f32. It stands in the module @kernels alone.

    ```mlir
    %sum = dist.rank_sum %0, %1, %2 : tensor<1xbf16>, tensor<1xbf16>, tensor<1xbf16> -> tensor<1xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyStaticShapeTensor>:$values);
  let results = (outs AnyStaticShapeTensor:$sum);
  let assemblyFormat = "$values attr-dict `:` type($values) `->` type($sum)";
  let extraClassDefinition = "::trainc::KernelClass $cppClass::getKernelClass() { return ::trainc::KernelClass::RankSum; }";
}

def Dist_WaitOp : Dist_Op<"wait", [SameOperandsAndResultType, DeclareOpInterfaceMethods<ExecutableOpInterface>]> {
  let summary = "the value of a collective, once it is done";
  let arguments = (ins Arg<AnyStaticShapeTensor, "", [MemWrite<Dist_Communication>]>:$pending);
  let results = (outs AnyStaticShapeTensor:$value);
  let assemblyFormat = "$pending attr-dict `:` type($pending)";
  let extraClassDefinition = "::trainc::KernelClass $cppClass::getKernelClass() { return ::trainc::KernelClass::Wait; }";
  let hasVerifier = 1;
}

def Dist_PartOp : Dist_PlaceOp<"part", "Alias"> {
  let summary = "this rank's part of a value that all ranks have: an equal run of dimension 0";
  let arguments = (ins AnyStaticShapeTensor:$whole);
  let results = (outs AnyStaticShapeTensor:$part);
  let assemblyFormat = "$whole attr-dict `:` type($whole) `->` type($part)";
}

def Dist_PackOp : Dist_PlaceOp<"pack", "Pack"> {
  let summary = "a flat tensor of the elements of others, each from its offset on, and zeros between";
  let arguments = (ins Variadic<AnyStaticShapeTensor>:$members, DenseI64ArrayAttr:$offsets);
  let results = (outs AnyStaticShapeTensor:$flat);
  let assemblyFormat = "$members `at` $offsets attr-dict `:` type($members) `->` type($flat)";
}

def Dist_MemberOp : Dist_PlaceOp<"member", "Alias"> {
  let summary = "the tensor whose elements lie in a flat one from `offset` on";
  let arguments = (ins AnyStaticShapeTensor:$flat, I64Attr:$offset);
  let results = (outs AnyStaticShapeTensor:$value);
  let assemblyFormat = "$flat `at` $offset attr-dict `:` type($flat) `->` type($value)";
}

#endif
