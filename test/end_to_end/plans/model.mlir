// The model of the plans that are kept here. It never changes, so that the plans differ by their format alone.
nn.model @kept(%x: tensor<?x8xf32>, %y: tensor<?x1xf32>) {
  %h = nn.linear "fc1" %x to 16
  %a = nn.tanh %h
  %n = nn.layer_norm "ln" %a
  %z = nn.linear "fc2" %n to 1
  %loss = nn.mse %z, %y
  nn.loss "loss" %loss
}
train.program @train { model @kept  optimizer adamw(lr 1e-2)  clip 1.0  batch 4 }
