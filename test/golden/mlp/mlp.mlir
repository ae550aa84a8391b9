// The classifier of README.md.
nn.model @mlp(%features: tensor<?x20xf32>, %labels: tensor<?xi32>) {
  %h1 = nn.linear "fc1" %features to 32
  %a1 = nn.relu %h1
  %h2 = nn.linear "fc2" %a1 to 32
  %a2 = nn.relu %h2
  %logits = nn.linear "fc3" %a2 to 10
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}

train.program @golden {
  model @mlp
  optimizer adamw(lr 1e-2, beta1 0.9, beta2 0.95, eps 1e-8, weight_decay 0.1)
  schedule constant
  clip 1.0
  batch 8
  steps 10
}
