#ifndef TRAINC_OFFLOAD_PASSES
#define TRAINC_OFFLOAD_PASSES

include "mlir/Pass/PassBase.td"

def Offload : Pass<"offload", "::mlir::ModuleOp"> {
  let summary = "keeps states and activations on disk or in host memory, and schedules their copies";
  let description = [{
    Offloads the states that `offload` of the train.program names: optimizer states, gradients, parameters, and activations. An update then
    fetches a group of states, computes with it, and stores it, while the next group is fetched and the previous one is stored.

    ```mlir
    train.state optimizer @exp_avg.w : tensor<4x1024xf32>
    train.state optimizer @exp_avg.v : tensor<4x1024xf32>
    train.entry @update {
      ...
      %0 = train.get @exp_avg.w : tensor<4x1024xf32>
      %1:2 = nn.kernel ... (%g0, %w, %0) ...
      train.set @exp_avg.w, %1#0 : tensor<4x1024xf32>
      %2 = train.get @exp_avg.v : tensor<4x1024xf32>
      %3:2 = nn.kernel ... (%g1, %v, %2) ...
      train.set @exp_avg.v, %3#0 : tensor<4x1024xf32>
    }
    ```
    becomes
    ```mlir
    train.state optimizer on disk @exp_avg.w : tensor<4x1024xf32>
    train.state optimizer on disk @exp_avg.v : tensor<4x1024xf32>
    train.entry @update {
      ...
      %0 = train.get @exp_avg.w : tensor<4x1024xf32>
      %2 = train.get @exp_avg.v : tensor<4x1024xf32>       // fetched while the first kernel runs
      %1:2 = nn.kernel ... (%g0, %w, %0) ...
      train.set @exp_avg.w, %1#0 : tensor<4x1024xf32>      // stored while the second one runs
      %3:2 = nn.kernel ... (%g1, %v, %2) ...
      train.set @exp_avg.v, %3#0 : tensor<4x1024xf32>
    }
    ```

    A `train.get` of an offloaded state starts a copy, and users of its result wait for it. A `train.set` starts a copy too, and ops that
    reuse the value's memory wait for it. No op marks the end of a copy: `order-streams` derives dependencies from bytes. A disk runs one
    copy after another. Therefore the fetch of a group may use the memory of the group that is stored before it, and two groups are in
    memory at a time.

    Each op that reads a state fetches it again, with the views in between, unless no other read of an offloaded state comes in between, or
    the state was written in between. So a parameter takes no memory between its uses in forward and backward.

    A group consists of the states that one op reads or computes. The group of a kernel that updates states has at most `offload_group`
    bytes. The pass writes the default of `offload_group` into the program: 16 MiB, or a 1024th of the offloaded states' bytes if that is
    more. Kernels of larger groups are split along dimension 0 into equal pieces:

    ```mlir
    %g0 = dist.member %g at 0 : tensor<8192xf32> -> tensor<4096xf32>
    %g1 = dist.member %g at 4096 : tensor<8192xf32> -> tensor<4096xf32>
    %0 = train.get @exp_avg at 0 : tensor<4096xf32>
    %1 = train.get @exp_avg at 4096 : tensor<4096xf32>
    %2:2 = nn.kernel 1 x 4096 (%g0, %0, ...) ...
    train.set @exp_avg at 0, %2#0 : tensor<4096xf32>
    %3:2 = nn.kernel 1 x 4096 (%g1, %1, ...) ...
    train.set @exp_avg at 4096, %3#0 : tensor<4096xf32>
    %w = dist.pack %2#1, %3#1 at [0, 4096] : tensor<4096xf32>, tensor<4096xf32> -> tensor<8192xf32>
    ```

    Pieces begin at disk blocks. Elements are computed in the same way, so that bits do not change. States of less than 8 KiB are not
    offloaded.

    With `offload_update host` in a program for GPUs, the host's cores compute updates whose moments are in host memory. The kernel of such
    an update is marked. It reads and writes the moments in place. Its other operands are copied to host states of role `activation` as soon
    as they are known. A new parameter overwrites the old one in host memory, and is copied back to the parameter's state. These kernels are
    not split:

    ```mlir
    %w = train.get @w : tensor<4x1024xf32>
    ...
    %g = nn.matmul ...
    ...
    %0 = train.get @exp_avg.w : tensor<4x1024xf32>
    %1:2 = nn.kernel ... (%g, %w, %0) ...
    train.set @exp_avg.w, %1#0 : tensor<4x1024xf32>
    train.set @w, %1#1 : tensor<4x1024xf32>
    ```
    becomes
    ```mlir
    %w = train.get @w : tensor<4x1024xf32>
    train.set @saved_0, %w : tensor<4x1024xf32>           // a copy to the host
    ...
    %g = nn.matmul ...
    train.set @saved, %g : tensor<4x1024xf32>
    ...
    %0 = train.get @exp_avg.w : tensor<4x1024xf32>        // no copy, because only host ops read it
    %1 = train.get @saved : tensor<4x1024xf32>
    %2 = train.get @saved_0 : tensor<4x1024xf32>
    %3:2 = nn.kernel ... (%1, %2, %0) ... {plan.on_host}
    train.set @saved_0, %3#1 : tensor<4x1024xf32>
    train.set @exp_avg.w, %3#0 : tensor<4x1024xf32>
    %4 = train.get @saved_0 : tensor<4x1024xf32>          // a copy from the host
    train.set @w, %4 : tensor<4x1024xf32>
    ```

    With `activations` in `offload`, values that the forward computes and the backward reads become states of role `activation`. They are
    stored after the op that computes them, fetched before the first reader after the forward's last reader, and then resident until the
    last reader:

    ```mlir
    %h = nn.matmul %x, %w : ...
    %g = nn.kernel (%h) ...
    ...                                     // the rest of the forward, and the backward of what follows
    %dh = nn.kernel (%dg, %h) ...
    ```
    becomes
    ```mlir
    train.state activation on disk @saved : tensor<4096x3072xf32>
    ...
    %h = nn.matmul %x, %w : ...
    train.set @saved, %h : tensor<4096x3072xf32>
    %g = nn.kernel (%h) ...                 // the memory of %h is free after it
    ...
    %again = train.get @saved : tensor<4096x3072xf32>
    %dh = nn.kernel (%dg, %again) ...
    ```

    A value is offloaded if it has at least 8 KiB, and if the ops between these two readers take at least as long as both copies on the
    reference machine. For any other value the backward would have to wait. Sums to which the backward adds are not offloaded. Values of
    equal type share their spill slots with values of other entries, which run before or after. Values of one entry do not share slots,
    because all are offloaded when the backward begins.

    A store of an activation records how many following ops are expected to overlap with it (`{plan.beside = 2}`). Memory planning does not
    give the value's memory to these ops, because they would have to wait.

    A fetch begins at the latest when the previously fetched group is read. It begins earlier if a reader is expected to wait otherwise: the
    disk has to complete the earlier stores, this fetch, and all following copies in time. So fetches of an update begin in the backward,
    when it frees memory, and before its stores. Both rules may use memory up to the estimated peak without them, less an eighth for gaps
    between buffers. A fetch that should begin even earlier records by how many ops (`{plan.ahead = 3}`); memory planning, which knows the
    free memory, moves it. The last stores of states overlap with the next micro-step, and record with how many of its ops (`{plan.outlasts
    = 9}`), so that their memory is reused late.
  }];
  let dependentDialects = ["::trainc::nn::NNDialect", "::trainc::dist::DistDialect", "::trainc::plan::PlanDialect",
                           "::trainc::train::TrainDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"]; // for predicting costs of kernels
}

def WarnIdleOffload : Pass<"warn-idle-offload", "::mlir::ModuleOp"> {
  let summary = "warns about words of `offload` that offload nothing";
  let description = [{
    Runs after `offload`. Warns about each given word without an offloaded state of that kind, and about `offload_update host` if no op runs
    on the host:

    ```mlir
    train.program @p { ... batch 8  offload "optimizer,gradients" }
                                 // warning: offload (--offload) gradients does nothing: a step accumulates no gradients; leave it out
    train.state optimizer on disk @exp_avg.w : tensor<4x1024xf32>
    train.entry @micro_step { ... }
    ```

    The module is not changed. Settings that a memory limit chose are not warned about.
  }];
}

#endif
