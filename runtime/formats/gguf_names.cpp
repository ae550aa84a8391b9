#include "runtime/formats/gguf_names.h"

#include <algorithm>
#include <array>
#include <span>

namespace trainc {

/// A module's name in both formats, without ".weight" and ".bias"; `*` is the number of a layer.
struct GgufRow {
  std::string_view gguf, huggingFace;
  GgufChange change = GgufChange::kNone;
};

namespace {

using enum GgufChange;

// --- One table for each family; rows come before those of the table that the family shares ---

/// Llama's modules, which most families have.
constexpr GgufRow kShared[] = {
    {"token_embd", "model.embed_tokens"},
    {"output_norm", "model.norm"},
    {"output", "lm_head"},
    {"blk.*.attn_norm", "model.layers.*.input_layernorm"},
    {"blk.*.attn_q", "model.layers.*.self_attn.q_proj"},
    {"blk.*.attn_k", "model.layers.*.self_attn.k_proj"},
    {"blk.*.attn_v", "model.layers.*.self_attn.v_proj"},
    {"blk.*.attn_output", "model.layers.*.self_attn.o_proj"},
    {"blk.*.ffn_norm", "model.layers.*.post_attention_layernorm"},
    {"blk.*.ffn_gate", "model.layers.*.mlp.gate_proj"},
    {"blk.*.ffn_up", "model.layers.*.mlp.up_proj"},
    {"blk.*.ffn_down", "model.layers.*.mlp.down_proj"},
};

/// Rotary positions on interleaved pairs: Llama, Mistral, SmolLM, Granite.
constexpr GgufRow kLlama[] = {
    {"blk.*.attn_q", "model.layers.*.self_attn.q_proj", kRotaryQueries},
    {"blk.*.attn_k", "model.layers.*.self_attn.k_proj", kRotaryKeys},
};

constexpr GgufRow kQwen3[] = {
    {"blk.*.attn_q_norm", "model.layers.*.self_attn.q_norm"},
    {"blk.*.attn_k_norm", "model.layers.*.self_attn.k_norm"},
};

constexpr GgufRow kGemma[] = {
    {"output_norm", "model.norm", kPlusOne},
    {"blk.*.attn_norm", "model.layers.*.input_layernorm", kPlusOne},
    {"blk.*.ffn_norm", "model.layers.*.post_attention_layernorm", kPlusOne},
};

/// Gemma 2 and 3. Only the latter has norms of queries and keys.
constexpr GgufRow kGemma2[] = {
    {"output_norm", "model.norm", kPlusOne},
    {"blk.*.attn_norm", "model.layers.*.input_layernorm", kPlusOne},
    {"blk.*.attn_q_norm", "model.layers.*.self_attn.q_norm", kPlusOne},
    {"blk.*.attn_k_norm", "model.layers.*.self_attn.k_norm", kPlusOne},
    {"blk.*.post_attention_norm", "model.layers.*.post_attention_layernorm", kPlusOne},
    {"blk.*.ffn_norm", "model.layers.*.pre_feedforward_layernorm", kPlusOne},
    {"blk.*.post_ffw_norm", "model.layers.*.post_feedforward_layernorm", kPlusOne},
};

/// Gate and up are one tensor in both formats.
constexpr GgufRow kPhi3[] = {
    {"blk.*.attn_qkv", "model.layers.*.self_attn.qkv_proj"},
    {"blk.*.ffn_up", "model.layers.*.mlp.gate_up_proj"},
};

constexpr GgufRow kOlmo2[] = {
    {"blk.*.attn_q_norm", "model.layers.*.self_attn.q_norm"},
    {"blk.*.attn_k_norm", "model.layers.*.self_attn.k_norm"},
    {"blk.*.post_attention_norm", "model.layers.*.post_attention_layernorm"},
    {"blk.*.post_ffw_norm", "model.layers.*.post_feedforward_layernorm"},
};

constexpr GgufRow kStarcoder2[] = {
    {"blk.*.ffn_up", "model.layers.*.mlp.c_fc"},
    {"blk.*.ffn_down", "model.layers.*.mlp.c_proj"},
};

constexpr GgufRow kGpt2[] = {
    {"token_embd", "transformer.wte"},
    {"position_embd", "transformer.wpe"},
    {"output_norm", "transformer.ln_f"},
    {"output", "lm_head"},
    {"blk.*.attn_norm", "transformer.h.*.ln_1"},
    {"blk.*.attn_qkv", "transformer.h.*.attn.c_attn", kTransposed},
    {"blk.*.attn_output", "transformer.h.*.attn.c_proj", kTransposed},
    {"blk.*.ffn_norm", "transformer.h.*.ln_2"},
    {"blk.*.ffn_up", "transformer.h.*.mlp.c_fc", kTransposed},
    {"blk.*.ffn_down", "transformer.h.*.mlp.c_proj", kTransposed},
};

constexpr GgufRow kGptNeoX[] = {
    {"token_embd", "gpt_neox.embed_in"},
    {"output_norm", "gpt_neox.final_layer_norm"},
    {"output", "embed_out"},
    {"blk.*.attn_norm", "gpt_neox.layers.*.input_layernorm"},
    {"blk.*.attn_qkv", "gpt_neox.layers.*.attention.query_key_value", kFusedHeads},
    {"blk.*.attn_output", "gpt_neox.layers.*.attention.dense"},
    {"blk.*.ffn_norm", "gpt_neox.layers.*.post_attention_layernorm"},
    {"blk.*.ffn_up", "gpt_neox.layers.*.mlp.dense_h_to_4h"},
    {"blk.*.ffn_down", "gpt_neox.layers.*.mlp.dense_4h_to_h"},
};

/// Falcon 7B and those like it, whose layers have one norm.
constexpr GgufRow kFalcon[] = {
    {"token_embd", "transformer.word_embeddings"},
    {"output_norm", "transformer.ln_f"},
    {"output", "lm_head"},
    {"blk.*.attn_norm", "transformer.h.*.input_layernorm"},
    {"blk.*.attn_qkv", "transformer.h.*.self_attention.query_key_value", kFusedHeads},
    {"blk.*.attn_output", "transformer.h.*.self_attention.dense"},
    {"blk.*.ffn_up", "transformer.h.*.mlp.dense_h_to_4h"},
    {"blk.*.ffn_down", "transformer.h.*.mlp.dense_4h_to_h"},
};

/// Falcon 40B and those like it, whose layers have two norms. `attn_norm` is the MLP's.
constexpr GgufRow kFalconTwoNorms[] = {
    {"blk.*.attn_norm", "transformer.h.*.ln_mlp"},
    {"blk.*.attn_norm_2", "transformer.h.*.ln_attn"},
};

constexpr GgufRow kBloom[] = {
    {"token_embd", "transformer.word_embeddings"},
    {"token_embd_norm", "transformer.word_embeddings_layernorm"},
    {"output_norm", "transformer.ln_f"},
    {"output", "lm_head"},
    {"blk.*.attn_norm", "transformer.h.*.input_layernorm"},
    {"blk.*.attn_qkv", "transformer.h.*.self_attention.query_key_value", kFusedHeads},
    {"blk.*.attn_output", "transformer.h.*.self_attention.dense"},
    {"blk.*.ffn_norm", "transformer.h.*.post_attention_layernorm"},
    {"blk.*.ffn_up", "transformer.h.*.mlp.dense_h_to_4h"},
    {"blk.*.ffn_down", "transformer.h.*.mlp.dense_4h_to_h"},
};

/// Phi-1 and Phi-2, whose layers have one norm.
constexpr GgufRow kPhi2[] = {
    {"output_norm", "model.final_layernorm"},
    {"blk.*.attn_output", "model.layers.*.self_attn.dense"},
    {"blk.*.ffn_up", "model.layers.*.mlp.fc1"},
    {"blk.*.ffn_down", "model.layers.*.mlp.fc2"},
};

constexpr GgufRow kBert[] = {
    {"token_embd", "embeddings.word_embeddings"},
    {"position_embd", "embeddings.position_embeddings"},
    {"token_types", "embeddings.token_type_embeddings"},
    {"token_embd_norm", "embeddings.LayerNorm"},
    {"blk.*.attn_q", "encoder.layer.*.attention.self.query"},
    {"blk.*.attn_k", "encoder.layer.*.attention.self.key"},
    {"blk.*.attn_v", "encoder.layer.*.attention.self.value"},
    {"blk.*.attn_output", "encoder.layer.*.attention.output.dense"},
    {"blk.*.attn_output_norm", "encoder.layer.*.attention.output.LayerNorm"},
    {"blk.*.ffn_up", "encoder.layer.*.intermediate.dense"},
    {"blk.*.ffn_down", "encoder.layer.*.output.dense"},
    {"blk.*.layer_output_norm", "encoder.layer.*.output.LayerNorm"},
};

/// Tensors that the converter computes from the configuration.
constexpr std::string_view kComputed[] = {"rope_freqs.weight", "rope_factors_long.weight",
                                          "rope_factors_short.weight"};

} // namespace

/// Rows of a family: its own, then shared ones.
class GgufFamily {
public:
  std::string_view architecture;
  std::span<const GgufRow> own, shared = {};
  std::string_view neededTensor = {}; ///< the family is that of files with this tensor; empty: of all

  /// The first row whose `column` is `name`.
  const GgufRow *find(std::string_view GgufRow::*column, std::string_view name) const {
    for (const std::span<const GgufRow> rows : {own, shared})
      if (const auto found = std::ranges::find(rows, name, column); found != rows.end())
        return &*found;
    return nullptr;
  }
};

namespace {

constexpr GgufFamily kFamilies[] = {
    {"llama", kLlama, kShared},
    {"granite", kLlama, kShared},
    {"smollm3", kLlama, kShared},
    {"qwen2", {}, kShared},
    {"qwen3", kQwen3, kShared},
    {"gemma", kGemma, kShared},
    {"gemma2", kGemma2, kShared},
    {"gemma3", kGemma2, kShared},
    {"phi2", kPhi2, kShared},
    {"phi3", kPhi3, kShared},
    {"olmo2", kOlmo2, kShared},
    {"stablelm", {}, kShared},
    {"starcoder2", kStarcoder2, kShared},
    {"gpt2", kGpt2},
    {"gptneox", kGptNeoX},
    {"falcon", kFalconTwoNorms, kFalcon, "blk.0.attn_norm_2.weight"},
    {"falcon", kFalcon},
    {"bloom", kBloom},
    {"bert", kBert},
};

/// A tensor's name in parts: "blk.3.attn_q.weight" is "blk.*.attn_q", "3" and ".weight".
struct Parts {
  std::string module, layer;
  std::string_view suffix;
};

bool isNumber(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

Parts split(std::string_view name) {
  Parts parts;
  for (const std::string_view suffix : {".weight", ".bias"})
    if (name.ends_with(suffix)) {
      parts.suffix = suffix;
      name.remove_suffix(suffix.size());
    }
  while (!name.empty()) {
    const size_t end = std::min(name.find('.'), name.size());
    const std::string_view part = name.substr(0, end);
    const bool isLayer = parts.layer.empty() && isNumber(part);
    if (isLayer)
      parts.layer = part;
    parts.module += isLayer ? "*" : part;
    if (end < name.size())
      parts.module += '.';
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return parts;
}

std::optional<GgufRename> rename(const GgufFamily &family, std::string_view name,
                                 std::string_view GgufRow::*from, std::string_view GgufRow::*to) {
  const Parts parts = split(name);
  const GgufRow *row = parts.suffix.empty() ? nullptr : family.find(from, parts.module);
  if (!row)
    return std::nullopt;
  std::string renamed(row->*to);
  if (const size_t star = renamed.find('*'); star != std::string::npos)
    renamed.replace(star, 1, parts.layer);
  // A bias has no second dimension to transpose, and Gemma's norms have none.
  const bool isChanged = parts.suffix == ".weight" || (row->change != kTransposed && row->change != kPlusOne);
  return GgufRename{renamed + std::string(parts.suffix), isChanged ? row->change : kNone};
}

} // namespace

const GgufFamily *findGgufFamily(const GgufFile &file) {
  const Result<std::string_view> architecture = file.text("general.architecture");
  const auto *found = std::ranges::find_if(kFamilies, [&](const GgufFamily &family) {
    return architecture.ok() && family.architecture == *architecture &&
           (family.neededTensor.empty() || file.findTensor(family.neededTensor));
  });
  return found == std::end(kFamilies) ? nullptr : found;
}

const GgufFamily *findGgufFamily(std::string_view architecture) {
  const auto *found = std::ranges::find(kFamilies, architecture, &GgufFamily::architecture);
  return found == std::end(kFamilies) ? nullptr : found;
}

std::string ggufFamilies() {
  std::string names;
  for (const GgufFamily &family : kFamilies)
    if (family.neededTensor.empty()) // else another family of the same architecture follows
      names += (names.empty() ? "" : ", ") + std::string(family.architecture);
  return names;
}

std::optional<GgufRename> huggingFaceName(const GgufFamily &family, std::string_view name) {
  return rename(family, name, &GgufRow::gguf, &GgufRow::huggingFace);
}

std::optional<GgufRename> ggufName(const GgufFamily &family, std::string_view name) {
  return rename(family, name, &GgufRow::huggingFace, &GgufRow::gguf);
}

bool isComputedInGguf(std::string_view name) {
  return std::ranges::find(kComputed, name) != std::end(kComputed);
}

} // namespace trainc
