// `trainc report`: memory and time of a plan, as text, JSON or a page; for two plans their differences.
#include "base/file.h"
#include "base/output_file.h"
#include "base/print.h"
#include "plan/file/file.h"
#include "tools/report/difference.h"
#include "tools/report/document.h"
#include "tools/report/page.h"
#include "tools/report/text.h"
#include "tools/trainc/Commands.h"
#include "tools/trainc/Paths.h"

namespace trainc {

namespace {

/// A page needs the extension of HTML; otherwise it would open as text.
Status requirePageName(const ReportCommand &command) {
  if (command.output.ends_with(".html") || command.output.ends_with(".htm"))
    return {};
  return invalidInput(
      "-o {}: expected a name that ends with .html, as what is written is a page for browsers; add .html, "
      "or leave -o out to print text, or JSON with --json",
      command.output);
}

Status checkPaths(const ReportCommand &command) {
  std::vector<NamedPath> inputs;
  for (const std::string &plan : {command.plan, command.other}) {
    if (plan.empty())
      continue;
    TRAINC_RETURN_IF_ERROR(requireRegularFile(plan));
    inputs.push_back({fmt::format("the plan '{}'", plan), plan});
  }
  if (command.output.empty())
    return {};
  TRAINC_RETURN_IF_ERROR(requirePageName(command));
  TRAINC_RETURN_IF_ERROR(checkOutputs({{"-o " + command.output, command.output}}, inputs));
  return requireKind(command.output, {"-o ", "a page of trainc report", report::pageBeginning()});
}

/// Writes the page, or prints the requested format: `text` converts the document for terminals.
template <typename Text>
Status show(const ReportCommand &command, const nlohmann::json &document, Text text) {
  if (!command.output.empty()) {
    const std::string page = report::pageOf(document);
    TRAINC_RETURN_IF_ERROR(writeFileAtomically(command.output, std::array{std::as_bytes(std::span(page))}));
    sayWritten(command.quiet, command.output,
               command.other.empty()
                   ? fmt::format("a page about {}", command.plan)
                   : fmt::format("a page about what changed from {} to {}", command.plan, command.other));
    return {};
  }
  return command.json ? printOutput(report::jsonText(document) + "\n") : printText(text());
}

Status makeReport(const ReportCommand &command) {
  TRAINC_RETURN_IF_ERROR(checkPaths(command));
  TRAINC_ASSIGN_OR_RETURN(const PlanFile file, PlanFile::open(command.plan));
  const report::Analysis analysis(file.plan());
  if (command.other.empty())
    return show(command, report::documentOf(analysis, command.plan),
                [&] { return report::summaryText(analysis, command.plan); });
  TRAINC_ASSIGN_OR_RETURN(const PlanFile otherFile, PlanFile::open(command.other));
  const report::Analysis other(otherFile.plan());
  const nlohmann::json difference = report::differenceOf(analysis, command.plan, other, command.other);
  return show(command, difference, [&] { return report::differenceText(difference); });
}

} // namespace

int runReport(const ReportCommand &command) { return finish(makeReport(command)); }

} // namespace trainc
