// A layer of GPT-2's widths with two heads, on few tokens.
nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %x = nn.embedding "e" %tokens of 263 by 768
  %n = nn.layer_norm "n" %x
  %qkv = nn.linear "qkv" %n to 384
  %q, %k, %v = nn.split %qkv into 3
  %a, %lse = nn.attention %q, %k, %v heads 2 causal
  %o = nn.linear "o" %a to 768
  %r = nn.add %x, %o
  %m = nn.layer_norm "m" %r
  %h = nn.linear "h" %m to 768
  %g = nn.gelu %h approximate tanh
  %l = nn.linear "l" %g to 263 no_bias
  %nll, %norm = nn.cross_entropy %l, %labels
  nn.loss "loss" %nll
}
train.program @p { model @m  optimizer adamw  clip 1.0  batch 1 x 67  target cuda }
