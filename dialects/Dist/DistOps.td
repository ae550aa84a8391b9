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
  }];
}

class Dist_Op<string mnemonic, list<Trait> traits = []> : Op<Dist_Dialect, mnemonic, traits>;

def Dist_AllReduceStartOp : Dist_Op<"all_reduce_start", [Pure, SameOperandsAndResultType]> {
  let summary = "begins to sum a value over all ranks";
  let description = [{
    Element by element, in the order of a binary tree over the ranks' numbers that is aligned at powers of two,
    ((0 + 1) + (2 + 3)) + ..., so that every rank gets the same bits.
  }];
  let arguments = (ins AnyStaticShapeTensor:$value);
  let results = (outs AnyStaticShapeTensor:$pending);
  let assemblyFormat = "$value attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def Dist_WaitOp : Dist_Op<"wait", [Pure, SameOperandsAndResultType]> {
  let summary = "the value of a collective, once it is done";
  let arguments = (ins AnyStaticShapeTensor:$pending);
  let results = (outs AnyStaticShapeTensor:$value);
  let assemblyFormat = "$pending attr-dict `:` type($pending)";
  let hasVerifier = 1;
}

#endif
