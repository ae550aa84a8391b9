// The page's text: whole, and nothing in a plan ends the script that holds it.
#include "test/unit/report/verified_plan.h"
#include "tools/report/difference.h"
#include "tools/report/document.h"
#include "tools/report/page.h"
#include "tools/report/text.h"

#include <gmock/gmock.h>

namespace trainc::test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Everything that a plan may name is hostile.
PlanBuilder hostilePlan() {
  PlanBuilder builder = spacesPlan();
  const std::string hostile = "</script><script>alert(1)</script><!-- {{document}}";
  builder.plan.name = builder.plan.producer = hostile;
  for (auto &buffer : builder.plan.buffers)
    buffer->name = hostile;
  for (auto &source : builder.plan.sources)
    source->op = source->file = hostile;
  builder.plan.report =
      R"({"settings": [{"setting": "</script>", "value": "<b>", "source": "&lt;"}], "planner": {"strategies": [{"settings": {"</script>": "</script>"}}]}})";
  return builder;
}

size_t count(const std::string &text, std::string_view part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

TEST(ReportPage, HoldsItsPartsAndTheDocument) {
  const VerifiedPlan verified(spacesPlan());
  const std::string page = report::pageOf(report::documentOf(report::Analysis(verified.plan()), "x.plan"));
  EXPECT_THAT(page, HasSubstr("class MemoryView"));
  EXPECT_THAT(page, HasSubstr("--activations:"));
  EXPECT_THAT(page, HasSubstr("\"file\":\"x.plan\""));
  EXPECT_THAT(page, Not(HasSubstr("{{")));
  EXPECT_THAT(page, Not(HasSubstr("http:")));
  EXPECT_THAT(page, Not(HasSubstr("https:")));
}

TEST(ReportPage, SaysOnlyWhatThePlanSaysOfTheProcess) {
  PlanBuilder builder = spacesPlan();
  for (const auto &[report, expected] :
       {std::pair(R"({"memory": {"unplanned": 5}})", nlohmann::json(5)), std::pair("{}", nlohmann::json()),
        std::pair(R"({"memory": {"unplanned": "5"}})", nlohmann::json())}) {
    builder.plan.report = report;
    const VerifiedPlan verified(builder);
    const report::Analysis analysis(verified.plan());
    EXPECT_EQ(report::documentOf(analysis, "x.plan")["verdict"]["unplanned_bytes"], expected);
    EXPECT_THAT(report::summaryText(analysis, "x.plan"),
                HasSubstr(expected.is_null() ? "tensors; the plan does not say what its process takes"
                                             : "besides at most 5 B"));
  }
}

TEST(ReportPage, TakesWhatThePlannerSaysIfItIsInOurWords) {
  PlanBuilder builder = spacesPlan();
  const std::string ours = R"({"strategies":[{"settings":{}}]})";
  for (const auto &[report, expected] :
       {std::pair(R"({"planner": )" + ours + "}", ours),
        std::pair<std::string, std::string>(R"({"planner": {"strategies": [null]}})", "null"),
        std::pair<std::string, std::string>(R"({"planner": []})", "null"),
        std::pair<std::string, std::string>("{}", "null")}) {
    builder.plan.report = report;
    const VerifiedPlan verified(builder);
    const nlohmann::json document = report::documentOf(report::Analysis(verified.plan()), "x.plan");
    EXPECT_EQ(document.value("planner", nlohmann::json()).dump(), expected);
  }
}

TEST(ReportPage, TakesLargestBatchesIfTheyAreInOurWords) {
  const auto batch = [](const char *settings, const char *seconds) {
    return fmt::format(R"({{"settings": {}, "predicted_step_seconds": {}}})", settings, seconds);
  };
  const std::string
      none = batch(R"({"activation_checkpointing": "none", "micro_batch": "2", "accumulate": "2"})", "2.0"),
      full = batch(R"({"activation_checkpointing": "full", "micro_batch": "6", "accumulate": "2"})", "7.5");
  const auto found = [](const std::string &batches) {
    PlanBuilder builder = spacesPlan();
    builder.plan.report = R"({"largest_batches": )" + batches + "}";
    const VerifiedPlan verified(builder);
    return report::documentOf(report::Analysis(verified.plan()), "x.plan")
        .value("largest_batches", nlohmann::json());
  };
  const nlohmann::json both = found(R"({"memory_limit": 9, "strategies": [)" + none + "," + full + "]}");
  EXPECT_EQ(both["memory_limit"], 9);
  EXPECT_EQ(both["batches"][1]["samples"], 0); // of selective, of which the compiler found none
  EXPECT_TRUE(both["batches"][1]["seconds_a_sample"].is_null());
  EXPECT_EQ(both["batches"][2]["times"], 3.0);
  EXPECT_EQ(both["batches"][2]["extra_time"], 0.25);
  const nlohmann::json alone = found(R"({"memory_limit": 9, "strategies": [)" + full + "]}")["batches"];
  EXPECT_EQ(alone[0]["samples"], 0);
  EXPECT_EQ(alone[2]["samples"], 6);
  EXPECT_TRUE(alone[2]["times"].is_null());
  for (const std::string &strategies :
       {std::string("3"), std::string("[null]"), "[" + batch("[]", "1.0") + "]",
        "[" + batch("{}", "1.0") + "]",
        "[" + batch(R"({"micro_batch": "0", "accumulate": "1"})", "1.0") + "]",
        "[" + batch(R"({"micro_batch": "2"})", "1.0") + "]",
        "[" + batch(R"({"micro_batch": "2", "accumulate": "1"})", "\"x\"") + "]"})
    EXPECT_TRUE(found(R"({"strategies": )" + strategies + "}").is_null()) << strategies;
  EXPECT_TRUE(found("[]").is_null());
}

TEST(ReportPage, LetsNoTextEndItsScript) {
  const VerifiedPlan verified(hostilePlan()), plain(spacesPlan());
  const report::Analysis analysis(verified.plan());
  for (const nlohmann::json &document :
       {report::documentOf(analysis, "</script>"),
        report::differenceOf(analysis, "<a>", report::Analysis(plain.plan()), "</script>")}) {
    const std::string page = report::pageOf(document);
    EXPECT_EQ(count(page, "</script>"), 2);
    EXPECT_EQ(count(page, "<!--"), 0);
    const size_t begin = page.find('>', page.find("<script id=\"document\"")) + 1;
    EXPECT_EQ(nlohmann::json::parse(page.substr(begin, page.find("</script>") - begin)), document);
  }
}

TEST(ReportPage, EscapesInvisibleCharacters) {
  PlanBuilder builder = spacesPlan();
  builder.plan.report = "{\"planner\": {\"strategies\": [{\"settings\": {\"key\u200b\": \"value\u2066\"}}]}}";
  const VerifiedPlan verified(builder);
  const std::string page =
      report::pageOf(report::documentOf(report::Analysis(verified.plan()), "left\u202eright\x1b.plan"));
  for (const char *text : {R"("left\\u202eright\\x1b.plan")", R"("key\\u200b":"value\\u2066")"})
    EXPECT_THAT(page, HasSubstr(text));
}

TEST(ReportDifference, IsEmptyOfAPlanAndItself) {
  const VerifiedPlan verified(ranksPlan(4, 2));
  const report::Analysis analysis(verified.plan());
  const nlohmann::json difference = report::differenceOf(analysis, "a", analysis, "a");
  EXPECT_EQ(difference["groups"].size(), 7);
  for (const nlohmann::json &group : difference["groups"])
    EXPECT_TRUE(group["rows"].empty()) << group;
}

TEST(ReportDifference, ComparesAllThatASettingSays) {
  PlanBuilder from = spacesPlan(), to = spacesPlan();
  const auto settings = [](const char *second) {
    return fmt::format(
        R"({{"settings": [{{"setting": "group", "value": "a"}}, {{"setting": "group", "value": "{}"}}]}})",
        second);
  };
  from.plan.report = settings("b");
  to.plan.report = settings("c");
  const VerifiedPlan before(from), after(to);
  const nlohmann::json difference = report::differenceOf(report::Analysis(before.plan()), "a.plan",
                                                         report::Analysis(after.plan()), "b.plan");
  EXPECT_EQ(difference["groups"][1]["rows"].dump(), R"([{"from":"a; b","to":"a; c","what":"group"}])");
}

TEST(ReportDifference, SaysWhatChanged) {
  const VerifiedPlan from(ranksPlan(4, 2)), to(ranksPlan(6, 2));
  const std::string text = report::differenceText(
      report::differenceOf(report::Analysis(from.plan()), "a.plan", report::Analysis(to.plan()), "b.plan"));
  EXPECT_THAT(text, HasSubstr("From test (a.plan) to test (b.plan):"));
  EXPECT_THAT(text, testing::ContainsRegex("ranks +4 -> 6"));
  EXPECT_THAT(text, HasSubstr("Settings: nothing changed"));
}

} // namespace
} // namespace trainc::test
