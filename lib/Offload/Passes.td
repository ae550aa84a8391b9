#ifndef TRAINC_OFFLOAD_PASSES
#define TRAINC_OFFLOAD_PASSES

include "mlir/Pass/PassBase.td"

def Offload : Pass<"offload", "::mlir::ModuleOp"> {
  let summary = "keeps states and activations on disk or in the host's memory, and fetches them in time";
  let description = [{
    Puts states outside the device's memory, as `offload` of the train.program says: the optimizer's, those of gradients, parameters, and
    activations. An update then fetches a group of them, computes with it, and stores it, while the next group is fetched and the one before is stored.

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
      %2 = train.get @exp_avg.v : tensor<4x1024xf32>       // comes in while the first kernel runs
      %1:2 = nn.kernel ... (%g0, %w, %0) ...
      train.set @exp_avg.w, %1#0 : tensor<4x1024xf32>      // goes out while the second one runs
      %3:2 = nn.kernel ... (%g1, %v, %2) ...
      train.set @exp_avg.v, %3#0 : tensor<4x1024xf32>
    }
    ```

    A `train.get` of such a state begins a copy, and who uses its result waits for it. A `train.set` begins one too, and who uses the
    value's memory anew waits for that. So no op has to say where a copy ends: `order-streams` finds it by the bytes. A disk does one
    copy after the other. Hence the fetch of a group may take the memory of the group that is stored before it, and two groups are in
    memory at a time.

    Each op that reads a state fetches it anew, with the views on the way, unless it is the next one to read any, or the state was written
    between. So a parameter takes no memory between the forward and the backward.

    A group is what one op reads or makes and, of a kernel that updates states, at most `offload_group` bytes of them. If nobody gives
    that word, the pass writes it into the program: 16 MiB, or a 1024th of the states' bytes outside, if that is more. The kernel of larger
    ones is cut along dimension 0 into equal pieces:

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

    Pieces begin where a disk's blocks do. Elements are computed as before, so bits do not change. States of less than 8 KiB stay where
    they are.

    With `offload_update host` in a program for GPUs the host's cores compute updates whose moments lie in its memory. The kernel of such an
    update is marked. It reads and writes the moments where they lie. What else it reads goes to states of role `activation` there, as soon
    as it is there. A new parameter takes the place of the old one there, and comes back for the state that holds it. These kernels are
    not cut:

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
    %0 = train.get @exp_avg.w : tensor<4x1024xf32>        // no copy: ops of the host alone read it
    %1 = train.get @saved : tensor<4x1024xf32>
    %2 = train.get @saved_0 : tensor<4x1024xf32>
    %3:2 = nn.kernel ... (%1, %2, %0) ... {plan.on_host}
    train.set @saved_0, %3#1 : tensor<4x1024xf32>
    train.set @exp_avg.w, %3#0 : tensor<4x1024xf32>
    %4 = train.get @saved_0 : tensor<4x1024xf32>          // a copy from the host
    train.set @w, %4 : tensor<4x1024xf32>
    ```

    With `activations` in `offload`, values that the forward makes and the backward reads become states of role `activation`. They go out
    behind the op that makes them. They come back for the first op that reads them behind the last one of the forward that does, and
    stay until the last one:

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
    %g = nn.kernel (%h) ...                 // the memory of %h is free behind it
    ...
    %again = train.get @saved : tensor<4096x3072xf32>
    %dh = nn.kernel (%dg, %again) ...
    ```

    A value goes if it has at least 8 KiB, and if the ops between these two take as long as both copies do, by the cost model of the
    machine of reference. For any other value the backward would have to wait. Sums to which the backward adds stay where they are.
    Values of equal type share their room with those of other entries, which run before or after. Within an entry all are away at the
    same time, when the backward begins.

    A store of an activation says how many ops run beside it, by the cost model (`{plan.beside = 2}`). Memory planning gives the value's
    memory to none of them, as they would have to wait.

    A fetch begins when the group that is fetched before it is read, at the latest. It begins earlier if the cost model says that somebody
    would wait: the disk has to fetch the group behind all that is stored before it, and to move all that follows, in time. So fetches of an update begin
    in the backward, as that frees memory, and in front of its stores. For both, values may take memory up to what they take anywhere in an entry without it, by an estimate, less an
    eighth for gaps between buffers. If a fetch should begin even earlier, it says how many ops (`{plan.ahead = 3}`). Memory planning knows what
    is free, and lets it begin so. The last stores of states go on beside the micro-step that comes next, and say beside how many of its ops (`{plan.outlasts = 9}`), so
    that their memory is needed late there.
  }];
  let dependentDialects = ["::trainc::nn::NNDialect", "::trainc::dist::DistDialect", "::trainc::plan::PlanDialect",
                           "::trainc::train::TrainDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"]; // kernels are priced by their bodies
}

def WarnIdleOffload : Pass<"warn-idle-offload", "::mlir::ModuleOp"> {
  let summary = "warns of words of `offload` that put nothing outside the device's memory";
  let description = [{
    Runs behind `offload`. It warns of each word that somebody gave if no state of that kind lies on disk or in the host's memory, and of
    `offload_update host` if no op runs on the host:

    ```mlir
    train.program @p { ... batch 8  offload "optimizer,gradients" }
                                 // warning: offload (--offload) gradients does nothing: a step holds no sums of gradients; leave it out
    train.state optimizer on disk @exp_avg.w : tensor<4x1024xf32>
    train.entry @micro_step { ... }
    ```

    The module stays as it is. What a memory limit decides is not warned of.
  }];
}

#endif
