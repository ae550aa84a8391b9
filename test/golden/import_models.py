"""Configurations of the tiny imported models. Each exercises keys of its family."""

SIZES = {"vocab_size": 256, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
         "max_position_embeddings": 64}
SHARED = {**SIZES, "num_key_value_heads": 2}


def model(family, architecture, *parts, **keys):
    config = {"model_type": family, "architectures": [architecture]}
    for part in parts:
        config.update(part)
    return {**config, **keys}


BERT = {**SIZES, "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
VIT = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4}
MODERN_BERT = {**SIZES, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "cls_token_id": 1, "sep_token_id": 2}


def labels(count):
    """Names of classes, as configs have them."""
    return {"id2label": {str(label): f"LABEL_{label}" for label in range(count)}, "label2id": {f"LABEL_{label}": label for label in range(count)}}


# Options of `trainc import`: token types from a column.
OPTIONS = {"bert_pairs": ["--token-types"]}

# Shorter lengths of samples, for which the first loss is computed as well: the last with longrope's factors for short texts, and the next one.
LENGTHS = {"phi3_long_texts": [8, 9]}

MODELS = {
    "gpt2": model("gpt2", "GPT2LMHeadModel", vocab_size=256, n_embd=32, n_layer=2, n_head=4, n_positions=64, n_inner=48, embd_pdrop=0.0,
                  resid_pdrop=0.0, attn_pdrop=0.0, layer_norm_epsilon=1e-6),
    "llama": model("llama", "LlamaForCausalLM", SHARED, rms_norm_eps=1e-5, rope_theta=500.0, tie_word_embeddings=True),
    "llama_biases": model("llama", "LlamaForCausalLM", SIZES, attention_bias=True, mlp_bias=True, head_dim=16, hidden_act="gelu",
                          rope_parameters={"rope_type": "default", "rope_theta": 300.0}),
    "mistral": model("mistral", "MistralForCausalLM", SHARED, head_dim=16, sliding_window=None),
    "qwen2": model("qwen2", "Qwen2ForCausalLM", SHARED, use_sliding_window=False, rope_theta=1000.0),
    "qwen3": model("qwen3", "Qwen3ForCausalLM", SHARED, head_dim=16, tie_word_embeddings=True),
    "smollm3": model("smollm3", "SmolLM3ForCausalLM", SHARED, num_hidden_layers=4, no_rope_layer_interval=2, pad_token_id=None),
    # The class's pad_token_id 1 would leave this row of the embedding without a gradient.
    "olmo2": model("olmo2", "Olmo2ForCausalLM", SHARED, pad_token_id=None),
    "granite": model("granite", "GraniteForCausalLM", SHARED, embedding_multiplier=3.0, residual_multiplier=0.5, attention_multiplier=0.25,
                     logits_scaling=4.0),
    "llama3_rope": model("llama", "LlamaForCausalLM", SHARED, head_dim=16, rope_theta=10000.0,
                         rope_scaling={"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                                       "original_max_position_embeddings": 32}),
    "llama_linear_rope": model("llama", "LlamaForCausalLM", SHARED, rope_theta=1000.0, rope_scaling={"type": "linear", "factor": 4.0}),
    "llama_yarn": model("llama", "LlamaForCausalLM", SHARED, head_dim=16, rope_theta=10000.0,
                        rope_scaling={"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16, "beta_fast": 4.0, "beta_slow": 0.5}),
    "mistral_window": model("mistral", "MistralForCausalLM", SHARED, sliding_window=7),
    "qwen2_window": model("qwen2", "Qwen2ForCausalLM", SHARED, use_sliding_window=True, sliding_window=5, max_window_layers=1),
    "phi3": model("phi3", "Phi3ForCausalLM", SHARED, partial_rotary_factor=0.75, head_dim=16, pad_token_id=None, sliding_window=9),
    "phi3_longrope": model("phi3", "Phi3ForCausalLM", SHARED, pad_token_id=None, original_max_position_embeddings=56,
                           rope_scaling={"type": "longrope", "short_factor": [1.0, 1.25, 1.5, 2.0], "long_factor": [1.0, 2.0, 4.0, 8.0]}),
    # All texts are long ones, the prompt included.
    "phi3_long_texts": model("phi3", "Phi3ForCausalLM", SHARED, pad_token_id=None, original_max_position_embeddings=8,
                             rope_scaling={"type": "longrope", "short_factor": [1.0, 1.25, 1.5, 2.0], "long_factor": [1.0, 2.0, 4.0, 8.0]}),
    "gemma": model("gemma", "GemmaForCausalLM", SHARED, head_dim=16, pad_token_id=None),
    "gemma2": model("gemma2", "Gemma2ForCausalLM", SHARED, head_dim=16, sliding_window=6, query_pre_attn_scalar=24, pad_token_id=None,
                    attn_logit_softcapping=5.0, final_logit_softcapping=6.0),
    "gemma3": model("gemma3_text", "Gemma3ForCausalLM", SHARED, num_hidden_layers=4, head_dim=16, sliding_window=6, query_pre_attn_scalar=24,
                    layer_types=["sliding_attention", "sliding_attention", "full_attention", "sliding_attention"], pad_token_id=None,
                    rope_parameters={"full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 5000.0},
                                     "sliding_attention": {"rope_type": "default", "rope_theta": 300.0}}),
    "gpt_neox": model("gpt_neox", "GPTNeoXForCausalLM", SIZES, rotary_pct=0.5),
    "gpt_neox_sequential": model("gpt_neox", "GPTNeoXForCausalLM", SIZES, rotary_pct=1.0, use_parallel_residual=False),
    "phi": model("phi", "PhiForCausalLM", SIZES, partial_rotary_factor=0.5),
    "stablelm": model("stablelm", "StableLmForCausalLM", SHARED, use_qkv_bias=True, partial_rotary_factor=0.5),
    "stablelm_parallel": model("stablelm", "StableLmForCausalLM", SHARED, use_parallel_residual=True),
    "opt": model("opt", "OPTForCausalLM", vocab_size=256, hidden_size=32, ffn_dim=48, num_hidden_layers=2, num_attention_heads=4,
                 max_position_embeddings=64, word_embed_proj_dim=32, dropout=0.0, pad_token_id=None),
    "falcon": model("falcon", "FalconForCausalLM", vocab_size=256, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                    max_position_embeddings=64),
    "falcon_rw": model("falcon", "FalconForCausalLM", vocab_size=256, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                       max_position_embeddings=64, alibi=True, multi_query=False, parallel_attn=False, bias=True),
    "falcon_groups": model("falcon", "FalconForCausalLM", vocab_size=256, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                           num_kv_heads=2, max_position_embeddings=64, new_decoder_architecture=True),
    "falcon_groups_one_norm": model("falcon", "FalconForCausalLM", vocab_size=256, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                                    num_kv_heads=2, max_position_embeddings=64, new_decoder_architecture=True, num_ln_in_parallel_attn=1,
                                    ffn_hidden_size=48),
    # Six heads: the last two have slopes between those of the first four.
    "bloom": model("bloom", "BloomForCausalLM", vocab_size=256, hidden_size=48, n_layer=2, n_head=6),
    "bloom_norms_in_stream": model("bloom", "BloomForCausalLM", vocab_size=256, hidden_size=32, n_layer=2, n_head=4,
                                   apply_residual_connection_post_layernorm=True, layer_norm_epsilon=1e-6),
    "olmo3": model("olmo3", "Olmo3ForCausalLM", SHARED, layer_types=["sliding_attention", "full_attention"], pad_token_id=None, sliding_window=6,
                   rope_parameters={"full_attention": {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "beta_fast": 4.0, "beta_slow": 0.5,
                                                       "original_max_position_embeddings": 16, "attention_factor": 1.1},
                                    "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}}),
    "olmo3_two_bases": model("olmo3", "Olmo3ForCausalLM", SHARED, layer_types=["sliding_attention", "full_attention"], pad_token_id=None, sliding_window=6,
                             rope_parameters={"full_attention": {"rope_type": "default", "rope_theta": 10000.0},
                                              "sliding_attention": {"rope_type": "default", "rope_theta": 300.0}}),
    # As transformers 4 wrote it: the scaling is that of layers without a window.
    "olmo3_version4": model("olmo3", "Olmo3ForCausalLM", SHARED, layer_types=["sliding_attention", "full_attention"], pad_token_id=None, sliding_window=6,
                            rope_theta=500000.0, rope_scaling={"rope_type": "yarn", "factor": 4.0, "beta_fast": 4.0, "beta_slow": 0.5,
                                                               "original_max_position_embeddings": 16, "attention_factor": 1.1}),
    # Models of pictures and texts, as published: files have names of transformers 4.
    "gemma3_whole": model("gemma3", "Gemma3ForConditionalGeneration", boi_token_index=253, eoi_token_index=254, image_token_index=255, mm_tokens_per_image=4,
                          text_config={**SHARED, "model_type": "gemma3_text", "num_hidden_layers": 4, "head_dim": 16, "sliding_window": 6,
                                       "query_pre_attn_scalar": 24, "sliding_window_pattern": 3, "rope_theta": 5000.0, "rope_local_base_freq": 300.0,
                                       "rope_scaling": {"rope_type": "linear", "factor": 8.0}, "pad_token_id": None},
                          vision_config={"model_type": "siglip_vision_model", "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 1,
                                         "num_attention_heads": 2, "image_size": 16, "patch_size": 4, "vision_use_head": False}),
    "mistral3_whole": model("mistral3", "Mistral3ForConditionalGeneration", image_token_index=255, spatial_merge_size=2, vision_feature_layer=-1,
                            multimodal_projector_bias=False, projector_hidden_act="gelu", tie_word_embeddings=False,
                            text_config={**SHARED, "model_type": "ministral3", "head_dim": 16, "pad_token_id": None,
                                         "rope_parameters": {"type": "yarn", "rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0,
                                                             "original_max_position_embeddings": 56, "max_position_embeddings": 64, "beta_fast": 4.0,
                                                             "beta_slow": 0.5, "mscale": 1.0, "mscale_all_dim": 1.0, "llama_4_scaling_beta": 0.1}},
                            vision_config={"model_type": "pixtral", "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 1,
                                           "num_attention_heads": 2, "head_dim": 8, "image_size": 16, "patch_size": 4}),
    "ministral3": model("ministral3", "Ministral3ForCausalLM", SHARED, head_dim=16, pad_token_id=None,
                        rope_parameters={"type": "yarn", "rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0,
                                         "original_max_position_embeddings": 56, "max_position_embeddings": 64, "beta_fast": 4.0, "beta_slow": 0.5,
                                         "mscale": 0.75, "mscale_all_dim": 1.0, "llama_4_scaling_beta": 0.1}),
    "phi_head_norms": model("phi", "PhiForCausalLM", SHARED, qk_layernorm=True),
    "stablelm_head_norms": model("stablelm", "StableLmForCausalLM", SHARED, qk_layernorm=True),
    "bert": model("bert", "BertForMaskedLM", BERT, layer_norm_eps=1e-6),
    "bert_classes": model("bert", "BertForSequenceClassification", BERT, labels(5), hidden_act="gelu_new", type_vocab_size=3),
    "bert_number": model("bert", "BertForSequenceClassification", BERT, labels(1)),
    "bert_pairs": model("bert", "BertForSequenceClassification", BERT, labels(4), problem_type="multi_label_classification"),
    "bert_tokens": model("bert", "BertForTokenClassification", BERT, labels(3)),
    "bert_tokens_cross_entropy": model("bert", "BertForTokenClassification", BERT, labels(3), problem_type="multi_label_classification"),
    "bert_numbers": model("bert", "BertForSequenceClassification", BERT, labels(3), problem_type="regression"),
    "llama_classes": model("llama", "LlamaForSequenceClassification", SHARED, labels(5), pad_token_id=2),
    "gemma2_number": model("gemma2", "Gemma2ForSequenceClassification", SHARED, labels(1), head_dim=16, sliding_window=6, pad_token_id=0),
    "qwen3_classes": model("qwen3", "Qwen3ForSequenceClassification", SHARED, labels(4), head_dim=16, tie_word_embeddings=True, pad_token_id=3),
    "modernbert": model("modernbert", "ModernBertForMaskedLM", MODERN_BERT, local_attention=8, global_attn_every_n_layers=2, num_hidden_layers=4),
    "modernbert_classes": model("modernbert", "ModernBertForSequenceClassification", MODERN_BERT, labels(3), classifier_pooling="mean", norm_bias=True,
                                attention_bias=True, mlp_bias=True, classifier_bias=True, local_attention=11, classifier_activation="silu",
                                layer_types=["sliding_attention", "full_attention"],
                                rope_parameters={"full_attention": {"rope_type": "default", "rope_theta": 500.0},
                                                 "sliding_attention": {"rope_type": "default", "rope_theta": 100.0}}),
    "modernbert_tokens": model("modernbert", "ModernBertForTokenClassification", MODERN_BERT, labels(3), num_hidden_layers=3, local_attention=6,
                               global_rope_theta=2000.0, local_rope_theta=300.0, hidden_activation="gelu_new"),
    "modernbert_untied": model("modernbert", "ModernBertForMaskedLM", MODERN_BERT, num_hidden_layers=1, tie_word_embeddings=False, decoder_bias=False),
    "roberta": model("roberta", "RobertaForMaskedLM", BERT, type_vocab_size=1, pad_token_id=1, hidden_act="relu"),
    "roberta_classes": model("roberta", "RobertaForSequenceClassification", BERT, labels(3)),
    "vit": model("vit", "ViTForImageClassification", VIT, labels(5), image_size=12, patch_size=4, num_channels=3, layer_norm_eps=1e-6),
    "vit_oblong": model("vit", "ViTForImageClassification", VIT, labels(3), image_size=[6, 8], patch_size=[3, 2], num_channels=1, qkv_bias=False,
                        problem_type="multi_label_classification", hidden_act="relu"),
    "xlm_roberta_tokens": model("xlm-roberta", "XLMRobertaForTokenClassification", BERT, labels(4), pad_token_id=3),
}

# Implementation of attention (`attn_implementation`) by model; "eager" for others. transformers' eager attention of Falcon adds ALiBi's biases twice.
ATTENTION = {"falcon_rw": "sdpa"}
