// The tiny GPT-2 of make_goldens.py.
nn.block @layer(%x: tensor<?x?x32xf32>) {
  %a = nn.layer_norm "ln_1" %x
  %qkv = nn.linear "attn.c_attn" %a to 96 layout in_out
  %q, %k, %v = nn.split %qkv into 3
  %y, %lse = nn.attention %q, %k, %v heads 4 causal
  %o = nn.linear "attn.c_proj" %y to 32 layout in_out
  %r = nn.add %x, %o
  %b = nn.layer_norm "ln_2" %r
  %f = nn.linear "mlp.c_fc" %b to 128 layout in_out
  %g = nn.gelu %f approximate tanh
  %m = nn.linear "mlp.c_proj" %g to 32 layout in_out
  %s = nn.add %r, %m
  nn.return %s
}

nn.model @gpt(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %t = nn.embedding "wte" %tokens of 96 by 32
  %i = nn.positions %tokens
  %p = nn.embedding "wpe" %i of 16 by 32
  %x = nn.add %t, %p
  %h = nn.repeat @layer "h" times 2 (%x)
  %n = nn.layer_norm "ln_f" %h
  %logits = nn.linear "lm_head" %n tied "wte.weight" no_bias
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}

train.program @train {
  model @gpt
  optimizer adamw(lr 1e-2, beta1 0.9, beta2 0.95, eps 1e-8, weight_decay 0.1)
  clip 1.0
  batch 3 x 16
}
