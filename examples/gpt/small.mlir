// A small GPT-2 on bytes, for a quick start: 4 layers of width 128, a vocabulary of 256, 128 positions.

nn.block @layer(%x: tensor<?x?x128xf32>) {
  %n1 = nn.layer_norm "ln_1" %x
  %qkv = nn.linear "attn.c_attn" %n1 to 384 layout in_out
  %q, %k, %v = nn.split %qkv into 3
  %heads, %lse = nn.attention %q, %k, %v heads 4 causal
  // Projections onto the residual path start smaller: 0.02 / sqrt(2 * 4 layers).
  %a = nn.linear "attn.c_proj" %heads to 128 layout in_out init normal(0.00707107)
  %y = nn.add %x, %a

  %n2 = nn.layer_norm "ln_2" %y
  %h = nn.linear "mlp.c_fc" %n2 to 512 layout in_out
  %g = nn.gelu %h approximate tanh
  %m = nn.linear "mlp.c_proj" %g to 128 layout in_out init normal(0.00707107)
  %z = nn.add %y, %m
  nn.return %z
}

nn.model @gpt_small(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>)
    export "config.json" {
      architectures = ["GPT2LMHeadModel"], model_type = "gpt2", activation_function = "gelu_new",
      vocab_size = 256, n_positions = 128, n_embd = 128, n_layer = 4, n_head = 4,
      layer_norm_epsilon = 1.0e-5, resid_pdrop = 0.0, embd_pdrop = 0.0, attn_pdrop = 0.0,
      bos_token_id, eos_token_id, tie_word_embeddings = true, torch_dtype = "float32"
    } {
  %positions = nn.positions %tokens
  %wte = nn.embedding "wte" %tokens of 256 by 128
  %wpe = nn.embedding "wpe" %positions of 128 by 128
  %x = nn.add %wte, %wpe
  %h = nn.repeat @layer "h" times 4 (%x)
  %n = nn.layer_norm "ln_f" %h
  %logits = nn.linear "lm_head" %n tied "wte.weight" no_bias
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}

train.program @pretrain {
  model @gpt_small
  optimizer adamw(lr 3e-3, beta2 0.95, weight_decay 0.1)
  schedule cosine(warmup 100, minimum 3e-4, total 3000)
  clip 1.0
  batch 8 x 128
  steps 3000
}
