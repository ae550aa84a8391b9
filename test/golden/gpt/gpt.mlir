// The tiny GPT-2 of README.md.
nn.block @layer(%x: tensor<?x?x32xf32>) {
  %n1 = nn.layer_norm "ln_1" %x
  %qkv = nn.linear "attn.c_attn" %n1 to 96 layout in_out
  %q, %k, %v = nn.split %qkv into 3
  %heads, %lse = nn.attention %q, %k, %v heads 4 causal
  %a = nn.linear "attn.c_proj" %heads to 32 layout in_out
  %y = nn.add %x, %a
  %n2 = nn.layer_norm "ln_2" %y
  %h = nn.linear "mlp.c_fc" %n2 to 128 layout in_out
  %g = nn.gelu %h approximate tanh
  %m = nn.linear "mlp.c_proj" %g to 32 layout in_out
  %z = nn.add %y, %m
  nn.return %z
}

nn.model @gpt(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %positions = nn.positions %tokens
  %wte = nn.embedding "wte" %tokens of 96 by 32
  %wpe = nn.embedding "wpe" %positions of 16 by 32
  %x = nn.add %wte, %wpe
  %h = nn.repeat @layer "h" times 2 (%x)
  %n = nn.layer_norm "ln_f" %h
  %logits = nn.linear "lm_head" %n tied "wte.weight" no_bias
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}

train.program @golden {
  model @gpt
  optimizer adamw(lr 1e-2, beta1 0.9, beta2 0.95, eps 1e-8, weight_decay 0.1)
  schedule constant
  clip 1.0
  batch 3 x 16
  steps 10
}
