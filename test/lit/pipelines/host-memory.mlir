// RUN: not trainc compile %s -o %t.plan --target=cuda --gpu-levels=none --host-memory=32767B 2>&1 | FileCheck %s -DFILE=%s --check-prefix=SHORT
// RUN: not trainc compile %s -o %t.plan --target=cuda --gpu-levels=none --host-memory=32767B --memory-limit=1GiB 2>&1 | FileCheck %s -DFILE=%s --check-prefix=SHORT
// RUN: not trainc compile %s -o %t.plan --target=cuda --gpu-levels=none --host-memory=73727B --ranks=2 2>&1 | FileCheck %s -DFILE=%s --check-prefix=RANKS
// RUN: not trainc compile %s -o %t.plan --target=cuda --gpu-levels=none --host-memory=32768B --offload-update=host 2>&1 | FileCheck %s --check-prefix=UPDATES
// RUN: trainc compile %s -o %t.plan --target=cuda --gpu-levels=none --host-memory=32768B --report=%t.json
// RUN: FileCheck %s --input-file=%t.json --check-prefix=ENOUGH
// RUN: trainc estimate %s --target=cuda --host-memory=32767B --activation-checkpointing=none | FileCheck %s --check-prefix=TABLE

// The memory of the host is an upper bound of what is offloaded, with a memory limit and without.

// ENOUGH: "host": 32768,

// UPDATES: or offload less (--offload), or have the GPU update (--offload-update=device)

// TABLE: 1 B too much on host

nn.model @m(%x: tensor<?x64xf32>) {
  %y = nn.linear "fc" %x to 64
  nn.loss "loss" %y
}
// RANKS: [[FILE]]:[[@LINE+2]]:1: error: the plan needs 36.0 KiB (36864 bytes) of the host's memory for each of the 2 ranks of a node, together 72.0 KiB (73728 bytes); the host may give 72.0 KiB (73727 bytes; host_memory): optimizer states 36.0 KiB (100%); allow more (--host-memory), or offload less (--offload)
// SHORT: [[FILE]]:[[@LINE+1]]:1: error: {{(with --[^,]*, which takes the least memory of all planned strategies, )?}}the plan needs 32.0 KiB (32768 bytes) of the host's memory; the host may give 32.0 KiB (32767 bytes; host_memory): optimizer states 32.0 KiB (100%); allow more (--host-memory), or offload less (--offload)
train.program @p { model @m  optimizer adamw(lr 1e-3)  clip 1.0  batch 2  offload "optimizer" }
