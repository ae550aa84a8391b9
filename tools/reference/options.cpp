#include "tools/trainrun/options.h"
#include "plan/settings/settings.h"
#include "tools/common/answer.h"
#include "tools/reference/markdown.h"
#include "tools/reference/tables.h"
#include "tools/trainc/Cli.h"

#include <algorithm>
#include <cctype>
#include <fmt/ranges.h>

namespace trainc {

namespace {

using Options = std::vector<const CLI::Option *>;

/// Names of an option, with its value: "`-o`, `--output PLAN`".
std::string namesOf(const CLI::Option &option) {
  if (option.get_positional())
    return code(option.get_type_name().empty() ? option.get_name() : option.get_type_name());
  std::string names;
  for (const std::string &name : option.get_snames())
    names += code("-" + name) + ", ";
  const std::string name = option.get_lnames().front();
  if (option.get_items_expected_max() > 0) {
    const std::string value = option.get_type_name();
    return names + code(fmt::format("--{} {}", name, value.empty() ? "TEXT" : value));
  }
  const bool hasOptionalValue = option.check_fname(name);
  return names + code(fmt::format("--{}{}", name, hasOptionalValue ? "[=VALUE]" : ""));
}

/// Default that the description does not say.
std::string defaultOf(const CLI::Option &option) {
  if (option.get_required())
    return "required";
  return option.get_default_str().empty() ? "" : code(option.get_default_str());
}

std::string tableOf(const Options &options) {
  std::vector<std::vector<std::string>> rows;
  for (const CLI::Option *option : options) {
    const auto [meaning, byDefault] = splitDefault(option->get_description());
    rows.push_back(
        {namesOf(*option), prose(meaning), byDefault.empty() ? defaultOf(*option) : prose(byDefault)});
  }
  return table("option|meaning|default", rows) + "\n";
}

bool isSetting(const CLI::Option *option) {
  std::string word = option->get_positional() ? "" : option->get_lnames().front();
  std::ranges::replace(word, '-', '_');
  return train::findSetting(word) != nullptr;
}

/// Options of a group of --help, without --help and --version.
Options optionsOf(const CLI::App &app, const std::string &group) {
  return app.get_options([&](const CLI::Option *option) {
    return option->get_group() == group && option != app.get_help_ptr() && option->get_name() != "--version";
  });
}

/// A table for each group of --help, under `heading` ("## {}") unless the group has no name. Without settings
/// if `hasSettings`.
std::string groupsOf(const CLI::App &app, fmt::format_string<const std::string &> heading, bool hasSettings) {
  std::string text;
  for (const std::string &group : app.get_groups()) {
    Options options = optionsOf(app, group);
    if (hasSettings)
      std::erase_if(options, isSetting);
    if (options.empty())
      continue;
    if (group != "Options")
      text += fmt::format(heading, group) + "\n\n";
    text += tableOf(options);
  }
  return text;
}

/// A group, with a link if the page of settings has its heading.
std::string linkTo(const std::string &group) {
  if (std::ranges::find(train::kThemes, group, &train::ThemeNames::heading) == std::end(train::kThemes))
    return group;
  std::string anchor = group;
  std::ranges::transform(anchor, anchor.begin(),
                         [](char c) { return c == ' ' ? '-' : char(std::tolower(c)); });
  return fmt::format("[{}](settings.md#{})", group, anchor);
}

/// The settings of each group, which the page of settings explains.
std::string settingsOf(const CLI::App &app) {
  std::vector<std::vector<std::string>> rows;
  for (const std::string &group : app.get_groups()) {
    std::vector<std::string> names;
    for (const CLI::Option *option : optionsOf(app, group))
      if (isSetting(option))
        names.push_back(code("--" + option->get_lnames().front()));
    if (!names.empty())
      rows.push_back({linkTo(group), fmt::format("{}", fmt::join(names, ", "))});
  }
  return "**Settings**: [their page](settings.md) has values, defaults and meanings.\n\n" +
         table("group|options", rows) + "\n";
}

} // namespace

std::string traincOptionsPage() {
  std::string text =
      "# Options of trainc\n\n"
      "Every command has `--help`, and `trainc` has `--version`. [Options by program](options.md) says what "
      "`trainc compile` decides, and what\n`trainrun` does. [Compile for CPUs and GPUs](compile-options.md) "
      "explains some options at length.\n";
  visitTraincOptions([&text](const CLI::App &app) {
    for (const CLI::App *command : app.get_subcommands([](const CLI::App *) { return true; })) {
      const std::string &name = command->get_name();
      const bool hasSettings = name == "compile" || name == "estimate";
      text += fmt::format("\n## trainc {}\n\n{}.\n\n", name, command->get_description());
      text += groupsOf(*command, "**{}**", hasSettings);
      if (name == "compile")
        text += settingsOf(*command);
      if (name == "estimate")
        text += "All settings of [trainc compile](#trainc-compile) are options, too.\n\n";
      text.pop_back();
    }
  });
  return text;
}

std::string trainrunOptionsPage() {
  std::string text = "# Options of trainrun\n\n"
                     "[How trainrun runs](trainrun.md) explains signals, output, threads and memory. "
                     "[Options by program](options.md) says what\n"
                     "`trainc compile` has decided.\n\n";
  visitTrainrunOptions([&text](const CLI::App &app) { text += groupsOf(app, "## {}", false); });
  text.pop_back();
  return text;
}

} // namespace trainc
