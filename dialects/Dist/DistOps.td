// Collectives between the ranks of a job.

#ifndef TRAINC_DIST_OPS
#define TRAINC_DIST_OPS

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Dist_Dialect : Dialect {
  let name = "dist";
  let cppNamespace = "::trainc::dist";
  let summary = "What the ranks of a job do together";
  let description = [{
    From the phase `spmd` on, an entry is what one rank does, and all ranks run the same one. A collective is a pair: its
    start gives a value that nothing but its wait may use, and computing goes on between the two.

    ```mlir
    %pending = dist.all_reduce_start %gradient : tensor<768x768xf32>
    ...
    %sum = dist.wait %pending : tensor<768x768xf32>
    ```

    Tensors that are sharded together lie one after the other in a flat one (`dist.pack`, `dist.member`), of which a rank may have its
    part (`dist.part`).
  }];
}

class Dist_Op<string mnemonic, list<Trait> traits = []> : Op<Dist_Dialect, mnemonic, traits>;

// Begins a collective; nothing but a dist.wait may use the result.
class Dist_StartOp<string mnemonic, list<Trait> traits = []> : Dist_Op<mnemonic, [Pure] # traits> {
  let hasVerifier = 1;
}

def Dist_AllReduceStartOp : Dist_StartOp<"all_reduce_start", [SameOperandsAndResultType]> {
  let summary = "begins to sum a value over all ranks";
  let description = [{
    Element by element, in the order of a binary tree over the ranks' numbers that is aligned at powers of two,
    ((0 + 1) + (2 + 3)) + ..., so that every rank gets the same bits.
  }];
  let arguments = (ins AnyStaticShapeTensor:$value);
  let results = (outs AnyStaticShapeTensor:$pending);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

def Dist_ReduceScatterStartOp : Dist_StartOp<"reduce_scatter_start"> {
  let summary = "begins to sum a value over all ranks, of which each keeps its part";
  let description = [{ The parts are equal runs of dimension 0, in the order of the ranks; sums as in `dist.all_reduce_start`. }];
  let arguments = (ins AnyStaticShapeTensor:$value);
  let results = (outs AnyStaticShapeTensor:$pending);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($pending)";
}

def Dist_AllGatherStartOp : Dist_StartOp<"all_gather_start"> {
  let summary = "begins to put all ranks' parts side by side along dimension 0, in the order of the ranks";
  let arguments = (ins AnyStaticShapeTensor:$part);
  let results = (outs AnyStaticShapeTensor:$pending);
  let assemblyFormat = "$part attr-dict `:` type($part) `->` type($pending)";
}

def Dist_WaitOp : Dist_Op<"wait", [Pure, SameOperandsAndResultType]> {
  let summary = "the value of a collective, once it is done";
  let arguments = (ins AnyStaticShapeTensor:$pending);
  let results = (outs AnyStaticShapeTensor:$value);
  let assemblyFormat = "$pending attr-dict `:` type($pending)";
  let hasVerifier = 1;
}

def Dist_PartOp : Dist_Op<"part", [Pure]> {
  let summary = "this rank's part of a value that all ranks have: an equal run of dimension 0";
  let arguments = (ins AnyStaticShapeTensor:$whole);
  let results = (outs AnyStaticShapeTensor:$part);
  let assemblyFormat = "$whole attr-dict `:` type($whole) `->` type($part)";
  let hasVerifier = 1;
}

def Dist_PackOp : Dist_Op<"pack", [Pure]> {
  let summary = "the elements of tensors one after the other, then zeros";
  let arguments = (ins Variadic<AnyStaticShapeTensor>:$members);
  let results = (outs AnyStaticShapeTensor:$flat);
  let assemblyFormat = "$members attr-dict `:` type($members) `->` type($flat)";
  let hasVerifier = 1;
}

def Dist_MemberOp : Dist_Op<"member", [Pure]> {
  let summary = "the tensor whose elements lie in a flat one from `offset` on";
  let arguments = (ins AnyStaticShapeTensor:$flat, I64Attr:$offset);
  let results = (outs AnyStaticShapeTensor:$value);
  let assemblyFormat = "$flat `at` $offset attr-dict `:` type($flat) `->` type($value)";
  let hasVerifier = 1;
}

#endif
