// One form of a config.json for the forms that versions of transformers write.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace trainc {

/// Returns `config`, an object of a model of `modelType`, with the names of keys that the class reads in
/// place of others that it accepts, such as BLOOM's `n_embed` for `hidden_size`.
nlohmann::json withNamesOfClass(nlohmann::json config, std::string_view modelType);

/// Returns `config`, an object of a model of `modelType`, with the keys that transformers 4 has for rotary
/// positions in place of the object `rope_parameters` of version 5: `rope_theta`, `partial_rotary_factor` and
/// `rope_scaling`. If layers with a window have an object of their own, its base becomes
/// `rope_local_base_freq`; in ModernBERT, the bases are `global_rope_theta` and `local_rope_theta`. What
/// version 4 cannot express stays in `rope_parameters`. GPT-NeoX's `rotary_pct` and `rotary_emb_base` get the
/// usual names.
nlohmann::json withRopeOfVersion4(nlohmann::json config, std::string_view modelType);

} // namespace trainc
