// A kernel of each class: gathers, norms, elementwise rows, bias and scale gradients, attention with heads of 64 and
// 128, copies, zeros around them, a transpose, a scatter, casts, sums, optimizer updates. Vectors are long enough to be read 16 bytes at a
// time.
nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %x = nn.embedding "e" %tokens of 512 by 1024
  %n = nn.layer_norm "n" %x
  %qkv = nn.linear "qkv" %n to 3072
  %q, %k, %v = nn.split %qkv into 3
  %a, %l1 = nn.attention %q, %k, %v heads 16 causal
  %b, %l2 = nn.attention %q, %k, %v heads 8 causal
  %c = nn.add %a, %b
  %t = nn.transpose %c by [0, 2, 1]
  %s = nn.mul %t, %t
  %u = nn.transpose %s by [0, 2, 1]
  %w = nn.mul %u, %c
  %z = nn.pad %w dim 1 low 64 high 0
  %f = nn.slice %z dim 1 from 32 size 64
  %h = nn.linear "h" %f to 2048
  %g = nn.gelu %h approximate tanh
  %o = nn.linear "o" %g to 512
  %nll, %lse = nn.cross_entropy %o, %labels
  nn.loss "loss" %nll
}
train.program @p {
  model @m
  optimizer adamw
  clip 1.0
  batch 2 x 64
  target cuda
}
