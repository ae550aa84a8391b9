// A Llama (Touvron et al. 2023) of 1.1 billion parameters with grouped heads, in the shape of TinyLlama. Parameters have the
// names and layouts of Hugging Face checkpoints.

// A transformer block: RMSNorm before attention with rotary positions, and before a SwiGLU MLP.
nn.block @layer(%x: tensor<?x?x2048xf32>, %positions: tensor<?xi32>) {
  %n1 = nn.rms_norm "input_layernorm" %x
  %q = nn.linear "self_attn.q_proj" %n1 to 2048 no_bias
  %k = nn.linear "self_attn.k_proj" %n1 to 256 no_bias
  %v = nn.linear "self_attn.v_proj" %n1 to 256 no_bias
  %qr = nn.rope %q positions %positions heads 32 theta 10000
  %kr = nn.rope %k positions %positions heads 4 theta 10000
  %heads, %lse = nn.attention %qr, %kr, %v heads 32 kv_heads 4 causal
  %a = nn.linear "self_attn.o_proj" %heads to 2048 no_bias
  %y = nn.add %x, %a

  %n2 = nn.rms_norm "post_attention_layernorm" %y
  %gate = nn.linear "mlp.gate_proj" %n2 to 5632 no_bias
  %up = nn.linear "mlp.up_proj" %n2 to 5632 no_bias
  %act = nn.silu %gate
  %h = nn.mul %act, %up
  %m = nn.linear "mlp.down_proj" %h to 2048 no_bias
  %z = nn.add %y, %m
  nn.return %z
}

nn.model @llama(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>)
    export "config.json" {
      architectures = ["LlamaForCausalLM"], model_type = "llama", hidden_act = "silu",
      vocab_size = 32000, max_position_embeddings = 2048, hidden_size = 2048, intermediate_size = 5632,
      num_hidden_layers = 22, num_attention_heads = 32, num_key_value_heads = 4, rms_norm_eps = 1.0e-5,
      rope_theta = 10000.0, attention_bias = false, mlp_bias = false, tie_word_embeddings = false,
      torch_dtype = "float32"
    } {
  %positions = nn.positions %tokens
  %x = nn.embedding "model.embed_tokens" %tokens of 32000 by 2048
  %h = nn.repeat @layer "model.layers" times 22 (%x, %positions)
  %n = nn.rms_norm "model.norm" %h
  %logits = nn.linear "lm_head" %n to 32000 no_bias
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}

train.program @pretrain {
  model @llama
  optimizer adamw(lr 4e-4, beta2 0.95, weight_decay 0.1)
  schedule cosine(warmup 2000, minimum 4e-5)
  clip 1.0
  batch 1 x 2048
  accumulate 8
  steps 100000
}
