// RUN: trainc compile %s -o %t.plan
// RUN: trainc dump %t.plan | FileCheck %s --check-prefix=HOLD
// RUN: trainc compile %s -o %t.plan --skipped-steps=advance
// RUN: trainc dump %t.plan | FileCheck %s --check-prefix=ADVANCE
// RUN: trainc compile %s -o %t.plan --skipped-steps=advance --loss-scale=64 2>&1 | FileCheck %s --check-prefix=IDLE
// RUN: trainc dump %t.plan | FileCheck %s --check-prefix=HOLD
// RUN: trainc compile %s --compile-to=plan --skipped-steps=advance | FileCheck %s --check-prefix=OP

// The plan says whether steps that overflow move the schedule. With a fixed scale none is skipped.

nn.model @m(%x: tensor<?x4xf32>) {
  %y = nn.linear "fc" %x to 4
  nn.loss "loss" %y
}
train.program @p { model @m  optimizer sgd  batch 2  precision fp16 }

// HOLD: training {{.*}} schedule(kind=Constant peak=0.001)
// ADVANCE: training {{.*}} schedule(kind=Constant peak=0.001 skipped_advance)
// IDLE: skipped_steps (--skipped-steps) does nothing with a fixed loss_scale
// OP: plan.training {{.*}} total 0 skipped_advance
