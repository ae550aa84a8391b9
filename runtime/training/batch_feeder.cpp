#include "runtime/training/batch_feeder.h"

namespace trainc {

std::vector<ColumnSpec> entryColumns(const Executor &executor,
                                     std::initializer_list<std::string_view> entries) {
  std::vector<const fb::Input *> inputs;
  for (const std::string_view entry : entries)
    for (const InputView &input : executor.inputs(entry))
      inputs.push_back(input.info);
  return distinctColumns(inputs);
}

BatchFeeder::BatchFeeder(Executor &executor, std::string_view entry, const Dataset &dataset)
    : executor_(executor) {
  for (const InputView &input : executor.inputs(entry)) {
    const std::optional<size_t> index = dataset.findColumn(columnSpec(*input.info));
    assert(index && "the data set was opened without this entry's columns");
    columns_.push_back({input, *index});
  }
}

void BatchFeeder::feed(const StepBatch &batch, uint64_t micro) const {
  for (const Column &column : columns_) {
    const bool whole = column.input.info->extent() == fb::Extent::Step;
    executor_.write(column.input.memory, whole ? batch.step(column.index) : batch.micro(column.index, micro));
  }
}

} // namespace trainc
