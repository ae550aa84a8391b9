// Llama 3 70B (Grattafiori et al. 2024, arXiv 2407.21783): 80 layers, width 8192, 64 heads of which 8 keep keys and values, for 64
// GPUs. Parameters have the names and layouts of Hugging Face checkpoints.

// A transformer block: RMSNorm before attention with rotary positions, and before a SwiGLU MLP.
nn.block @layer(%x: tensor<?x?x8192xf32>, %positions: tensor<?xi32>) {
  %n1 = nn.rms_norm "input_layernorm" %x
  %q = nn.linear "self_attn.q_proj" %n1 to 8192 no_bias
  %k = nn.linear "self_attn.k_proj" %n1 to 1024 no_bias
  %v = nn.linear "self_attn.v_proj" %n1 to 1024 no_bias
  %qr = nn.rope %q positions %positions heads 64 theta 500000
  %kr = nn.rope %k positions %positions heads 8 theta 500000
  %heads, %lse = nn.attention %qr, %kr, %v heads 64 kv_heads 8 causal
  %a = nn.linear "self_attn.o_proj" %heads to 8192 no_bias
  %y = nn.add %x, %a

  %n2 = nn.rms_norm "post_attention_layernorm" %y
  %gate = nn.linear "mlp.gate_proj" %n2 to 28672 no_bias
  %up = nn.linear "mlp.up_proj" %n2 to 28672 no_bias
  %act = nn.silu %gate
  %h = nn.mul %act, %up
  %m = nn.linear "mlp.down_proj" %h to 8192 no_bias
  %z = nn.add %y, %m
  nn.return %z
}

nn.model @llama_70b(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>)
    export "config.json" {
      architectures = ["LlamaForCausalLM"], model_type = "llama", hidden_act = "silu",
      vocab_size = 128256, max_position_embeddings = 8192, hidden_size = 8192, intermediate_size = 28672,
      num_hidden_layers = 80, num_attention_heads = 64, num_key_value_heads = 8, rms_norm_eps = 1.0e-5,
      rope_theta = 500000.0, attention_bias = false, mlp_bias = false, tie_word_embeddings = false,
      torch_dtype = "float32"
    } {
  %positions = nn.positions %tokens
  %x = nn.embedding "model.embed_tokens" %tokens of 128256 by 8192
  %h = nn.repeat @layer "model.layers" times 80 (%x, %positions)
  %n = nn.rms_norm "model.norm" %h
  %logits = nn.linear "lm_head" %n to 128256 no_bias
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}

train.program @pretrain {
  model @llama_70b
  optimizer adamw(lr 8e-5, beta2 0.95, weight_decay 0.1)
  schedule cosine(warmup 8000, minimum 8e-7)
  clip 1.0
  batch 1 x 4096
  accumulate 4
  steps 100000
  target cuda  gpu "h100-sxm"  precision bf16
  ranks 64
}
