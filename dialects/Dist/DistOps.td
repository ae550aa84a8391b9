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
  let summary = "Collectives between the ranks of a job";
  let description = [{
    From the phase `spmd` on, an entry is the program of one rank, and all ranks run the same program. A collective is a start/wait pair.
    Only the wait may use the result of the start. Computation between start and wait overlaps with the collective.

    ```mlir
    %pending = dist.all_reduce_start %gradient : tensor<768x768xf32>
    ...
    %sum = dist.wait %pending : tensor<768x768xf32>
    ```

    Adjacent starts of the same kind and group that have the same `message` become one collective of the plan. A sum of gradients may name
    the parameter state with `of`.

    With hybrid sharding, states are sharded within groups of ranks. A collective `in shard` runs over the ranks of one such group. A
    collective `in replica` runs over the ranks that hold the same shard.

    Tensors that are sharded together are members of one flat tensor (`dist.pack`, `dist.member`). `dist.part` is the shard of one rank.
  }];
}

class Dist_Op<string mnemonic, list<Trait> traits = []> : Op<Dist_Dialect, mnemonic, traits>;

// An op without instructions: its results and operands share the bytes of a flat tensor.
class Dist_PlaceOp<string mnemonic, string kernelClass>
    : Dist_Op<mnemonic, [Pure, DeclareOpInterfaceMethods<ExecutableOpInterface, ["getFlatOffset"]>]> {
  let extraClassDefinition = "::trainc::KernelClass $cppClass::getKernelClass() { return ::trainc::KernelClass::"
                             # kernelClass # "; }";
  let hasVerifier = 1;
}

// Starts and waits have side effects on a collective in flight, so that no pass erases one of them or merges two equal ones. // Collectives
// match across ranks by their order in the entry.
def Dist_Communication : Resource<"::trainc::dist::Communication">;
def Dist_Pending : Res<AnyStaticShapeTensor, "", [MemWrite<Dist_Communication>]>;

// Starts a collective; only a dist.wait may use the result.
class Dist_StartOp<string mnemonic, string kind, list<Trait> traits = []>
    : Dist_Op<mnemonic, [DeclareOpInterfaceMethods<ExecutableOpInterface>, DeclareOpInterfaceMethods<CollectiveOpInterface>] # traits> {
  let extraClassDefinition = [{
    ::trainc::KernelClass $cppClass::getKernelClass() { return ::trainc::KernelClass::Collective; }
    ::trainc::RankGroup $cppClass::getRankGroup() { return getGroup(); }
    ::trainc::CollectiveKind $cppClass::getCollectiveKind() { return ::trainc::CollectiveKind::}] # kind # "; }";
  let hasVerifier = 1;
}

def Dist_AllReduceStartOp : Dist_StartOp<"all_reduce_start", "all_reduce", [SameOperandsAndResultType]> {
  let summary = "starts a sum of a value over all ranks";
  let description = [{
    Sums each element over a binary tree of the ranks, aligned at powers of two: ((0 + 1) + (2 + 3)) + ... Every rank gets the same bits.
    bf16 and f16 numbers are summed in f32, and the sum is rounded once.
  }];
  let arguments = (ins AnyStaticShapeTensor:$value, DefaultValuedAttr<RankGroup, "::trainc::RankGroup::all">:$group,
                       OptionalAttr<FlatSymbolRefAttr>:$of, OptionalAttr<I64Attr>:$message);
  let results = (outs Dist_Pending:$pending);
  let assemblyFormat = "$value (`in` $group^)? (`of` $of^)? (`message` $message^)? attr-dict `:` type($value)";
}

def Dist_ReduceScatterStartOp : Dist_StartOp<"reduce_scatter_start", "reduce_scatter"> {
  let summary = "starts a sum of a value over all ranks, of which each keeps its shard";
  let description = [{
    Shards are equal ranges of dimension 0, in rank order. Sums are the same as in `dist.all_reduce_start`. The result for bf16 or f16
    numbers may be f32: ranks then send the low-precision numbers, and the sums stay unrounded for further accumulation.

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
  let summary = "starts to concatenate the shards of all ranks along dimension 0, in rank order";
  let arguments = (ins AnyStaticShapeTensor:$part, DefaultValuedAttr<RankGroup, "::trainc::RankGroup::all">:$group,
                       OptionalAttr<I64Attr>:$message);
  let results = (outs Dist_Pending:$pending);
  let assemblyFormat = "$part (`in` $group^)? (`message` $message^)? attr-dict `:` type($part) `->` type($pending)";
}

def Dist_RankSumOp : Dist_Op<"rank_sum", [Pure, DeclareOpInterfaceMethods<ExecutableOpInterface>]> {
  let summary = "sum of one value of each rank";
  let description = [{
    Source of the summation kernel that collectives call (`sum` of `#plan.range`), with one operand per rank, in rank order. It sums any
    number of elements in f32 over the tree of `dist.all_reduce_start`. The sums are rounded once, unless the result is f32. The op occurs
    only in the module @kernels.

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
  let summary = "the result of a collective, after it has completed";
  let arguments = (ins Arg<AnyStaticShapeTensor, "", [MemWrite<Dist_Communication>]>:$pending);
  let results = (outs AnyStaticShapeTensor:$value);
  let assemblyFormat = "$pending attr-dict `:` type($pending)";
  let extraClassDefinition = "::trainc::KernelClass $cppClass::getKernelClass() { return ::trainc::KernelClass::Wait; }";
  let hasVerifier = 1;
}

def Dist_PartOp : Dist_PlaceOp<"part", "Alias"> {
  let summary = "this rank's shard of a value that all ranks hold: an equal range of dimension 0";
  let arguments = (ins AnyStaticShapeTensor:$whole);
  let results = (outs AnyStaticShapeTensor:$part);
  let assemblyFormat = "$whole attr-dict `:` type($whole) `->` type($part)";
}

def Dist_PackOp : Dist_PlaceOp<"pack", "Pack"> {
  let summary = "a flat tensor that holds each member at its offset, and zeros between members";
  let arguments = (ins Variadic<AnyStaticShapeTensor>:$members, DenseI64ArrayAttr:$offsets);
  let results = (outs AnyStaticShapeTensor:$flat);
  let assemblyFormat = "$members `at` $offsets attr-dict `:` type($members) `->` type($flat)";
}

def Dist_MemberOp : Dist_PlaceOp<"member", "Alias"> {
  let summary = "the member of a flat tensor that begins at element `offset`";
  let arguments = (ins AnyStaticShapeTensor:$flat, I64Attr:$offset);
  let results = (outs AnyStaticShapeTensor:$value);
  let assemblyFormat = "$flat `at` $offset attr-dict `:` type($flat) `->` type($value)";
}

#endif
