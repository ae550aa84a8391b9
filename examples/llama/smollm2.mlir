// SmolLM2 (Ben Allal et al. 2025, arXiv 2502.02737) of 135 million parameters: 30 layers of width 576, 9 heads that share 3 pairs of keys
// and values, and a head tied to the embedding. Parameters have the names and layouts of Hugging Face checkpoints, and of GGUF files that
// trainrun --init takes.

let width = 576
let heads = 9
let kv_heads = 3
let head_width = width / heads
let mlp_width = 1536
let layers = 30
let vocabulary = 49152

// A transformer block: RMSNorm before attention with rotary positions, and before a SwiGLU MLP.
nn.block @layer(%x: tensor<?x?x$(width)xf32>, %positions: tensor<?xi32>) {
  %n1 = nn.rms_norm "input_layernorm" %x
  %q = nn.linear "self_attn.q_proj" %n1 to $width no_bias
  %k = nn.linear "self_attn.k_proj" %n1 to $(kv_heads * head_width) no_bias
  %v = nn.linear "self_attn.v_proj" %n1 to $(kv_heads * head_width) no_bias
  %qr = nn.rope %q positions %positions heads $heads theta 100000
  %kr = nn.rope %k positions %positions heads $kv_heads theta 100000
  %heads, %lse = nn.attention %qr, %kr, %v heads $heads kv_heads $kv_heads causal
  %a = nn.linear "self_attn.o_proj" %heads to $width no_bias
  %y = nn.add %x, %a

  %n2 = nn.rms_norm "post_attention_layernorm" %y
  %gate = nn.linear "mlp.gate_proj" %n2 to $mlp_width no_bias
  %up = nn.linear "mlp.up_proj" %n2 to $mlp_width no_bias
  %act = nn.silu %gate
  %h = nn.mul %act, %up
  %m = nn.linear "mlp.down_proj" %h to $width no_bias
  %z = nn.add %y, %m
  nn.return %z
}

nn.model @smollm2(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>)
    export "config.json" {
      architectures = ["LlamaForCausalLM"], model_type = "llama", hidden_act = "silu",
      vocab_size = $vocabulary, max_position_embeddings = 8192, hidden_size = $width, intermediate_size = $mlp_width,
      num_hidden_layers = $layers, num_attention_heads = $heads, num_key_value_heads = $kv_heads, rms_norm_eps = 1.0e-5,
      rope_theta = 100000.0, attention_bias = false, mlp_bias = false, tie_word_embeddings = true,
      bos_token_id = 1, eos_token_id = 2, torch_dtype = "float32"
    } {
  %positions = nn.positions %tokens
  %x = nn.embedding "model.embed_tokens" %tokens of $vocabulary by $width
  %h = nn.repeat @layer "model.layers" times $layers (%x, %positions)
  %n = nn.rms_norm "model.norm" %h
  %logits = nn.linear "lm_head" %n tied "model.embed_tokens.weight" no_bias
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}

train.program @finetune {
  model @smollm2
  optimizer adamw(lr 1e-5, beta2 0.95, weight_decay 0.1)
  schedule cosine(warmup 10, minimum 1e-6)
  clip 1.0
  batch 1 x 256
  accumulate 8
  steps 100
}
