// Keys of Hugging Face's config.json that no computation of a model depends on.
#pragma once

#include <string_view>

namespace trainc {

/// Patterns of these keys, in which `*` stands for any text. Dropout and sizes are not among them.
inline constexpr std::string_view kKeysWithoutMath[] = {
    // Origin.
    "_*", "architectures", "auto_map", "transformers_version", "unsloth_*", "model_name", "name_or_path",
    "tokenizer_class", "finetuning_task", "task_specific_params", "prefix", "custom_pipelines",
    "transformers.js_config", "is_llama_config",
    // Types of numbers, and how a library computes.
    "dtype", "torch_dtype", "torchscript", "use_bfloat16", "use_cache", "pretraining_tp",
    "gradient_checkpointing", "chunk_size_feed_forward", "attn_implementation", "reorder_and_upcast_attn",
    "tf_legacy_loss", "cache_implementation", "attention_softmax_in_fp32", "bias_dropout_fusion",
    "masked_softmax_fusion", "skip_bias_add", "skip_bias_add_qkv", "offset_alibi",
    // Output of a library.
    "return_dict", "output_attentions", "output_hidden_states", "output_past", "output_router_logits",
    "output_scores", "id2label", "label2id", "num_labels", "problem_type", "summary_*",
    // Generation.
    "*_token_id", "*_token_ids", "max_length", "min_length", "do_sample", "early_stopping", "num_beams",
    "num_beam_groups", "diversity_penalty", "temperature", "top_k", "top_p", "typical_p", "*_penalty",
    "*no_repeat_ngram_size", "bad_words_ids", "num_return_sequences", "remove_invalid_values",
    "*suppress_tokens"};

} // namespace trainc
