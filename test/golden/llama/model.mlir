// The tiny Llama of make_goldens.py.
nn.block @layer(%x: tensor<?x?x32xf32>, %i: tensor<?xi32>) {
  %a = nn.rms_norm "input_layernorm" %x
  %q = nn.linear "self_attn.q_proj" %a to 32 no_bias
  %k = nn.linear "self_attn.k_proj" %a to 16 no_bias
  %v = nn.linear "self_attn.v_proj" %a to 16 no_bias
  %rq = nn.rope %q positions %i heads 4 theta 10000.0
  %rk = nn.rope %k positions %i heads 2 theta 10000.0
  %y, %lse = nn.attention %rq, %rk, %v heads 4 kv_heads 2 causal
  %o = nn.linear "self_attn.o_proj" %y to 32 no_bias
  %r = nn.add %x, %o
  %b = nn.rms_norm "post_attention_layernorm" %r
  %g = nn.linear "mlp.gate_proj" %b to 48 no_bias
  %u = nn.linear "mlp.up_proj" %b to 48 no_bias
  %s = nn.silu %g
  %w = nn.mul %s, %u
  %d = nn.linear "mlp.down_proj" %w to 32 no_bias
  %z = nn.add %r, %d
  nn.return %z
}

nn.model @llama(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %x = nn.embedding "model.embed_tokens" %tokens of 96 by 32
  %i = nn.positions %tokens
  %h = nn.repeat @layer "model.layers" times 2 (%x, %i)
  %n = nn.rms_norm "model.norm" %h
  %logits = nn.linear "lm_head" %n to 96 no_bias
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}

train.program @train {
  model @llama
  optimizer adamw(lr 1e-2, beta1 0.9, beta2 0.95, eps 1e-8, weight_decay 0.1)
  clip 1.0
  batch 3 x 16
}
