#include "runtime/log/metrics.h"

#include <cmath>
#include <fstream>
#include <gmock/gmock.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

namespace trainc {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class MetricsTest : public testing::Test {
protected:
  MetricsTest() : path_(testing::TempDir() + "metrics-" + std::to_string(::getpid()) + ".jsonl") {}
  ~MetricsTest() override { std::filesystem::remove(path_); }

  std::vector<std::string> lines() const {
    std::ifstream file(path_);
    std::vector<std::string> result;
    for (std::string line; std::getline(file, line);)
      result.push_back(line);
    return result;
  }

  std::filesystem::path path_;
};

TEST_F(MetricsTest, StepHasAllKeysInFullPrecision) {
  auto writer = MetricsWriter::open(path_, std::nullopt);
  ASSERT_TRUE(writer.ok()) << writer.status().message();
  const StepMetrics metrics{.step = 3,
                            .loss = 5.4321098F,
                            .lr = 0.1F,
                            .gradNorm = 1.0F / 3,
                            .tokens = 1024,
                            .stepSeconds = 0.1 + 0.2,
                            .tokensPerSecond = 1e17,
                            .peakBytes = 1ULL << 40,
                            .mfu = std::nullopt,
                            .sentBytes = 1ULL << 33,
                            .communication = CommunicationSeconds{0.125, 0.25, 0.0625},
                            .lossScale = 1073741824,
                            .skippedSteps = 2,
                            .startSeconds = 0.5};
  ASSERT_TRUE(writer->write(metrics).ok());
  // Flushed: visible while the writer is open.
  ASSERT_EQ(lines().size(), 1U);
  const json read = json::parse(lines()[0]);
  EXPECT_EQ(read["step"], 3);
  EXPECT_EQ(read["loss"].get<float>(), 5.4321098F);
  EXPECT_THAT(lines()[0], HasSubstr("\"lr\": 0.1,")); // shortest, not 0.10000000149
  EXPECT_EQ(read["grad_norm"].get<float>(), 1.0F / 3);
  EXPECT_EQ(read["tokens"], 1024);
  EXPECT_EQ(read["step_seconds"].get<double>(), 0.1 + 0.2);
  EXPECT_EQ(read["tokens_per_second"].get<double>(), 1e17);
  EXPECT_EQ(read["peak_bytes"], 1ULL << 40);
  EXPECT_TRUE(read["mfu"].is_null());
  EXPECT_EQ(read["wait_seconds"], 0.125);
  EXPECT_EQ(read["communication_seconds"], 0.25);
  EXPECT_EQ(read["exposed_seconds"], 0.0625);
  EXPECT_EQ(read["sent_bytes"], 1ULL << 33);
  EXPECT_THAT(lines()[0], HasSubstr("\"loss_scale\": 1073741824,")); // all digits
  EXPECT_EQ(read["skipped_steps"], 2);
  EXPECT_EQ(read["start_seconds"], 0.5);
}

TEST_F(MetricsTest, SecondsOfCommunicationThatNobodyKnowsAreNull) {
  auto writer = MetricsWriter::open(path_, std::nullopt);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer->write(StepMetrics{.sentBytes = 8}).ok());
  const json read = json::parse(lines()[0]);
  for (const char *key : {"wait_seconds", "communication_seconds", "exposed_seconds"})
    EXPECT_TRUE(read.at(key).is_null()) << key;
  EXPECT_EQ(read["sent_bytes"], 8);
}

TEST_F(MetricsTest, NotFiniteIsNull) {
  auto writer = MetricsWriter::open(path_, std::nullopt);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer
                  ->write(StepMetrics{
                      .loss = std::nanf(""), .gradNorm = std::numeric_limits<float>::infinity(), .mfu = 0.5})
                  .ok());
  const json read = json::parse(lines()[0]);
  EXPECT_TRUE(read["loss"].is_null());
  EXPECT_TRUE(read["grad_norm"].is_null());
  EXPECT_EQ(read["mfu"], 0.5);
  EXPECT_FALSE(read.contains("start_seconds"));
}

TEST_F(MetricsTest, Evaluation) {
  auto writer = MetricsWriter::open(path_, std::nullopt);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer
                  ->write(EvalMetrics{.step = 20,
                                      .loss = 2.5,
                                      .perplexity = std::exp(2.5),
                                      .samples = 8,
                                      .seconds = 1,
                                      .sentBytes = 1ULL << 33})
                  .ok());
  const json read = json::parse(lines()[0]);
  EXPECT_EQ(read["step"], 20);
  EXPECT_EQ(read["eval_loss"], 2.5);
  EXPECT_EQ(read["perplexity"].get<double>(), std::exp(2.5));
  EXPECT_EQ(read["eval_samples"], 8);
  EXPECT_EQ(read["sent_bytes"], 1ULL << 33);
}

TEST_F(MetricsTest, EvaluationWithoutPerplexity) {
  auto writer = MetricsWriter::open(path_, std::nullopt);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer->write(EvalMetrics{.step = 20, .loss = 2.5}).ok());
  const json read = json::parse(lines()[0]);
  EXPECT_EQ(read["eval_loss"], 2.5);
  EXPECT_TRUE(read.at("perplexity").is_null());
  EXPECT_FALSE(read.contains("sent_bytes"));
}

TEST_F(MetricsTest, ResumeDropsLaterAndIncompleteLines) {
  std::ofstream(path_) << R"({"step": 1, "eval_loss": 1})"
                          "\n"
                          R"({"step": 2})"
                          "\n"
                          R"({"step": 2, "eval_loss": 1})"
                          "\n"
                       << R"({"step": 3})"
                          "\n"
                          R"({"ste)";
  auto writer = MetricsWriter::open(path_, 2);
  ASSERT_TRUE(writer.ok()) << writer.status().message();
  ASSERT_TRUE(writer->write(StepMetrics{.step = 3}).ok());
  const auto read = lines();
  ASSERT_EQ(read.size(), 4U);
  EXPECT_EQ(read[2], R"({"step": 2, "eval_loss": 1})");
  EXPECT_EQ(json::parse(read[3])["step"], 3);
  EXPECT_TRUE(json::parse(read[3]).contains("loss"));
}

TEST_F(MetricsTest, ResumeKeepsALastLineThatOnlyLacksItsEnd) {
  const std::string first = R"({"step": 1, "eval_loss": 1})";
  const auto resumed = [&](const std::string &text, uint64_t step) {
    std::ofstream(path_) << text;
    EXPECT_TRUE(MetricsWriter::open(path_, step)->write(EvalMetrics{.step = 9}).ok());
    std::vector<std::string> read = lines();
    EXPECT_THAT(read.back(), HasSubstr("\"step\": 9,"));
    read.pop_back();
    return read;
  };
  EXPECT_THAT(resumed(first, 1), testing::ElementsAre(first));
  EXPECT_THAT(resumed(first + "\n" + R"({"step": 2, "loss": 3})", 2),
              testing::ElementsAre(first, R"({"step": 2, "loss": 3})"));
  EXPECT_THAT(resumed(first + "\n" + R"({"step": 2, "loss": 3})", 1), testing::ElementsAre(first));
  EXPECT_THAT(resumed(first + "\n" + R"({"step": 2, "loss": 3)", 2), testing::ElementsAre(first));
  EXPECT_THAT(resumed(first + "\n{\"step\"", 2), testing::ElementsAre(first));
}

TEST_F(MetricsTest, ResumeWarnsOfALineThatWasCut) {
  const std::string first = "{\"step\": 1, \"eval_loss\": 1}\n";
  const auto warning = [&](const std::string &text, std::optional<uint64_t> step = 2) {
    std::ofstream(path_) << text;
    const auto writer = MetricsWriter::open(path_, step);
    return writer.ok() ? writer->warning() : writer.status().message();
  };
  EXPECT_EQ(
      warning(first + "{\"step\": 2, \"lo"),
      "--metrics=" + path_.string() +
          ": the last line was cut off, as by a machine that failed; its 15 bytes are dropped, and the lines "
          "of its step may be missing");
  EXPECT_EQ(lines().size(), 1U);
  EXPECT_EQ(warning(first), "");
  EXPECT_EQ(warning(first + "{\"step\": 2}"), "");
  EXPECT_EQ(warning(first + "{\"step\": 3}\n{\"st"), "") << "of a step that is run again";
  EXPECT_EQ(warning(first + "{\"st", std::nullopt), "") << "begun anew";
}

TEST_F(MetricsTest, ResumeKeepsALineBeforeZeros) {
  const std::string first = R"({"step": 1, "eval_loss": 1})", second = R"({"step": 2, "loss": 3})";
  for (const size_t zeros : {1, 5000}) {
    for (const std::string &end : {std::string("\n"), std::string()}) {
      std::ofstream(path_) << first << "\n" << second << end << std::string(zeros, '\0');
      const auto writer = MetricsWriter::open(path_, 2);
      ASSERT_TRUE(writer.ok()) << writer.status().message();
      EXPECT_EQ(writer->warning(), "");
      EXPECT_THAT(lines(), testing::ElementsAre(first, second));
    }
    std::ofstream(path_) << first << std::string(zeros, '\0');
    ASSERT_TRUE(MetricsWriter::open(path_, 1).ok());
    EXPECT_THAT(lines(), testing::ElementsAre(first));
  }
}

TEST_F(MetricsTest, WithoutResumptionTheFileIsBegunAnew) {
  std::ofstream(path_) << R"({"step": 1, "eval_loss": 1})"
                          "\n";
  EXPECT_TRUE(MetricsWriter::open(path_, std::nullopt).ok());
  EXPECT_TRUE(lines().empty());
}

TEST_F(MetricsTest, WhatHoldsNoMetricsIsLeftAlone) {
  for (const std::string_view text :
       {"notes\n", "\n{\"step\": 1}\n", "[1]", "{\"step\": 1, \"reward\": 2}\n"})
    for (const std::optional<uint64_t> resumed : {std::optional<uint64_t>(), std::optional<uint64_t>(1)}) {
      std::ofstream(path_) << text;
      const Status status = MetricsWriter::open(path_, resumed).status();
      EXPECT_EQ(status.exitCode(), 2);
      EXPECT_THAT(status.message(), HasSubstr("the file holds something else than metrics"));
      EXPECT_EQ(std::filesystem::file_size(path_), text.size());
    }
  std::ofstream(path_) << "{\"st"; // of a run that was killed
  EXPECT_TRUE(MetricsWriter::open(path_, std::nullopt).ok());
}

/// One of which a run that begins anew reads no more than the beginning.
TEST_F(MetricsTest, AFileLargerThanMemoryIsStartedAnew) {
  std::ofstream(path_) << "{\"step\": 1, \"eval_loss\": 1}\n";
  std::filesystem::resize_file(path_, 1ULL << 40); // sparse
  ASSERT_TRUE(MetricsWriter::open(path_, std::nullopt).ok());
  EXPECT_EQ(std::filesystem::file_size(path_), 0U);
}

TEST_F(MetricsTest, ResumeKeepsLinesOfOthersAndWarns) {
  std::ofstream(path_) << "{\"step\": 1, \"eval_loss\": 1}\n# a remark\n{\"note\": 2}\n{\"step\": "
                          "2}\n{\"step\": 3}\n{\"step\": 2}\n";
  const auto writer = MetricsWriter::open(path_, 2);
  ASSERT_TRUE(writer.ok()) << writer.status().message();
  EXPECT_EQ(
      writer->warning(),
      "--metrics=" + path_.string() +
          ": line 2 is not a line of metrics; it stays, and programs that read the file may fail there");
  EXPECT_THAT(lines(), testing::ElementsAre("{\"step\": 1, \"eval_loss\": 1}", "# a remark", "{\"note\": 2}",
                                            "{\"step\": 2}"));
}

TEST_F(MetricsTest, AFileHasOneWriterAtATime) {
  {
    auto first = MetricsWriter::open(path_, std::nullopt);
    ASSERT_TRUE(first.ok()) << first.status().message();
    ASSERT_TRUE(first->write(StepMetrics{.step = 1}).ok());
    for (const std::optional<uint64_t> resumeStep : {std::optional<uint64_t>(), std::optional<uint64_t>(0)}) {
      const auto second = MetricsWriter::open(path_, resumeStep);
      EXPECT_EQ(second.status().exitCode(), 2);
      EXPECT_EQ(second.status().message(),
                "--metrics=" + path_.string() +
                    ": another trainrun writes its metrics there; stop it or give another name");
    }
    EXPECT_EQ(lines().size(), 1U);
  }
  EXPECT_TRUE(MetricsWriter::open(path_, std::nullopt).ok());
}

TEST_F(MetricsTest, APipeNeedsItsReader) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0666), 0);
  EXPECT_THAT(MetricsWriter::open(path_, std::nullopt).status().message(),
              HasSubstr("a pipe that nobody reads"));
}

TEST_F(MetricsTest, ASocketIsNoFile) {
  const Descriptor socket(::socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  ASSERT_LT(path_.string().size(), sizeof(address.sun_path));
  path_.string().copy(address.sun_path, sizeof(address.sun_path));
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr *>(&address), sizeof(address)), 0);
  EXPECT_EQ(MetricsWriter::open(path_, std::nullopt).status().message(),
            "--metrics=" + path_.string() + ": expected a file, found a socket; name a file or a pipe");
}

TEST_F(MetricsTest, ErrorsNamePathAndReason) {
  EXPECT_THAT(
      MetricsWriter::open("/nowhere/m.jsonl", std::nullopt).status().message(),
      HasSubstr("--metrics=/nowhere/m.jsonl: there is no folder '/nowhere'; create it, or name another"));
  auto full = MetricsWriter::open("/dev/full", 3);
  ASSERT_TRUE(full.ok()) << full.status().message();
  EXPECT_THAT(full->write(StepMetrics{}).message(), HasSubstr("/dev/full: cannot write: No space left"));
}

} // namespace
} // namespace trainc
