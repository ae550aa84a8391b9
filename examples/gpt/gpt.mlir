// GPT-2 124M (Radford et al. 2019). Parameters have the names and layouts of the Hugging Face checkpoints.

// A transformer block: attention and an MLP, each after a layer norm and with a residual connection.
nn.block @layer(%x: tensor<?x?x768xf32>) {
  %n1 = nn.layer_norm "ln_1" %x
  %qkv = nn.linear "attn.c_attn" %n1 to 2304 layout in_out
  %q, %k, %v = nn.split %qkv into 3
  %heads, %lse = nn.attention %q, %k, %v heads 12 causal
  // Projections onto the residual path start smaller: 0.02 / sqrt(2 * 12 layers).
  %a = nn.linear "attn.c_proj" %heads to 768 layout in_out init normal(0.00408248)
  %y = nn.add %x, %a

  %n2 = nn.layer_norm "ln_2" %y
  %h = nn.linear "mlp.c_fc" %n2 to 3072 layout in_out
  %g = nn.gelu %h approximate tanh
  %m = nn.linear "mlp.c_proj" %g to 768 layout in_out init normal(0.00408248)
  %z = nn.add %y, %m
  nn.return %z
}

nn.model @gpt2(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>)
    export "config.json" {
      architectures = ["GPT2LMHeadModel"], model_type = "gpt2", activation_function = "gelu_new",
      vocab_size = 50257, n_positions = 1024, n_embd = 768, n_layer = 12, n_head = 12,
      layer_norm_epsilon = 1.0e-5, resid_pdrop = 0.0, embd_pdrop = 0.0, attn_pdrop = 0.0,
      bos_token_id = 50256, eos_token_id = 50256, tie_word_embeddings = true, torch_dtype = "float32"
    } {
  %positions = nn.positions %tokens
  %wte = nn.embedding "wte" %tokens of 50257 by 768
  %wpe = nn.embedding "wpe" %positions of 1024 by 768
  %x = nn.add %wte, %wpe
  %h = nn.repeat @layer "h" times 12 (%x)
  %n = nn.layer_norm "ln_f" %h
  %logits = nn.linear "lm_head" %n tied "wte.weight" no_bias
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}

train.program @pretrain {
  model @gpt2
  optimizer adamw(lr 6e-4, beta2 0.95, weight_decay 0.1)
  schedule cosine(warmup 700, minimum 6e-5)
  clip 1.0
  batch 4 x 1024
  accumulate 8
  steps 20000
}
