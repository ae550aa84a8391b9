// Collectives between the ranks of a job.

#ifndef TRAINC_DIST_OPS
#define TRAINC_DIST_OPS

include "dialects/Interfaces/Enums.td"
include "dialects/Interfaces/Interfaces.td"
include "mlir/IR/AttrTypeBase.td"
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

    Adjacent starts of the same kind and axes that have the same `message` become one collective of the plan. A sum of gradients may name
    the parameter state with `of`.

    The ranks form a mesh (`dist.mesh`). A collective names the axes along which its ranks differ, adjacent axes of the mesh: `in shard`,
    `in [replica, shard]`. It runs in each group of ranks that have the same place along all other axes.

    A `#dist.placement` says how a value lies on the ranks. States and inputs have one as the attribute `dist.placement`; those of all other
    values follow from the indexing rules of ops (pass `verify-spmd`).

    Tensors that are sharded together are members of one flat tensor (`dist.pack`, `dist.member`). `dist.part` is the shard of one rank.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
}

def Dist_Placement : AttrDef<Dist_Dialect, "Placement"> {
  let mnemonic = "placement";
  let summary = "how a value lies on the ranks along each axis of the mesh";
  let description = [{
    Along an axis a value is sharded along a dimension (its number), or `partial`: each rank has a term of a sum, or `own`: each rank has a
    value of its own, such as its samples. Along axes that are not named it is replicated.

    ```mlir
    train.state parameter @w : tensor<64x32xf32> {dist.placement = #dist.placement<tensor = 0, shard = 1>}
    ```
  }];
  let parameters = (ins "::mlir::ArrayAttr":$axes, ArrayRefParameter<"int64_t">:$codes);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let builders = [AttrBuilder<(ins "::llvm::ArrayRef<::std::pair<::llvm::StringRef, ::trainc::Along>>":$along)>];
  let extraClassDeclaration = [{
    /// Returns how the value lies along the axis.
    ::trainc::Along along(::llvm::StringRef axis) const;
    /// Returns the names of the axes along which the value is sharded along the dimension.
    ::mlir::ArrayAttr axesOfDim(int64_t dim) const;
    /// Returns the dimensions along which the value is sharded, in the order of the named axes.
    ::llvm::SmallVector<int64_t> shardedDims() const;
  }];
}

class Dist_Op<string mnemonic, list<Trait> traits = []> : Op<Dist_Dialect, mnemonic, traits>;

// An op without instructions: its results and operands share the bytes of a flat tensor.
class Dist_PlaceOp<string mnemonic, string kernelClass>
    : Dist_Op<mnemonic, [Pure, DeclareOpInterfaceMethods<ExecutableOpInterface, ["getFlatOffset"]>,
                          DeclareOpInterfaceMethods<PlacementOpInterface>]> {
  let extraClassDefinition = "::trainc::KernelClass $cppClass::getKernelClass() { return ::trainc::KernelClass::"
                             # kernelClass # "; }";
  let hasVerifier = 1;
}

// Starts and waits have side effects on a collective in flight, so that no pass erases one of them or merges two equal ones. // Collectives
// match across ranks by their order in the entry.
def Dist_Communication : Resource<"::trainc::dist::Communication">;
def Dist_Pending : Res<AnyStaticShapeTensor, "", [MemWrite<Dist_Communication>]>;

// Starts a collective; only a dist.wait may use the result. `source` and `result` say what a rank holds: the `whole` tensor or a `shard`.
class Dist_StartOp<string mnemonic, string kind, string source, string result, list<Trait> traits = []>
    : Dist_Op<mnemonic, [DeclareOpInterfaceMethods<ExecutableOpInterface>, DeclareOpInterfaceMethods<CollectiveOpInterface>] # traits> {
  let extraClassDefinition = [{
    ::trainc::KernelClass $cppClass::getKernelClass() { return ::trainc::KernelClass::Collective; }
    ::trainc::CollectiveKind $cppClass::getCollectiveKind() { return ::trainc::CollectiveKind::}] # kind # [{; }
    ::llvm::LogicalResult $cppClass::verify() {
      return ::trainc::dist::verifyStart(*this, ::trainc::dist::Held::}] # source # ", ::trainc::dist::Held::" # result # "); }";
  let hasVerifier = 1;
}

def Dist_MeshOp : Dist_Op<"mesh"> {
  let summary = "named axes of the ranks of a job";
  let description = [{
    Ranks are numbered in row-major order: the place along the last axis changes fastest. A module of several ranks has one mesh, at its
    begin.

    ```mlir
    dist.mesh [replica = 2, shard = 4]  // 8 ranks; ranks 0 to 3 differ along `shard` alone
    ```
  }];
  let arguments = (ins StrArrayAttr:$names, DenseI64ArrayAttr:$sizes);
  let assemblyFormat = "custom<AxisSizes>($names, $sizes) attr-dict";
  let hasVerifier = 1;
}

def Dist_AllReduceStartOp : Dist_StartOp<"all_reduce_start", "all_reduce", "whole", "whole", [SameOperandsAndResultType]> {
  let summary = "starts a sum of a value over the ranks along axes";
  let description = [{
    Sums each element over a binary tree of the group's ranks, aligned at powers of two: ((0 + 1) + (2 + 3)) + ... Every rank of a group gets
    the same bits.
    bf16 and f16 numbers are summed in f32, and the sum is rounded once.
  }];
  let arguments = (ins AnyStaticShapeTensor:$value, StrArrayAttr:$axes,
                       OptionalAttr<FlatSymbolRefAttr>:$of, OptionalAttr<I64Attr>:$message);
  let results = (outs Dist_Pending:$pending);
  let assemblyFormat = "$value `in` custom<Axes>($axes) (`of` $of^)? (`message` $message^)? attr-dict `:` type($value)";
}

def Dist_ReduceScatterStartOp : Dist_StartOp<"reduce_scatter_start", "reduce_scatter", "whole", "shard"> {
  let summary = "starts a sum of a value over the ranks along axes, of which each keeps its shard";
  let description = [{
    Shards are equal ranges of dimension 0, in rank order. Sums are the same as in `dist.all_reduce_start`. The result for bf16 or f16
    numbers may be f32: ranks then send the low-precision numbers, and the sums stay unrounded for further accumulation.

    ```mlir
    %pending = dist.reduce_scatter_start %gradient in shard : tensor<512xbf16> -> tensor<256xf32>
    ```
  }];
  let arguments = (ins AnyStaticShapeTensor:$value, StrArrayAttr:$axes,
                       OptionalAttr<FlatSymbolRefAttr>:$of, OptionalAttr<I64Attr>:$message);
  let results = (outs Dist_Pending:$pending);
  let assemblyFormat = "$value `in` custom<Axes>($axes) (`of` $of^)? (`message` $message^)? attr-dict `:` type($value) `->` type($pending)";
}

def Dist_AllGatherStartOp : Dist_StartOp<"all_gather_start", "all_gather", "shard", "whole"> {
  let summary = "starts to concatenate the shards of the ranks along axes, along dimension 0, in the order of places";
  let arguments = (ins AnyStaticShapeTensor:$part, StrArrayAttr:$axes,
                       OptionalAttr<I64Attr>:$message);
  let results = (outs Dist_Pending:$pending);
  let assemblyFormat = "$part `in` custom<Axes>($axes) (`message` $message^)? attr-dict `:` type($part) `->` type($pending)";
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

def Dist_WaitOp : Dist_Op<"wait", [SameOperandsAndResultType, DeclareOpInterfaceMethods<ExecutableOpInterface>,
                               DeclareOpInterfaceMethods<PlacementOpInterface>]> {
  let summary = "the result of a collective, after it has completed";
  let arguments = (ins Arg<AnyStaticShapeTensor, "", [MemWrite<Dist_Communication>]>:$pending);
  let results = (outs AnyStaticShapeTensor:$value);
  let assemblyFormat = "$pending attr-dict `:` type($pending)";
  let extraClassDefinition = "::trainc::KernelClass $cppClass::getKernelClass() { return ::trainc::KernelClass::Wait; }";
  let hasVerifier = 1;
}

def Dist_PartOp : Dist_PlaceOp<"part", "Alias"> {
  let summary = "this rank's shard, along axes, of a value that all ranks along these hold: an equal range of dimension 0";
  let arguments = (ins AnyStaticShapeTensor:$whole, StrArrayAttr:$axes);
  let results = (outs AnyStaticShapeTensor:$part);
  let assemblyFormat = "$whole `in` custom<Axes>($axes) attr-dict `:` type($whole) `->` type($part)";
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
