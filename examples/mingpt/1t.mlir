// minGPT 1T: the sizes of Narayanan et al. 2021 (arXiv 2104.04473), 4 x 2048 on each rank.
// A GPT-2 with learned positions, of 128 layers, width 25600 and 160 heads, and a head of its own.

nn.block @attention(%x: tensor<?x?x25600xf32>) {
  %qkv = nn.linear "c_attn" %x to 76800 layout in_out
  %q, %k, %v = nn.split %qkv into 3
  %heads, %lse = nn.attention %q, %k, %v heads 160 causal
  // Projections onto the residual path start smaller: 0.02 / sqrt(2 * 128 layers).
  %a = nn.linear "c_proj" %heads to 25600 layout in_out init normal(0.00125)
  nn.return %a
}

nn.block @expand(%x: tensor<?x?x25600xf32>) {
  %h = nn.linear "" %x to 102400 layout in_out
  nn.return %h
}

nn.block @contract(%x: tensor<?x?x102400xf32>) {
  %m = nn.linear "" %x to 25600 layout in_out init normal(0.00125)
  nn.return %m
}

nn.block @mlp(%x: tensor<?x?x25600xf32>) {
  %h = nn.apply @expand "c_fc" (%x)
  %g = nn.gelu %h approximate tanh
  %m = nn.apply @contract "c_proj" (%g)
  nn.return %m
}

nn.block @layer(%x: tensor<?x?x25600xf32>) {
  %n1 = nn.layer_norm "ln_1" %x
  %a = nn.apply @attention "attn" (%n1)
  %y = nn.add %x, %a
  %n2 = nn.layer_norm "ln_2" %y
  %m = nn.apply @mlp "mlp" (%n2)
  %z = nn.add %y, %m
  nn.return %z
}

nn.block @embed(%tokens: tensor<?x?xi32>) {
  %positions = nn.positions %tokens
  %wte = nn.embedding "wte" %tokens of 50257 by 25600
  %wpe = nn.embedding "wpe" %positions of 2048 by 25600
  %x = nn.add %wte, %wpe
  nn.return %x
}

nn.model @mingpt_1t(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %x = nn.apply @embed "embed" (%tokens)
  %h = nn.repeat @layer "h" times 128 (%x)
  %n = nn.layer_norm "ln_f" %h
  %logits = nn.linear "lm_head" %n to 50257 no_bias
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}

train.program @pretrain {
  model @mingpt_1t
  optimizer sgd(lr 1e-3)
  batch 4 x 2048
  target cuda  gpu "a100-40gb"  precision fp16 reduce_type f16
  ranks 128  zero_stage 3  wrap "attention,expand,contract,embed"
}
