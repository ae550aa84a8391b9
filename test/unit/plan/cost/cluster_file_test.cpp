// Cluster files: those of examples/clusters, and messages about invalid ones.
#include "plan/cost/cluster_file.h"

#include "base/json_text.h"
#include "plan/schema/gpu_peaks.h"
#include "plan/settings/settings.h"

#include <cmath>
#include <fstream>
#include <functional>
#include <gmock/gmock.h>

namespace trainc {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

/// A file with no more than it must have.
Json small() {
  Json device{{"name", "round"}};
  for (const char *rate :
       {"peak_flops_per_second", "f32_flops_per_second", "tf32_flops_per_second", "bf16_flops_per_second",
        "attention_flops_per_second", "library_attention_flops_per_second",
        "library_attention_grad_flops_per_second", "bytes_per_second"})
    device[rate] = 1e12;
  device["launch_seconds"] = 1e-6;
  return {
      {"trainc_cluster", 1},
      {"name", "small"},
      {"device", device},
      {"node",
       {{"ranks", 8}, {"bytes_per_second", 1e11}, {"share_beside_compute", 0.9}, {"meet_seconds", 1e-5}}}};
}

Result<Cluster> parse(const Json &json) { return parseCluster("c.json", json.dump()); }

std::string errorOf(const Json &json) {
  const Result<Cluster> cluster = parse(json);
  EXPECT_FALSE(cluster.ok());
  return cluster.ok() ? "" : cluster.status().message();
}

TEST(ClusterFile, ASmallFileHasDefaults) {
  const Result<Cluster> cluster = parse(small());
  ASSERT_TRUE(cluster.ok()) << cluster.status().message();
  EXPECT_EQ(cluster->machine.nodeRanks, 8u);
  EXPECT_EQ(cluster->machine.fp8FlopsPerSecond, 0);
  EXPECT_TRUE(std::isinf(cluster->machine.networkBytesPerSecond)) << "unknown";
  EXPECT_EQ(cluster->machineOf(4).bytesPerSecond, 1e12);
}

TEST(ClusterFile, ValuesHaveSharesAndSources) {
  Json json = small();
  json["device"]["bytes_per_second"] = {{"value", 2e12}, {"share", 0.75}, {"source", "a data sheet"}};
  EXPECT_EQ(parse(json)->machine.bytesPerSecond, 1.5e12);
}

TEST(ClusterFile, RanksOfAHostDivideIt) {
  Json json = small();
  json["device"]["shared_by_ranks"] = true;
  json["node"].erase("ranks");
  json["host"]["bytes_per_second"] = 2e10;
  json["disk"]["write_bytes_per_second"] = 4e9;
  const Result<Cluster> cluster = parse(json);
  ASSERT_TRUE(cluster.ok()) << cluster.status().message();
  EXPECT_EQ(cluster->machineOf(4).flopsPerSecond, 0.25e12);
  EXPECT_EQ(cluster->machineOf(4).hostBytesPerSecond, 5e9);
  EXPECT_EQ(cluster->machineOf(4).diskWriteBytesPerSecond, 1e9);
  EXPECT_EQ(cluster->machineOf(4).linkBytesPerSecond, 1e11);
}

TEST(ClusterFile, ErrorsNameFieldExpectedAndFound) {
  EXPECT_THAT(errorOf(Json::array()), HasSubstr("c.json: expected a cluster file, an object with"));
  EXPECT_THAT(errorOf(Json::object()), HasSubstr("found null"));
  EXPECT_THAT(parseCluster("c.json", "{").status().message(), HasSubstr("c.json:1:2: not JSON"));

  Json json = small();
  json["device"]["bytes_per_secnd"] = 1;
  EXPECT_THAT(errorOf(json), HasSubstr("c.json: device.bytes_per_secnd: expected "));
  EXPECT_THAT(errorOf(json), HasSubstr("found 'bytes_per_secnd'; did you mean 'bytes_per_second'?"));

  json = small();
  json["device"].erase("launch_seconds");
  EXPECT_EQ(errorOf(json),
            "c.json: device.launch_seconds: expected seconds from 0 to 1000, found no such field");

  json = small();
  json["node"]["share_beside_compute"] = 1.5;
  EXPECT_EQ(errorOf(json),
            "c.json: node.share_beside_compute: expected a number above 0 and at most 1, found 1.5");

  json = small();
  json["device"]["bytes_per_second"] = {{"value", 1e12}, {"share", "half"}};
  EXPECT_EQ(errorOf(json),
            "c.json: device.bytes_per_second.share: expected a number above 0 and at most 1, found \"half\"");

  json = small();
  json["device"]["bytes_per_second"] = -1;
  EXPECT_EQ(errorOf(json), "c.json: device.bytes_per_second: expected a number from 1 to 1e30, found -1");

  json = small();
  json["node"]["ranks"] = 0;
  EXPECT_EQ(errorOf(json), "c.json: node.ranks: expected a whole number from 1 to 1048576, found 0");

  json = small();
  json["node"] = 3;
  EXPECT_EQ(errorOf(json), "c.json: node: expected an object, found 3");

  json = small();
  json["gpu"] = "g1";
  EXPECT_EQ(errorOf(json), "c.json: compute_capability: expected a text as \"9.0\", found no such field");

  std::string twice = small().dump();
  twice.insert(twice.find("\"bytes_per_second\""), "\"bytes_per_second\": 3, ");
  EXPECT_EQ(parseCluster("c.json", twice).status().message(),
            "c.json: device.bytes_per_second: expected each field once, found it twice; leave one out");

  EXPECT_THAT(openCluster("8xh1000").status().message(), HasSubstr("8xh100, "));
}

/// Every number of an object with its path.
void forEachNumber(const Json &json, const std::string &path,
                   const std::function<void(const std::string &, const Json &)> &visit) {
  for (const auto &[name, value] : json.items()) {
    const bool isNumber = value.is_number() || (value.is_object() && value.contains("value"));
    if (isNumber)
      visit(path + name, value);
    else if (value.is_object())
      forEachNumber(value, path + name + ".", visit);
  }
}

TEST(ClusterFile, ThoseOfExamplesAreBuiltInAndNameTheirSources) {
  EXPECT_GE(builtInClusters().size(), 6u);
  for (const std::string &name : builtInClusterNames()) {
    const std::string path = TRAINC_CLUSTERS + name + ".json";
    const Result<Cluster> file = openCluster(path);
    ASSERT_TRUE(file.ok()) << file.status().message();
    EXPECT_EQ(file->machine.bytesPerSecond, openCluster(name)->machine.bytesPerSecond);
    EXPECT_EQ(file->name, openCluster(name + ".json")->name); // no such file where tests run
    std::ifstream stream(path);
    const Json json = Json::parse(stream);
    for (const char *section : {"device", "node", "network", "host", "disk"})
      if (json.contains(section))
        forEachNumber(json[section], std::string(section) + ".",
                      [&](const std::string &field, const Json &value) {
                        if (field != "node.ranks") {
                          EXPECT_TRUE(value.is_object() && value.contains("source")) << name << ": " << field;
                        }
                      });
  }
}

/// A file with any byte changed is read, with valid rates, or rejected with a message.
TEST(ClusterFile, DamagedFilesAreReadOrRefused) {
  std::ifstream stream(std::string(TRAINC_CLUSTERS) + "8xh200.json");
  const std::string whole((std::istreambuf_iterator<char>(stream)), {});
  constexpr std::string_view kBytes = "0-9e.{}[]\",: x\0";
  size_t refused = 0;
  for (size_t place = 0; place < whole.size(); place += 7) {
    std::string text = whole;
    text[place] = kBytes[place % kBytes.size()];
    for (const std::string &damaged : {text, whole.substr(0, place)}) {
      const Result<Cluster> cluster = parseCluster("c.json", damaged);
      refused += !cluster.ok();
      if (cluster.ok()) {
        EXPECT_GT(cluster->machine.bytesPerSecond, 0);
      } else {
        EXPECT_TRUE(cluster.status().message().starts_with("c.json:")) << cluster.status().message();
      }
    }
  }
  EXPECT_GE(refused, whole.size() / 7) << "all that is cut off";
}

TEST(ClusterFile, PeaksAreThoseThatRunsAreHeldTo) {
  EXPECT_EQ(clusterOfGpu("a100")->machine.peakFlopsPerSecond, halfFlopsOnSheet("NVIDIA A100-SXM4-80GB"));
  EXPECT_EQ(clusterOfGpu("a100-40gb")->machine.peakFlopsPerSecond, halfFlopsOnSheet("NVIDIA A100-SXM4-40GB"));
  EXPECT_EQ(clusterOfGpu("h100-sxm")->machine.peakFlopsPerSecond, halfFlopsOnSheet("NVIDIA H100 80GB HBM3"));
  EXPECT_EQ(clusterOfGpu("h100-pcie")->machine.peakFlopsPerSecond, halfFlopsOnSheet("NVIDIA H100 PCIe"));
  EXPECT_EQ(clusterOfGpu("h200")->machine.peakFlopsPerSecond, halfFlopsOnSheet("NVIDIA H200"));
  EXPECT_EQ(clusterOfGpu("none"), nullptr);
}

/// A GPU that the compiler knows by name has rates, and the other way round.
TEST(ClusterFile, GpusAreTheWordsOfTheSetting) {
  std::vector<std::string> gpus;
  for (const Cluster &cluster : builtInClusters())
    if (!cluster.gpu.empty())
      gpus.push_back(cluster.gpu);
  EXPECT_THAT(train::kGpu.words(), testing::UnorderedElementsAreArray(gpus));
}

} // namespace
} // namespace trainc
