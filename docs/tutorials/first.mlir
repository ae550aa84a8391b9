nn.block @layer(%x: tensor<?x?x128xf32>, %positions: tensor<?xi32>) {
  %n = nn.rms_norm "norm" %x
  %qkv = nn.linear "qkv" %n to 384
  %q, %k, %v = nn.split %qkv into 3
  %qr = nn.rope %q positions %positions heads 4 theta 10000
  %kr = nn.rope %k positions %positions heads 4 theta 10000
  %a, %lse = nn.attention %qr, %kr, %v heads 4 causal
  %o = nn.linear "out" %a to 128
  %y = nn.add %x, %o
  nn.return %y
}

nn.model @first(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %positions = nn.positions %tokens
  %x = nn.embedding "embed" %tokens of 256 by 128
  %h = nn.repeat @layer "layers" times 4 (%x, %positions)
  %logits = nn.linear "head" %h to 256
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}

train.program @train {
  model @first  batch 8 x 64  steps 600
  optimizer adamw(lr 5e-3, beta2 0.95)  schedule cosine(warmup 20, total 600)  clip 1.0
}
