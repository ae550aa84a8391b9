// A classifier of 28 x 28 images in 10 classes. Columns of the data: `features` (f32, 784 numbers a sample) and `labels`.

nn.model @mlp(%features: tensor<?x784xf32>, %labels: tensor<?xi32>) {
  %h1 = nn.linear "fc1" %features to 256
  %a1 = nn.relu %h1
  %d1 = nn.dropout "drop1" %a1 p 0.1
  %h2 = nn.linear "fc2" %d1 to 128
  %a2 = nn.relu %h2
  %logits = nn.linear "fc3" %a2 to 10
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels smoothing 0.05
  nn.loss "loss" %nll
}

train.program @classify {
  model @mlp
  optimizer adamw(lr 1e-3, weight_decay 0.01)
  schedule linear(warmup 100)
  clip 1.0
  batch 64
  eval_batch 256
  steps 5000
}
