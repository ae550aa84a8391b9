// A small Llama on bytes, for a quick start: 4 layers of width 128, 4 heads that share 2 pairs of keys and values.

// A transformer block: RMSNorm before attention with rotary positions, and before a SwiGLU MLP.
nn.block @layer(%x: tensor<?x?x128xf32>, %positions: tensor<?xi32>) {
  %n1 = nn.rms_norm "input_layernorm" %x
  %q = nn.linear "self_attn.q_proj" %n1 to 128 no_bias
  %k = nn.linear "self_attn.k_proj" %n1 to 64 no_bias
  %v = nn.linear "self_attn.v_proj" %n1 to 64 no_bias
  %qr = nn.rope %q positions %positions heads 4 theta 10000
  %kr = nn.rope %k positions %positions heads 2 theta 10000
  %heads, %lse = nn.attention %qr, %kr, %v heads 4 kv_heads 2 causal
  %a = nn.linear "self_attn.o_proj" %heads to 128 no_bias
  %y = nn.add %x, %a

  %n2 = nn.rms_norm "post_attention_layernorm" %y
  %gate = nn.linear "mlp.gate_proj" %n2 to 352 no_bias
  %up = nn.linear "mlp.up_proj" %n2 to 352 no_bias
  %act = nn.silu %gate
  %h = nn.mul %act, %up
  %m = nn.linear "mlp.down_proj" %h to 128 no_bias
  %z = nn.add %y, %m
  nn.return %z
}

nn.model @llama_small(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>)
    export "config.json" {
      architectures = ["LlamaForCausalLM"], model_type = "llama", hidden_act = "silu",
      vocab_size = 256, max_position_embeddings = 128, hidden_size = 128, intermediate_size = 352,
      num_hidden_layers = 4, num_attention_heads = 4, num_key_value_heads = 2, rms_norm_eps = 1.0e-5,
      rope_theta = 10000.0, attention_bias = false, mlp_bias = false, tie_word_embeddings = false,
      bos_token_id, eos_token_id, torch_dtype = "float32"
    } {
  %positions = nn.positions %tokens
  %x = nn.embedding "model.embed_tokens" %tokens of 256 by 128
  %h = nn.repeat @layer "model.layers" times 4 (%x, %positions)
  %n = nn.rms_norm "model.norm" %h
  %logits = nn.linear "lm_head" %n to 256 no_bias
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}

train.program @pretrain {
  model @llama_small
  optimizer adamw(lr 3e-3, beta2 0.95, weight_decay 0.1)
  schedule cosine(warmup 100, minimum 3e-4)
  clip 1.0
  batch 8 x 128
  steps 2000
}
