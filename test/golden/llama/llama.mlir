// The tiny Llama of README.md.
nn.block @layer(%x: tensor<?x?x32xf32>, %positions: tensor<?xi32>) {
  %n1 = nn.rms_norm "input_layernorm" %x
  %q = nn.linear "self_attn.q_proj" %n1 to 32 no_bias
  %k = nn.linear "self_attn.k_proj" %n1 to 16 no_bias
  %v = nn.linear "self_attn.v_proj" %n1 to 16 no_bias
  %qr = nn.rope %q positions %positions heads 4 theta 10000
  %kr = nn.rope %k positions %positions heads 2 theta 10000
  %heads, %lse = nn.attention %qr, %kr, %v heads 4 kv_heads 2 causal
  %a = nn.linear "self_attn.o_proj" %heads to 32 no_bias
  %y = nn.add %x, %a
  %n2 = nn.rms_norm "post_attention_layernorm" %y
  %gate = nn.linear "mlp.gate_proj" %n2 to 48 no_bias
  %up = nn.linear "mlp.up_proj" %n2 to 48 no_bias
  %act = nn.silu %gate
  %h = nn.mul %act, %up
  %m = nn.linear "mlp.down_proj" %h to 32 no_bias
  %z = nn.add %y, %m
  nn.return %z
}

nn.model @llama(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %positions = nn.positions %tokens
  %x = nn.embedding "model.embed_tokens" %tokens of 96 by 32
  %h = nn.repeat @layer "model.layers" times 2 (%x, %positions)
  %n = nn.rms_norm "model.norm" %h
  %logits = nn.linear "lm_head" %n to 96 no_bias
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}

train.program @golden {
  model @llama
  optimizer adamw(lr 1e-2, beta1 0.9, beta2 0.95, eps 1e-8, weight_decay 0.1)
  schedule constant
  clip 1.0
  batch 3 x 16
  steps 10
}
