#include "lib/Import/DecoderSizes.h"

#include <fmt/format.h>

namespace trainc::importer {

/// The place of the number of features in an nn.linear.
static void placeLinear(NamedSizes &sizes, const std::string &scope, int64_t value,
                        const std::string &expression) {
  if (!scope.empty())
    sizes.place(fmt::format("nn.linear \"{}\" ", scope), " to ", value, expression);
}

/// Layers and ops of attention.
static void placeAttention(NamedSizes &sizes, const Decoder &decoder) {
  const Attention &attention = decoder.attention;
  const int64_t heads = attention.heads, query = attention.queryWidth(), key = attention.keyWidth();
  const bool sharesKeys = attention.keyHeads != heads;
  const std::string queryText = query == decoder.width ? "width" : "heads * head_width";
  const std::string keyText = sharesKeys ? "kv_heads * head_width" : queryText;
  const std::string keyHeads = sharesKeys ? "kv_heads" : "heads";
  switch (attention.packing) {
  case Attention::Separate:
    placeLinear(sizes, attention.query, query, queryText);
    placeLinear(sizes, attention.key, key, keyText);
    placeLinear(sizes, attention.value, key, keyText);
    break;
  case Attention::Rows:
  case Attention::PerHead:
    placeLinear(sizes, attention.query, query + 2 * key,
                sharesKeys ? fmt::format("{} + 2 * {}", queryText, keyText) : "3 * " + queryText);
    sizes.place("= nn.split %qkv into [", "[", query, queryText);
    sizes.place("= nn.split %qkv into [", ", ", key, keyText);
    sizes.place("= nn.reshape %qkv to [", "[0, 0, ", attention.keyHeads, keyHeads);
    if (!sharesKeys)
      sizes.place("= nn.reshape %qkv to [", ", ", 3 * attention.headWidth, "3 * head_width");
    sizes.place("%q_heads to [", "[0, 0, ", query, queryText);
    sizes.place("%k_heads to [", "[0, 0, ", key, keyText);
    sizes.place("%v_heads to [", "[0, 0, ", key, keyText);
    break;
  }
  placeLinear(sizes, attention.output, decoder.width, "width");
  for (const char *suffix : {"n = ", "r = "}) { // norms and rotations
    sizes.place(fmt::format("%q{}", suffix), " heads ", heads, "heads");
    sizes.place(fmt::format("%k{}", suffix), " heads ", attention.keyHeads, keyHeads);
  }
  sizes.place("nn.attention ", " heads ", heads, "heads");
  sizes.place("nn.attention ", " kv_heads ", attention.keyHeads, "kv_heads");
}

static void placeMlp(NamedSizes &sizes, const Decoder &decoder) {
  const Mlp &mlp = decoder.mlp;
  placeLinear(sizes, mlp.gate, mlp.width, "mlp_width");
  placeLinear(sizes, mlp.up, mlp.packsGate ? 2 * mlp.width : mlp.width,
              mlp.packsGate ? "2 * mlp_width" : "mlp_width");
  placeLinear(sizes, mlp.down, decoder.width, "width");
}

/// Keys of the exported config, in the words of all families.
static void placeKeys(NamedSizes &sizes, const Decoder &decoder) {
  const Attention &attention = decoder.attention;
  struct Key {
    const char *key, *constant;
    int64_t value;
  };
  const int64_t layers = int64_t(decoder.layers.size());
  const Key keys[] = {
      {"hidden_size", "width", decoder.width},
      {"n_embd", "width", decoder.width},
      {"num_attention_heads", "heads", attention.heads},
      {"n_head", "heads", attention.heads},
      {"num_key_value_heads", attention.keyHeads == attention.heads ? "heads" : "kv_heads",
       attention.keyHeads},
      {"head_dim", "head_width", attention.headWidth},
      {"intermediate_size", "mlp_width", decoder.mlp.width},
      {"n_inner", "mlp_width", decoder.mlp.width},
      {"ffn_dim", "mlp_width", decoder.mlp.width},
      {"num_hidden_layers", "layers", layers},
      {"n_layer", "layers", layers},
      {"vocab_size", "vocabulary", decoder.vocabulary},
  };
  for (const Key &key : keys)
    sizes.place(fmt::format("{} = ", key.key), fmt::format(" {} = ", key.key), key.value, key.constant);
}

NamedSizes sizesOf(const Decoder &decoder) {
  const Attention &attention = decoder.attention;
  NamedSizes sizes;
  sizes.define("vocabulary", decoder.vocabulary);
  sizes.define("layers", int64_t(decoder.layers.size()));
  sizes.define("width", decoder.width);
  sizes.define("heads", attention.heads);
  sizes.define("kv_heads", attention.keyHeads);
  if (attention.queryWidth() == decoder.width)
    sizes.define("head_width", "width / heads");
  else
    sizes.define("head_width", attention.headWidth);
  if (decoder.mlp.width == 4 * decoder.width)
    sizes.define("mlp_width", "4 * width");
  else
    sizes.define("mlp_width", decoder.mlp.width);

  sizes.place("nn.block @", "tensor<?x?x", decoder.width, "width");
  placeAttention(sizes, decoder);
  placeMlp(sizes, decoder);
  placeKeys(sizes, decoder);
  sizes.place("nn.embedding \"", " by ", decoder.width, "width");
  sizes.place(fmt::format("nn.embedding \"{}\" ", decoder.embedding), " of ", decoder.vocabulary,
              "vocabulary");
  placeLinear(sizes, decoder.head, decoder.vocabulary, "vocabulary");
  sizes.place("nn.repeat ", " times ", int64_t(decoder.layers.size()), "layers");
  return sizes;
}

} // namespace trainc::importer
