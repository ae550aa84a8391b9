// minGPT 175B: the sizes of GPT-3 (Brown et al. 2020), 20 x 512 on each rank.
// A GPT-2 with learned positions, of 96 layers, width 12288 and 96 heads, and a head of its own.

nn.block @layer(%x: tensor<?x?x12288xf32>) {
  %n1 = nn.layer_norm "ln_1" %x
  %qkv = nn.linear "attn.c_attn" %n1 to 36864 layout in_out
  %q, %k, %v = nn.split %qkv into 3
  %heads, %lse = nn.attention %q, %k, %v heads 96 causal
  // Projections onto the residual path start smaller: 0.02 / sqrt(2 * 96 layers).
  %a = nn.linear "attn.c_proj" %heads to 12288 layout in_out init normal(0.00144338)
  %y = nn.add %x, %a

  %n2 = nn.layer_norm "ln_2" %y
  %h = nn.linear "mlp.c_fc" %n2 to 49152 layout in_out
  %g = nn.gelu %h approximate tanh
  %m = nn.linear "mlp.c_proj" %g to 12288 layout in_out init normal(0.00144338)
  %z = nn.add %y, %m
  nn.return %z
}

nn.model @mingpt_175b(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %positions = nn.positions %tokens
  %wte = nn.embedding "wte" %tokens of 50257 by 12288
  %wpe = nn.embedding "wpe" %positions of 512 by 12288
  %x = nn.add %wte, %wpe
  %h = nn.repeat @layer "h" times 96 (%x)
  %n = nn.layer_norm "ln_f" %h
  %logits = nn.linear "lm_head" %n to 50257 no_bias
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}

train.program @pretrain {
  model @mingpt_175b
  optimizer sgd(lr 1e-3)
  batch 20 x 512
  target cuda  gpu "a100-40gb"  precision fp16 reduce_type f16
  ranks 128  zero_stage 3
}
