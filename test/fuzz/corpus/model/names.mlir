nn.block @eval(%x: tensor<?x4xf32>) {
  %w = nn.parameter "exp_avg.w" tensor<4xf32> init uniform(-1, 1)
  %y = nn.mul %x, %w
  %d = nn.dropout "drop" %y p 0.5
  nn.return %d
}
nn.model @micro_step(%x: tensor<?x4xf32>) export "a\22b.json" {n = 1} {
  %y = nn.apply @eval "" (%x)
  %e = nn.mse %x, %y
  nn.loss "z" %e
}
train.program @p { model @micro_step optimizer adamw batch 2 export "b.json" {n = 2} }
