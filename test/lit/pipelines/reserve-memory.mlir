// RUN: trainc compile %s -o %t.plan --target=cuda --gpu-levels=none --report=%t.json
// RUN: FileCheck %s --input-file=%t.json --check-prefix=ONE
// RUN: trainc dump %t.plan --settings | FileCheck %s --check-prefix=DEFAULT
// RUN: trainc compile %s -o %t.plan --target=cuda --gpu-levels=none --ranks=2 --report=%t.json
// RUN: FileCheck %s --input-file=%t.json --check-prefix=RANKS
// RUN: trainc compile %s -o %t.plan --target=cuda --gpu-levels=none --reserve-memory=3MiB --memory-limit=36MiB --report=%t.json
// RUN: FileCheck %s --input-file=%t.json --check-prefix=GIVEN
// RUN: not trainc compile %s -o %t.plan --target=cuda --memory-limit=640MiB 2>&1 | FileCheck %s -DFILE=%s --check-prefix=LIMIT
// RUN: not trainc compile %s -o %t.plan --reserve-memory=3MiB 2>&1 | FileCheck %s -DFILE=%s --check-prefix=CPU

// A memory limit leaves room on a GPU for what no plan places.

// ONE: "unplanned": 671088640
// DEFAULT: reserve_memory {{ *}}671088640 {{ *}}derived: target and ranks
// RANKS: "unplanned": 1207959552
// GIVEN: "unplanned": 3145728

nn.model @m(%x: tensor<?x4xf32>) {
  %y = nn.linear "fc" %x to 4
  nn.loss "loss" %y
}
// LIMIT: [[FILE]]:[[@LINE+2]]:1: error: {{(with .*, )?}}the plan needs {{.*}}: {{.*}} for its buffers ({{.*}}) and 640 MiB of the GPU for the driver and libraries (reserve_memory); the memory limit is 640 MiB (671088640 bytes); the plan fits into --memory-limit={{[0-9.]+[KM]iB}}; or: reserve less (--reserve-memory)
// CPU: [[FILE]]:[[@LINE+1]]:1: error: reserve_memory (--reserve-memory) is for GPUs; with target cpu the compiler knows the process's memory besides the plan (memory.unplanned of the report); leave it out
train.program @p { model @m  optimizer sgd  batch 2 }
