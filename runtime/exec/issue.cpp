#include "runtime/exec/issue.h"

#include "runtime/plan/place.h"

namespace trainc {

Status Issuer::issue(const Program &program, const Step &step, uint64_t iteration) {
  if (communicator_)
    communicator_->noteProgress();
  if (const auto *each = std::get_if<LaunchStep>(&step.operation))
    launch(program, *each, iteration);
  else if (const auto *copy = std::get_if<CopyStep>(&step.operation))
    device_.copy(copy->destination.at(iteration), copy->source.at(iteration), copy->bytes);
  else if (const auto *zero = std::get_if<ZeroStep>(&step.operation))
    device_.zero(zero->destination.at(iteration), zero->bytes);
  else if (const auto *collective = std::get_if<StartStep>(&step.operation))
    start(program, *collective);
  else
    return wait(program, step, std::get<WaitStep>(step.operation).slot);
  return {};
}

void Issuer::launch(const Program &program, const LaunchStep &launch, uint64_t iteration) {
  void *const *args = program.pointers.data() + launch.argsBegin;
  if (launch.moves) {
    for (uint32_t i = 0; i < launch.argsCount; ++i)
      program.moving[i] = program.args[launch.argsBegin + i].at(iteration);
    args = program.moving.data();
  }
  device_.launch(launch.kernel, args, launch.grid);
}

/// Peers may read the sources as soon as the collective has begun, so they must have been written by then.
void Issuer::start(const Program &program, const StartStep &start) {
  device_.synchronise();
  communicator_->start(start.slot, program.collective(start));
}

Status Issuer::wait(const Program &program, const Step &step, uint32_t slot) {
  const Status status = communicator_->wait(slot);
  if (status.ok())
    return {};
  const std::string place = placeText(plan_, program.name, std::to_string(step.index), *step.instruction);
  return Status(status.code(), fmt::format("{}: {}", place, status.message()));
}

} // namespace trainc
