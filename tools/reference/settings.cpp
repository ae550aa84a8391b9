#include "plan/settings/settings.h"

#include "tools/reference/markdown.h"
#include "tools/reference/tables.h"

#include <sstream>

namespace trainc {

using namespace trainc::train;

/// Returns the values as a reader writes them: words apart, placeholders as they are.
static std::string valuesOf(const Setting &setting) {
  if (!setting.hasWords())
    return code(setting.values);
  std::string values;
  for (const std::string_view word : setting.words())
    values.append(values.empty() ? "" : ", ").append(code(word));
  return setting.isList() ? "list of " + values : values;
}

static std::string defaultOf(const Setting &setting) {
  const std::string_view text = setting.saysDefault() ? setting.defaultValue : "";
  if (text.empty())
    return "";
  return text.find(' ') == std::string_view::npos ? code(text) : prose(text);
}

std::string settingsPage() {
  std::ostringstream out;
  out << "# Settings\n\n"
         "Each setting is a line `name value` of [`train.program`](program.md), and, unless the table says "
         "*no option*, an option `--name=value` of\n"
         "[`trainc compile`](trainc-options.md#trainc-compile), with dashes in place of underscores. If both "
         "are given, the option wins. `trainc dump PLAN --settings`\n"
         "prints the value and the source of every setting of a plan.\n\n"
         "```mlir\n"
         "nn.model @classifier(%features: tensor<?x20xf32>, %labels: tensor<?xi32>) {\n"
         "  %logits = nn.linear \"head\" %features to 10\n"
         "  %nll, %lse = nn.cross_entropy %logits, %labels\n"
         "  nn.loss \"loss\" %nll\n"
         "}\n\n"
         "train.program @train {\n"
         "  model @classifier\n"
         "  optimizer adamw(lr 1e-3)\n"
         "  batch 16\n"
         "  ranks 4\n"
         "  zero_stage 3\n"
         "  wrap \"model\"\n"
         "  precision bf16\n"
         "  reduce_type bf16\n"
         "  memory_limit 16GiB\n"
         "}\n"
         "```\n\n"
         "Lists are written in quotes, with commas between their elements. `batch B x T` sets "
         "`micro_batch` and `seq_len`, which have no lines of their own.\n";
  for (const ThemeNames &theme : kThemes) {
    out << "\n## " << theme.heading << "\n\n| setting | values | default | meaning |\n|---|---|---|---|\n";
    for (const Setting *setting : kSettings)
      if (setting->theme == theme.theme) {
        const std::string condition(optionsOf(setting->condition));
        const std::string_view noOption = setting->hasOption ? "" : " (*no option*)";
        const auto [meaning, derived] = splitDefault(setting->help);
        const std::string byDefault = derived.empty() ? defaultOf(*setting) : prose(derived);
        out << "| `" << setting->name << "`" << noOption << " | " << valuesOf(*setting) << " | " << byDefault
            << " | " << (condition.empty() ? "" : "With `" + condition + "`: ") << prose(meaning) << " |\n";
      }
  }
  return out.str();
}

} // namespace trainc
