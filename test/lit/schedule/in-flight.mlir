// RUN: trainc-opt --schedule-collectives %s | FileCheck %s

// Plans have at most 64 collectives in flight: the first is awaited before the 65th begins.
// CHECK-COUNT-64: dist.all_gather_start
// CHECK-NOT: dist.all_gather_start
// CHECK: dist.wait
// CHECK: dist.all_gather_start
dist.mesh [shard = 2]
train.program @main { model @m optimizer sgd(lr 0.1) batch 8 ranks 2 zero_stage 1 }
train.state parameter @w : tensor<8xf32>
train.entry @update {
  %w = train.get @w : tensor<8xf32>
  %part = dist.part %w in shard : tensor<8xf32> -> tensor<4xf32>
  %new = nn.square %part : tensor<4xf32>
  %s0 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g0 = dist.wait %s0 : tensor<8xf32>
  %s1 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g1 = dist.wait %s1 : tensor<8xf32>
  %s2 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g2 = dist.wait %s2 : tensor<8xf32>
  %s3 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g3 = dist.wait %s3 : tensor<8xf32>
  %s4 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g4 = dist.wait %s4 : tensor<8xf32>
  %s5 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g5 = dist.wait %s5 : tensor<8xf32>
  %s6 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g6 = dist.wait %s6 : tensor<8xf32>
  %s7 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g7 = dist.wait %s7 : tensor<8xf32>
  %s8 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g8 = dist.wait %s8 : tensor<8xf32>
  %s9 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g9 = dist.wait %s9 : tensor<8xf32>
  %s10 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g10 = dist.wait %s10 : tensor<8xf32>
  %s11 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g11 = dist.wait %s11 : tensor<8xf32>
  %s12 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g12 = dist.wait %s12 : tensor<8xf32>
  %s13 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g13 = dist.wait %s13 : tensor<8xf32>
  %s14 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g14 = dist.wait %s14 : tensor<8xf32>
  %s15 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g15 = dist.wait %s15 : tensor<8xf32>
  %s16 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g16 = dist.wait %s16 : tensor<8xf32>
  %s17 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g17 = dist.wait %s17 : tensor<8xf32>
  %s18 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g18 = dist.wait %s18 : tensor<8xf32>
  %s19 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g19 = dist.wait %s19 : tensor<8xf32>
  %s20 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g20 = dist.wait %s20 : tensor<8xf32>
  %s21 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g21 = dist.wait %s21 : tensor<8xf32>
  %s22 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g22 = dist.wait %s22 : tensor<8xf32>
  %s23 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g23 = dist.wait %s23 : tensor<8xf32>
  %s24 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g24 = dist.wait %s24 : tensor<8xf32>
  %s25 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g25 = dist.wait %s25 : tensor<8xf32>
  %s26 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g26 = dist.wait %s26 : tensor<8xf32>
  %s27 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g27 = dist.wait %s27 : tensor<8xf32>
  %s28 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g28 = dist.wait %s28 : tensor<8xf32>
  %s29 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g29 = dist.wait %s29 : tensor<8xf32>
  %s30 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g30 = dist.wait %s30 : tensor<8xf32>
  %s31 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g31 = dist.wait %s31 : tensor<8xf32>
  %s32 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g32 = dist.wait %s32 : tensor<8xf32>
  %s33 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g33 = dist.wait %s33 : tensor<8xf32>
  %s34 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g34 = dist.wait %s34 : tensor<8xf32>
  %s35 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g35 = dist.wait %s35 : tensor<8xf32>
  %s36 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g36 = dist.wait %s36 : tensor<8xf32>
  %s37 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g37 = dist.wait %s37 : tensor<8xf32>
  %s38 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g38 = dist.wait %s38 : tensor<8xf32>
  %s39 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g39 = dist.wait %s39 : tensor<8xf32>
  %s40 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g40 = dist.wait %s40 : tensor<8xf32>
  %s41 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g41 = dist.wait %s41 : tensor<8xf32>
  %s42 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g42 = dist.wait %s42 : tensor<8xf32>
  %s43 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g43 = dist.wait %s43 : tensor<8xf32>
  %s44 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g44 = dist.wait %s44 : tensor<8xf32>
  %s45 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g45 = dist.wait %s45 : tensor<8xf32>
  %s46 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g46 = dist.wait %s46 : tensor<8xf32>
  %s47 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g47 = dist.wait %s47 : tensor<8xf32>
  %s48 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g48 = dist.wait %s48 : tensor<8xf32>
  %s49 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g49 = dist.wait %s49 : tensor<8xf32>
  %s50 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g50 = dist.wait %s50 : tensor<8xf32>
  %s51 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g51 = dist.wait %s51 : tensor<8xf32>
  %s52 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g52 = dist.wait %s52 : tensor<8xf32>
  %s53 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g53 = dist.wait %s53 : tensor<8xf32>
  %s54 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g54 = dist.wait %s54 : tensor<8xf32>
  %s55 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g55 = dist.wait %s55 : tensor<8xf32>
  %s56 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g56 = dist.wait %s56 : tensor<8xf32>
  %s57 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g57 = dist.wait %s57 : tensor<8xf32>
  %s58 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g58 = dist.wait %s58 : tensor<8xf32>
  %s59 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g59 = dist.wait %s59 : tensor<8xf32>
  %s60 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g60 = dist.wait %s60 : tensor<8xf32>
  %s61 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g61 = dist.wait %s61 : tensor<8xf32>
  %s62 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g62 = dist.wait %s62 : tensor<8xf32>
  %s63 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g63 = dist.wait %s63 : tensor<8xf32>
  %s64 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g64 = dist.wait %s64 : tensor<8xf32>
  %s65 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g65 = dist.wait %s65 : tensor<8xf32>
  %s66 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g66 = dist.wait %s66 : tensor<8xf32>
  %s67 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g67 = dist.wait %s67 : tensor<8xf32>
  %s68 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g68 = dist.wait %s68 : tensor<8xf32>
  %s69 = dist.all_gather_start %new in shard : tensor<4xf32> -> tensor<8xf32>
  %g69 = dist.wait %s69 : tensor<8xf32>
  train.set @w, %g0 : tensor<8xf32>
  train.set @w, %g1 : tensor<8xf32>
  train.set @w, %g2 : tensor<8xf32>
  train.set @w, %g3 : tensor<8xf32>
  train.set @w, %g4 : tensor<8xf32>
  train.set @w, %g5 : tensor<8xf32>
  train.set @w, %g6 : tensor<8xf32>
  train.set @w, %g7 : tensor<8xf32>
  train.set @w, %g8 : tensor<8xf32>
  train.set @w, %g9 : tensor<8xf32>
  train.set @w, %g10 : tensor<8xf32>
  train.set @w, %g11 : tensor<8xf32>
  train.set @w, %g12 : tensor<8xf32>
  train.set @w, %g13 : tensor<8xf32>
  train.set @w, %g14 : tensor<8xf32>
  train.set @w, %g15 : tensor<8xf32>
  train.set @w, %g16 : tensor<8xf32>
  train.set @w, %g17 : tensor<8xf32>
  train.set @w, %g18 : tensor<8xf32>
  train.set @w, %g19 : tensor<8xf32>
  train.set @w, %g20 : tensor<8xf32>
  train.set @w, %g21 : tensor<8xf32>
  train.set @w, %g22 : tensor<8xf32>
  train.set @w, %g23 : tensor<8xf32>
  train.set @w, %g24 : tensor<8xf32>
  train.set @w, %g25 : tensor<8xf32>
  train.set @w, %g26 : tensor<8xf32>
  train.set @w, %g27 : tensor<8xf32>
  train.set @w, %g28 : tensor<8xf32>
  train.set @w, %g29 : tensor<8xf32>
  train.set @w, %g30 : tensor<8xf32>
  train.set @w, %g31 : tensor<8xf32>
  train.set @w, %g32 : tensor<8xf32>
  train.set @w, %g33 : tensor<8xf32>
  train.set @w, %g34 : tensor<8xf32>
  train.set @w, %g35 : tensor<8xf32>
  train.set @w, %g36 : tensor<8xf32>
  train.set @w, %g37 : tensor<8xf32>
  train.set @w, %g38 : tensor<8xf32>
  train.set @w, %g39 : tensor<8xf32>
  train.set @w, %g40 : tensor<8xf32>
  train.set @w, %g41 : tensor<8xf32>
  train.set @w, %g42 : tensor<8xf32>
  train.set @w, %g43 : tensor<8xf32>
  train.set @w, %g44 : tensor<8xf32>
  train.set @w, %g45 : tensor<8xf32>
  train.set @w, %g46 : tensor<8xf32>
  train.set @w, %g47 : tensor<8xf32>
  train.set @w, %g48 : tensor<8xf32>
  train.set @w, %g49 : tensor<8xf32>
  train.set @w, %g50 : tensor<8xf32>
  train.set @w, %g51 : tensor<8xf32>
  train.set @w, %g52 : tensor<8xf32>
  train.set @w, %g53 : tensor<8xf32>
  train.set @w, %g54 : tensor<8xf32>
  train.set @w, %g55 : tensor<8xf32>
  train.set @w, %g56 : tensor<8xf32>
  train.set @w, %g57 : tensor<8xf32>
  train.set @w, %g58 : tensor<8xf32>
  train.set @w, %g59 : tensor<8xf32>
  train.set @w, %g60 : tensor<8xf32>
  train.set @w, %g61 : tensor<8xf32>
  train.set @w, %g62 : tensor<8xf32>
  train.set @w, %g63 : tensor<8xf32>
  train.set @w, %g64 : tensor<8xf32>
  train.set @w, %g65 : tensor<8xf32>
  train.set @w, %g66 : tensor<8xf32>
  train.set @w, %g67 : tensor<8xf32>
  train.set @w, %g68 : tensor<8xf32>
  train.set @w, %g69 : tensor<8xf32>
}
