// Checkpoints of several ranks: the same files as of one, readable by any other number.
#include "runtime/formats/safetensors_view.h"
#include "runtime/state/checkpoint_reader.h"
#include "runtime/state/checkpoint_writer.h"
#include "test/unit/runtime/state/support.h"

#include <barrier>
#include <gmock/gmock.h>
#include <limits>
#include <list>
#include <numeric>
#include <thread>

namespace trainc {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;

constexpr uint64_t kFloatsPerBlock = kChecksumBlockBytes / sizeof(float);

/// A process's part of a model: flat tensors that `shardRanks` ranks shard, and replicated tensors.
class Model {
public:
  Model(uint32_t rank, uint32_t ranks, uint32_t shardRanks)
      : place_(rank % shardRanks), ranks_(ranks), shardRanks_(shardRanks) {
    // Shards begin within tensors and blocks; some tensors are on a single rank.
    addFlat({{"h.0.weight", {3 * kFloatsPerBlock + 5}}, {"h.0.bias", {7}}, {"wte", {2, kFloatsPerBlock}}});
    addWhole("ln.weight", {10});
    addWhole("table", {5, kFloatsPerBlock / 2 + 3});
  }

  std::vector<StateTensor> tensors() const { return tensors_; }
  void fill(float start) {
    for (StateTensor &tensor : tensors_)
      std::copy_n(valuesOf(tensor, start).data(), tensor.bytes.size() / sizeof(float), floats(tensor));
  }
  bool holds(float start) const {
    return std::ranges::all_of(tensors_, [&](const StateTensor &tensor) {
      const std::vector<float> values = valuesOf(tensor, start);
      return std::equal(values.data(), values.data() + values.size(), floats(tensor));
    });
  }

private:
  struct Named {
    std::string name;
    std::vector<uint64_t> shape;
  };

  static uint64_t count(const std::vector<uint64_t> &shape) {
    return std::accumulate(shape.begin(), shape.end(), uint64_t{1}, std::multiplies());
  }
  /// Values of the held part of a tensor whose elements are start, start + 1, ...
  static std::vector<float> valuesOf(const StateTensor &tensor, float start) {
    std::vector<float> values(tensor.bytes.size() / sizeof(float));
    std::iota(values.data(), values.data() + values.size(),
              start + static_cast<float>(tensor.firstByte / sizeof(float)));
    return values;
  }
  static float *floats(const StateTensor &tensor) {
    return reinterpret_cast<float *>(tensor.bytes.host().data());
  }
  std::span<std::byte> allocate(uint64_t elements) {
    return std::as_writable_bytes(std::span(memory_.emplace_back(elements)));
  }

  void addWhole(const std::string &name, const std::vector<uint64_t> &shape) {
    tensors_.push_back(
        {.name = name, .dtype = fb::DType::F32, .shape = shape, .bytes = allocate(count(shape))});
  }

  void addFlat(const std::vector<Named> &members) {
    uint64_t elements = 0;
    for (const Named &each : members)
      elements += count(each.shape);
    const uint64_t part = (elements + shardRanks_ - 1) / shardRanks_, partBegin = place_ * part;
    const std::span<std::byte> held = allocate(part);
    uint64_t offset = 0;
    for (const Named &each : members) {
      const uint64_t end = offset + count(each.shape);
      const uint64_t from = std::clamp(partBegin, offset, end), to = std::clamp(partBegin + part, from, end);
      tensors_.push_back({.name = each.name,
                          .dtype = fb::DType::F32,
                          .shape = each.shape,
                          .bytes = from == to ? std::span<std::byte>()
                                              : held.subspan((from - partBegin) * 4, (to - from) * 4),
                          .firstByte = (from - offset) * 4,
                          .sharded = sharding()});
      offset = end;
    }
  }

  std::optional<RankGroupShape> sharding() const {
    return shardRanks_ > 1 ? std::optional(RankGroupShape{ranks_, shardRanks_, 1}) : std::nullopt;
  }

  uint32_t place_, ranks_, shardRanks_;
  std::vector<std::vector<float>> memory_;
  std::vector<StateTensor> tensors_;
};

/// Ranks as threads of this process, which meet where they agree.
class Ranks {
public:
  Ranks(uint32_t ranks, uint32_t shardRanks)
      : ranks_(ranks), shardRanks_(shardRanks), told_(ranks), met_(ranks), barrier_(ranks) {}

  /// Runs `body(rank, writer, model)` on every rank; returns each result.
  std::vector<std::string> run(const std::filesystem::path &folder,
                               const std::function<Status(uint32_t, CheckpointWriter &, Model &)> &body) {
    auto opened = CheckpointFolder::open(folder);
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    std::vector<std::string> messages(ranks_);
    std::vector<std::jthread> threads;
    for (uint32_t rank = 0; rank < ranks_; ++rank)
      threads.emplace_back([&, rank] {
        Model model(rank, ranks_, shardRanks_);
        model.fill(1);
        const std::filesystem::path &path = rank == strayed_ ? elsewhere_ : folder;
        CheckpointWriter writer(rank == 0 ? std::move(*opened) : CheckpointFolder::ofOtherRank(path),
                                {model.tensors(), model.tensors(), {{"config.json", "{}\n"}}}, 0,
                                {.rank = rank, .ranks = ranks_}, peersOf(rank));
        messages[rank] = body(rank, writer, model).message();
      });
    threads.clear();
    return messages;
  }

  /// Has one rank take another folder for that of the run.
  void sendElsewhere(uint32_t rank, const std::filesystem::path &folder) {
    strayed_ = rank;
    elsewhere_ = folder;
  }
  /// Makes all later meetings fail, as after the death of a rank. `onlyFirst`: in the last successful one
  /// only rank 0 receives the others' progress.
  void failAfter(uint32_t meetings, bool onlyFirst = false) {
    meetings_ = meetings;
    onlyFirst_ = onlyFirst;
  }

private:
  CheckpointPeers peersOf(uint32_t rank) {
    if (ranks_ == 1)
      return {};
    const auto gather = [this, rank](uint8_t own) -> Result<std::vector<uint8_t>> {
      const Status lost = failed("rank 1 failed: it was killed");
      if (++met_[rank] > meetings_)
        return lost;
      told_[rank] = own;
      barrier_.arrive_and_wait();
      std::vector<uint8_t> all = told_;
      barrier_.arrive_and_wait();
      if (met_[rank] == meetings_ && onlyFirst_ && rank != 0)
        return lost;
      return all;
    };
    return {.gather = gather};
  }

  uint32_t ranks_, shardRanks_;
  std::vector<uint8_t> told_;
  std::vector<uint32_t> met_; ///< how often each rank has met the others
  std::barrier<> barrier_;
  uint32_t meetings_ = std::numeric_limits<uint32_t>::max();
  bool onlyFirst_ = false;
  uint32_t strayed_ = 0; ///< none
  std::filesystem::path elsewhere_;
};

TrainerState stateOf(uint64_t step) {
  TrainerState state;
  state.plan = "toy";
  state.step = step;
  return state;
}

Status writeOne(uint32_t, CheckpointWriter &writer, Model &) {
  writer.start(stateOf(10));
  return writer.wait();
}

/// A training with two checkpoints: one that is completed on the way, and the last.
Status writeTwo(uint32_t, CheckpointWriter &writer, Model &model) {
  writer.start(stateOf(10));
  writer.waitUntilRead();
  model.fill(2);
  for (int step = 0; step < 3; ++step)
    writer.advance();
  TRAINC_RETURN_IF_ERROR(writer.wait());
  writer.start(stateOf(20));
  EXPECT_TRUE(writer.pending());
  return writer.wait();
}

/// Content of a folder, by path.
std::map<std::string, std::string> contents(const std::filesystem::path &folder) {
  std::map<std::string, std::string> files;
  for (const auto &entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file())
      files[std::filesystem::relative(entry.path(), folder)] = readFile(entry.path());
  return files;
}

class CheckpointRanksTest : public testing::TestWithParam<std::pair<uint32_t, uint32_t>> {
protected:
  TempFolder root_;
};

TEST_P(CheckpointRanksTest, WriteWhatOneRankWrites) {
  const auto [ranks, shardRanks] = GetParam();
  EXPECT_THAT(Ranks(1, 1).run(root_ / "one", writeTwo), Each(""));
  EXPECT_THAT(Ranks(ranks, shardRanks).run(root_ / "many", writeTwo), Each(""));
  const auto one = contents(root_ / "one"), many = contents(root_ / "many");
  EXPECT_EQ(one.size(), 8U);
  EXPECT_TRUE(one == many);
}

TEST_P(CheckpointRanksTest, ReadWhatOneRankHasWritten) {
  const auto [ranks, shardRanks] = GetParam();
  EXPECT_THAT(Ranks(1, 1).run(root_.path(), writeTwo), Each(""));
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    Model model(rank, ranks, shardRanks);
    const auto checkpoint = Checkpoint::open(root_ / "step-00000020");
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
    const Status status = checkpoint->loadParameters(model.tensors(), 2);
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_TRUE(model.holds(2)) << "rank " << rank;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, CheckpointRanksTest,
                         testing::Values(std::pair(2U, 1U), std::pair(2U, 2U), std::pair(3U, 3U),
                                         std::pair(4U, 2U), std::pair(7U, 7U)));

class CheckpointRanks : public testing::Test {
protected:
  TempFolder root_;
};

TEST_F(CheckpointRanks, AByteThatARankDoesNotReadIsNotItsBusiness) {
  EXPECT_THAT(Ranks(1, 1).run(root_.path(), writeTwo), Each(""));
  const auto path = root_ / "step-00000020";
  std::string text = readFile(path / kModelFile);
  const size_t first = text.size() - (5 * (kFloatsPerBlock / 2 + 3) + 10 + 2 * kFloatsPerBlock + 7) * 4 -
                       (3 * kFloatsPerBlock + 5) * 4;
  text[first] ^= 1;
  writeFile(path / kModelFile, text);
  const auto checkpoint = Checkpoint::open(path);
  ASSERT_TRUE(checkpoint.ok());
  EXPECT_THAT(checkpoint->loadParameters(Model(0, 2, 2).tensors(), 1).message(),
              HasSubstr("tensor 'h.0.weight' does not have the checksum"));
  EXPECT_TRUE(checkpoint->loadParameters(Model(1, 2, 2).tensors(), 1).ok());
}

// A part of 'h.0.weight' ends in the midst of its third block.
class CheckpointSharedBlocks : public testing::Test {
protected:
  /// Message of rank 0 after two ranks have written and `damage` was done.
  std::string messageAfter(const std::function<void()> &damage) {
    std::vector<CheckpointFiles> files;
    std::vector<RangeChecksum> own;
    for (const uint32_t rank : {0U, 1U}) {
      Model &model = models_.emplace_back(rank, 2, 2);
      model.fill(1);
      files.push_back({{model.tensors(), {}, {}}, {.rank = rank, .ranks = 2}});
      if (rank == 0) {
        EXPECT_TRUE(files[0].create(root_.path()).ok());
      }
      auto checksums = files.back().write(root_.path(), [] {});
      EXPECT_TRUE(checksums.ok()) << checksums.status().message();
      if (rank == 0)
        own = std::move(*checksums);
    }
    damage();
    return files[0].complete(root_.path(), {}, own).message();
  }

  /// File offset of a float in 'h.0.weight'.
  size_t offsetOf(uint64_t element) const {
    return SafetensorsView::open(root_ / kModelFile)->find("h.0.weight")->fileOffset +
           element * sizeof(float);
  }

  TempFolder root_;
  std::list<Model> models_;
};

TEST_F(CheckpointSharedBlocks, AreReadBack) {
  EXPECT_EQ(messageAfter([] {}), "");
}

TEST_F(CheckpointSharedBlocks, AWriteThatWasLostIsFound) {
  for (const uint64_t element : {2 * kFloatsPerBlock, 3 * kFloatsPerBlock - 1}) { // rank 0's and rank 1's
    const std::string message = messageAfter([&] {
      std::string text = readFile(root_ / kModelFile);
      text.replace(offsetOf(element), sizeof(float), sizeof(float), 0);
      writeFile(root_ / kModelFile, text);
    });
    EXPECT_THAT(message,
                AllOf(HasSubstr("model.safetensors: bytes "), HasSubstr("are not what was written")));
  }
}

TEST_F(CheckpointSharedBlocks, BytesThatNobodyHasWrittenAreFound) {
  const std::string message = messageAfter([&] { // the first range of rank 1 begins at the boundary
    writeFile(root_ / "part-1", readFile(root_ / "part-1").substr(sizeof(RangeChecksum)));
  });
  EXPECT_THAT(message,
              HasSubstr("model.safetensors: of bytes 2097152 to 3145728 of tensor 'h.0.weight', ranks "
                        "have not written each once"));
}

TEST_F(CheckpointSharedBlocks, BytesThatTwoHaveWrittenAreFound) {
  const std::string message = messageAfter([&] {
    const std::string part = readFile(root_ / "part-1");
    writeFile(root_ / "part-1", part + part.substr(0, sizeof(RangeChecksum)));
  });
  EXPECT_THAT(message, HasSubstr("ranks have not written each once"));
}

TEST_F(CheckpointRanks, ARankThatCannotWriteLeavesNoCheckpoint) {
  Ranks ranks(3, 3);
  ranks.sendElsewhere(2, root_ / "none");
  const auto messages = ranks.run(root_ / "run", [&](uint32_t, CheckpointWriter &writer, Model &) {
    writer.start(stateOf(20));
    writer.advance();
    return writer.wait();
  });
  const auto notWritten = HasSubstr("the checkpoint of step 20 was not written (there is no earlier one): ");
  EXPECT_THAT(messages[2],
              AllOf(notWritten, HasSubstr("none/.tmp-step-00000020/model.safetensors: cannot open"),
                    HasSubstr("a folder that all hosts see")));
  for (const uint32_t rank : {0U, 1U})
    EXPECT_THAT(messages[rank], AllOf(notWritten, HasSubstr("rank 2 could not write its share")));
  EXPECT_TRUE(contents(root_ / "run").empty());
}

TEST_F(CheckpointRanks, AFullDiskLeavesNoCheckpointAndTheNextOneIsWritten) {
  std::optional<FullDisk> full(std::in_place, 1000);
  std::barrier<> emptied(3);
  Ranks ranks(3, 3);
  const auto messages = ranks.run(root_.path(), [&](uint32_t rank, CheckpointWriter &writer, Model &) {
    writer.start(stateOf(10));
    const Status first = writer.wait();
    EXPECT_THAT(first.message(), HasSubstr(rank == 0 ? "model.safetensors: cannot write: File too large"
                                                     : "rank 0 could not prepare the checkpoint"));
    if (rank == 0)
      full.reset();
    emptied.arrive_and_wait();
    writer.start(stateOf(20));
    return writer.wait();
  });
  EXPECT_THAT(messages, Each(""));
  EXPECT_THAT(listCheckpoints(root_.path()), testing::ElementsAre(20));
}

/// All ranks detect the failure, while some still write: their work must have ended when rank 0 removes the
/// files.
TEST_F(CheckpointRanks, AFailureIsFoundOnTheWay) {
  for (int attempt = 0; attempt < 20; ++attempt) {
    Ranks ranks(4, 4);
    ranks.sendElsewhere(2, root_ / "none");
    const auto messages = ranks.run(root_ / "run", [&](uint32_t, CheckpointWriter &writer, Model &) {
      for (writer.start(stateOf(20)); !writer.settled(); std::this_thread::yield())
        writer.advance();
      return writer.wait();
    });
    EXPECT_THAT(messages, Each(HasSubstr("the checkpoint of step 20 was not written")));
    ASSERT_TRUE(std::filesystem::is_empty(root_ / "run")) << attempt;
  }
}

/// start() meets once; then the shares are told, and then that rank 0 has completed them.
TEST_F(CheckpointRanks, ARankThatDiesLeavesNoCheckpoint) {
  Ranks ranks(3, 3);
  ranks.failAfter(1);
  const auto messages = ranks.run(root_.path(), writeOne);
  EXPECT_THAT(messages[0], AllOf(HasSubstr("the checkpoint of step 10 was not written"),
                                 HasSubstr("rank 1 failed: it was killed")));
  EXPECT_TRUE(listCheckpoints(root_.path()).empty());
}

TEST_F(CheckpointRanks, WhereRank0HasCompletedItNobodyDeniesIt) {
  for (const bool onlyFirst : {false, true}) {
    TempFolder folder;
    Ranks ranks(3, 3);
    ranks.failAfter(2, onlyFirst);
    const auto messages = ranks.run(folder.path(), writeOne);
    EXPECT_EQ(messages[0], "");
    for (const uint32_t rank : {1U, 2U})
      EXPECT_EQ(
          messages[rank],
          "rank 0 alone knows whether the checkpoint of step 10 was written: rank 1 failed: it was killed");
    EXPECT_THAT(listCheckpoints(folder.path()), testing::ElementsAre(10));
  }
}

} // namespace
} // namespace trainc
