#include "base/config_defaults.h"

#include <algorithm>

namespace trainc {

namespace {

/// The defaults of one class. test/golden/check_config_defaults.py compares them with transformers.
struct ClassDefaults {
  std::string_view modelType;
  std::string_view base; ///< type from which all other defaults are inherited; empty: none
  std::string_view keys; ///< as JSON
};

constexpr ClassDefaults kClasses[] = {
    {"llama", "", R"({
       "vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32,
       "num_attention_heads": 32, "max_position_embeddings": 2048, "hidden_act": "silu",
       "rms_norm_eps": 1e-6, "initializer_range": 0.02, "tie_word_embeddings": false, "rope_theta": 10000.0,
       "attention_bias": false, "mlp_bias": false, "attention_dropout": 0.0})"},
    {"granite", "llama", R"({
       "embedding_multiplier": 1.0, "residual_multiplier": 1.0, "attention_multiplier": 1.0,
       "logits_scaling": 1.0})"},
    {"mistral", "llama", R"({
       "intermediate_size": 14336, "num_key_value_heads": 8, "max_position_embeddings": 131072,
       "sliding_window": 4096})"},
    {"ministral3", "llama", R"({
       "vocab_size": 131072, "intermediate_size": 14336, "num_hidden_layers": 34, "num_key_value_heads": 8,
       "head_dim": 128, "max_position_embeddings": 262144, "rms_norm_eps": 1e-5,
       "rope_parameters": {"rope_type": "yarn", "rope_theta": 1000000.0, "factor": 16.0,
         "original_max_position_embeddings": 16384, "max_position_embeddings": 262144, "beta_fast": 32.0,
         "beta_slow": 1.0, "mscale": 1.0, "mscale_all_dim": 1.0, "llama_4_scaling_beta": 0.1}})"},
    {"olmo2", "llama", R"({"vocab_size": 50304, "rms_norm_eps": 1e-5})"},
    {"olmo3", "olmo2", R"({"sliding_window": 4096, "rope_theta": 500000.0})"},
    {"phi3", "llama", R"({
       "vocab_size": 32064, "hidden_size": 3072, "intermediate_size": 8192, "max_position_embeddings": 4096,
       "original_max_position_embeddings": 4096, "rms_norm_eps": 1e-5, "partial_rotary_factor": 1.0,
       "resid_pdrop": 0.0})"},
    {"qwen2", "llama", R"({
       "vocab_size": 151936, "intermediate_size": 22016, "num_key_value_heads": 32,
       "max_position_embeddings": 32768, "use_sliding_window": false, "sliding_window": 4096,
       "max_window_layers": 28})"},
    {"qwen3", "qwen2", R"({"head_dim": 128})"},
    {"smollm3", "llama", R"({
       "vocab_size": 128256, "hidden_size": 2048, "num_hidden_layers": 36, "num_attention_heads": 16,
       "num_key_value_heads": 4, "max_position_embeddings": 32768, "rope_theta": 2000000.0,
       "tie_word_embeddings": true, "no_rope_layer_interval": 4})"},
    {"gemma", "", R"({
       "vocab_size": 256000, "hidden_size": 3072, "intermediate_size": 24576, "num_hidden_layers": 28,
       "num_attention_heads": 16, "num_key_value_heads": 16, "head_dim": 256,
       "max_position_embeddings": 8192, "hidden_act": "gelu_pytorch_tanh", "rms_norm_eps": 1e-6,
       "initializer_range": 0.02, "tie_word_embeddings": true, "rope_theta": 10000.0,
       "attention_bias": false, "attention_dropout": 0.0})"},
    {"gemma2", "", R"({
       "vocab_size": 256000, "hidden_size": 2304, "intermediate_size": 9216, "num_hidden_layers": 26,
       "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256, "max_position_embeddings": 8192,
       "hidden_activation": "gelu_pytorch_tanh", "rms_norm_eps": 1e-6, "initializer_range": 0.02,
       "tie_word_embeddings": true, "rope_theta": 10000.0, "attention_bias": false,
       "attention_dropout": 0.0, "query_pre_attn_scalar": 256, "sliding_window": 4096,
       "attn_logit_softcapping": 50.0, "final_logit_softcapping": 30.0})"},
    {"gemma3_text", "", R"({
       "vocab_size": 262208, "hidden_size": 2304, "intermediate_size": 9216, "num_hidden_layers": 26,
       "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256,
       "max_position_embeddings": 131072, "hidden_activation": "gelu_pytorch_tanh", "rms_norm_eps": 1e-6,
       "initializer_range": 0.02, "tie_word_embeddings": true, "rope_theta": 1000000.0,
       "rope_local_base_freq": 10000.0, "attention_bias": false, "attention_dropout": 0.0,
       "query_pre_attn_scalar": 256, "sliding_window": 4096, "sliding_window_pattern": 6})"},
    {"gpt2", "", R"({
       "vocab_size": 50257, "n_positions": 1024, "n_embd": 768, "n_layer": 12, "n_head": 12,
       "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5, "initializer_range": 0.02,
       "tie_word_embeddings": true, "embd_pdrop": 0.1, "resid_pdrop": 0.1, "attn_pdrop": 0.1})"},
    {"bloom", "", R"({
       "vocab_size": 250880, "hidden_size": 64, "n_layer": 2, "n_head": 8, "layer_norm_epsilon": 1e-5,
       "initializer_range": 0.02, "tie_word_embeddings": true,
       "apply_residual_connection_post_layernorm": false, "pretraining_tp": 1, "attention_dropout": 0.0,
       "hidden_dropout": 0.0})"},
    {"falcon", "", R"({
       "vocab_size": 65024, "hidden_size": 4544, "num_hidden_layers": 32, "num_attention_heads": 71,
       "max_position_embeddings": 2048, "activation": "gelu", "layer_norm_epsilon": 1e-5,
       "initializer_range": 0.02, "tie_word_embeddings": true, "rope_theta": 10000.0, "alibi": false,
       "bias": false, "multi_query": true, "parallel_attn": true, "new_decoder_architecture": false,
       "attention_dropout": 0.0, "hidden_dropout": 0.0})"},
    {"gpt_neox", "", R"({
       "vocab_size": 50432, "hidden_size": 6144, "intermediate_size": 24576, "num_hidden_layers": 44,
       "num_attention_heads": 64, "max_position_embeddings": 2048, "hidden_act": "gelu",
       "layer_norm_eps": 1e-5, "initializer_range": 0.02, "tie_word_embeddings": false,
       "rotary_emb_base": 10000.0, "rotary_pct": 0.25, "attention_bias": true,
       "use_parallel_residual": true, "attention_dropout": 0.0, "hidden_dropout": 0.0})"},
    {"opt", "", R"({
       "vocab_size": 50272, "hidden_size": 768, "ffn_dim": 3072, "num_hidden_layers": 12,
       "num_attention_heads": 12, "max_position_embeddings": 2048, "activation_function": "relu",
       "init_std": 0.02, "tie_word_embeddings": true, "enable_bias": true, "attention_dropout": 0.0,
       "dropout": 0.1, "layerdrop": 0.0})"},
    {"phi", "", R"({
       "vocab_size": 51200, "hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 24,
       "num_attention_heads": 32, "max_position_embeddings": 2048, "hidden_act": "gelu_new",
       "layer_norm_eps": 1e-5, "initializer_range": 0.02, "tie_word_embeddings": false,
       "rope_theta": 10000.0, "partial_rotary_factor": 0.5, "qk_layernorm": false,
       "attention_dropout": 0.0, "embd_pdrop": 0.0, "resid_pdrop": 0.0})"},
    {"stablelm", "", R"({
       "vocab_size": 50304, "hidden_size": 2560, "intermediate_size": 6912, "num_hidden_layers": 32,
       "num_attention_heads": 32, "num_key_value_heads": 32, "max_position_embeddings": 4096,
       "hidden_act": "silu", "layer_norm_eps": 1e-5, "initializer_range": 0.02,
       "tie_word_embeddings": false, "rope_theta": 10000.0, "partial_rotary_factor": 0.25,
       "use_qkv_bias": false, "qk_layernorm": false, "use_parallel_residual": false,
       "attention_dropout": 0.0, "hidden_dropout": 0.0})"},
    {"starcoder2", "", R"({
       "vocab_size": 49152, "hidden_size": 3072, "intermediate_size": 12288, "num_hidden_layers": 30,
       "num_attention_heads": 24, "num_key_value_heads": 2, "max_position_embeddings": 4096,
       "hidden_act": "gelu_pytorch_tanh", "norm_epsilon": 1e-5, "tie_word_embeddings": true,
       "rope_theta": 10000.0, "use_bias": true})"},
    {"bert", "", R"({
       "vocab_size": 30522, "hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12,
       "num_attention_heads": 12, "max_position_embeddings": 512, "type_vocab_size": 2,
       "hidden_act": "gelu", "layer_norm_eps": 1e-12, "initializer_range": 0.02,
       "tie_word_embeddings": true, "position_embedding_type": "absolute", "pad_token_id": 0,
       "hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1})"},
    {"roberta", "bert", R"({"vocab_size": 50265, "pad_token_id": 1})"},
    {"xlm-roberta", "bert", R"({"pad_token_id": 1})"},
    {"modernbert", "", R"({
       "vocab_size": 50368, "hidden_size": 768, "intermediate_size": 1152, "num_hidden_layers": 22,
       "num_attention_heads": 12, "max_position_embeddings": 8192, "hidden_activation": "gelu",
       "norm_eps": 1e-5, "norm_bias": false, "initializer_range": 0.02, "tie_word_embeddings": true,
       "global_rope_theta": 160000.0, "local_rope_theta": 10000.0, "local_attention": 128,
       "global_attn_every_n_layers": 3, "attention_bias": false, "mlp_bias": false, "decoder_bias": true,
       "classifier_bias": false, "classifier_activation": "gelu", "classifier_pooling": "cls",
       "attention_dropout": 0.0, "embedding_dropout": 0.0, "mlp_dropout": 0.0, "classifier_dropout": 0.0})"},
    {"vit", "", R"({
       "hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12, "num_attention_heads": 12,
       "image_size": 224, "patch_size": 16, "num_channels": 3, "hidden_act": "gelu",
       "layer_norm_eps": 1e-12, "initializer_range": 0.02, "qkv_bias": true, "hidden_dropout_prob": 0.0,
       "attention_probs_dropout_prob": 0.0})"},
};

} // namespace

nlohmann::json classDefaults(std::string_view modelType) {
  const auto *found = std::ranges::find(kClasses, modelType, &ClassDefaults::modelType);
  if (found == std::end(kClasses))
    return nlohmann::json::object();
  nlohmann::json defaults = classDefaults(found->base);
  defaults.update(nlohmann::json::parse(found->keys));
  return defaults;
}

nlohmann::json withClassDefaults(nlohmann::json config, std::string_view modelType) {
  nlohmann::json defaults = classDefaults(modelType);
  if (const auto old = config.find("rope_scaling"); old != config.end() && !old->is_null())
    defaults.erase("rope_parameters"); // the newer name of rope_scaling
  defaults.update(config);
  return defaults;
}

} // namespace trainc
