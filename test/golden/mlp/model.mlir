// The MLP classifier of make_goldens.py.
nn.model @mlp(%features: tensor<?x20xf32>, %labels: tensor<?xi32>) {
  %a = nn.linear "fc1" %features to 32
  %b = nn.relu %a
  %c = nn.linear "fc2" %b to 32
  %d = nn.relu %c
  %logits = nn.linear "fc3" %d to 10
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}

train.program @train {
  model @mlp
  optimizer adamw(lr 1e-2, beta1 0.9, beta2 0.95, eps 1e-8, weight_decay 0.1)
  clip 1.0
  batch 8
}
