// Points of the plane in two classes: inside a circle or outside. Followed through all phases in docs/tutorials/through-the-compiler.md.

nn.model @circle(%features: tensor<?x2xf32>, %labels: tensor<?xi32>) {
  %hidden = nn.linear "hidden" %features to 32 init normal(0.5)
  %active = nn.relu %hidden
  %logits = nn.linear "out" %active to 2
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}

train.program @tutorial {
  model @circle
  optimizer adamw(lr 1e-2)
  schedule cosine(warmup 20)
  clip 1.0
  batch 64
  steps 500
}
