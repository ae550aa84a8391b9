#include "runtime/comm/nccl/nccl_collectives.h"

#include "plan/facts/dtype.h"

#include <algorithm>

namespace trainc {

namespace {

/// NCCL type of a sum; types that are not summed move as bytes.
ncclDataType_t sumType(fb::DType dtype) {
  return dtype == fb::DType::BF16 ? ncclBfloat16 : dtype == fb::DType::F16 ? ncclFloat16 : ncclFloat32;
}

void *at(DeviceAddress address) { return address.as<void>(); }

} // namespace

/// Issues all calls of `calls` as one NCCL launch. The group is closed even if a call fails.
template <typename Calls> Status NcclCollectives::inGroup(const NcclTimeout &timeout, Calls calls) const {
  TRAINC_RETURN_IF_ERROR(nccl().ncclGroupStart());
  const Status status = calls();
  const Status end = nccl().ncclGroupEnd();
  TRAINC_RETURN_IF_ERROR(status);
  TRAINC_RETURN_IF_ERROR(end);
  return group_.waitUntilDone("ncclGroupEnd", timeout);
}

Status NcclCollectives::enqueue(const Collective &collective, const LocalSum &sum, CUstream stream,
                                const NcclTimeout &timeout) const {
  std::vector<Collective> tensors;
  for (size_t i = 0; i < collective.ranges.size(); ++i)
    if (collective.ranges[i].sum)
      tensors.push_back({collective.kind, collective.axes, collective.ranges.subspan(i, 1)});
  if (tensors.size() < collective.ranges.size())
    TRAINC_RETURN_IF_ERROR(inGroup(timeout, [&]() -> Status {
      for (const CollectiveRange &range : collective.ranges)
        if (!range.sum && range.elements > 0)
          TRAINC_RETURN_IF_ERROR(enqueueRange(collective, range, stream));
      return {};
    }));
  return enqueueSums(tensors, sum, stream, timeout);
}

Status NcclCollectives::enqueueRange(const Collective &collective, const CollectiveRange &range,
                                     CUstream stream) const {
  const uint64_t part = range.elements / members_.count;
  void *source = at(range.source), *destination = at(range.destination);
  switch (collective.kind) {
  case MeetingKind::kAllReduce:
    return nccl().ncclAllReduce(source, destination, range.elements, sumType(range.dtype), ncclSum,
                                group_.handle(), stream);
  case MeetingKind::kReduceScatter:
    return nccl().ncclReduceScatter(source, destination, part, sumType(range.dtype), ncclSum, group_.handle(),
                                    stream);
  case MeetingKind::kAllGather:
    return nccl().ncclAllGather(source, destination, part * elementBytes(range.dtype), ncclUint8,
                                group_.handle(), stream);
  case MeetingKind::kBarrier:
  case MeetingKind::kShutdown:
    break;
  }
  return {};
}

uint64_t NcclCollectives::rounds(const Collective &tensor) const {
  const uint64_t piece = pieceBytes(*tensor.ranges[0].sum);
  return (share(tensor, place_).bytes() + piece - 1) / piece;
}

/// Tensors advance together, each in rounds of its own size; the sums of an all-reduce are gathered at the
/// end. Stream order keeps the sums of a round before the messages of the next, which overwrite the summed
/// data.
Status NcclCollectives::enqueueSums(std::span<const Collective> tensors, const LocalSum &sum, CUstream stream,
                                    const NcclTimeout &timeout) const {
  uint64_t maximum = 0;
  for (const Collective &tensor : tensors)
    maximum = std::max(maximum, rounds(tensor));
  for (uint64_t round = 0; round < maximum; ++round) {
    TRAINC_RETURN_IF_ERROR(inGroup(timeout, [&]() -> Status {
      for (const Collective &tensor : tensors)
        TRAINC_RETURN_IF_ERROR(exchangeShares(tensor, round, stream));
      return {};
    }));
    for (const Collective &tensor : tensors)
      TRAINC_RETURN_IF_ERROR(sumShare(tensor, round, sum, stream));
  }
  if (tensors.empty() || tensors[0].kind != MeetingKind::kAllReduce)
    return {};
  return inGroup(timeout, [&]() -> Status {
    for (const Collective &tensor : tensors)
      TRAINC_RETURN_IF_ERROR(gatherSums(tensor, stream));
    return {};
  });
}

/// Sends each place its share of this rank's data, and receives this rank's share from the others.
Status NcclCollectives::exchangeShares(const Collective &tensor, uint64_t round, CUstream stream) const {
  const CollectiveRange &range = tensor.ranges[0];
  const Window now = window(*range.sum, round);
  Status status;
  const auto keep = [&](Status next) {
    if (status.ok())
      status = std::move(next);
  };
  for (uint32_t peer = 0; peer < members_.count; ++peer) {
    if (peer == place_)
      continue;
    share(tensor, place_).forEach(now, [&](const Stretch &stretch) {
      keep(nccl().ncclRecv(at(arrival(*range.sum, peer) + stretch.inWindow), stretch.bytes, ncclUint8,
                           static_cast<int>(peer), group_.handle(), stream));
    });
    share(tensor, peer).forEach(now, [&](const Stretch &stretch) {
      keep(nccl().ncclSend(at(range.source + stretch.begin), stretch.bytes, ncclUint8, static_cast<int>(peer),
                           group_.handle(), stream));
    });
  }
  return status;
}

Status NcclCollectives::sumShare(const Collective &tensor, uint64_t round, const LocalSum &sum,
                                 CUstream stream) const {
  const CollectiveRange &range = tensor.ranges[0];
  Status status;
  std::vector<DeviceAddress> inputs(members_.count);
  share(tensor, place_).forEach(window(*range.sum, round), [&](const Stretch &stretch) {
    for (uint32_t peer = 0; peer < members_.count; ++peer)
      inputs[peer] =
          peer == place_ ? range.source + stretch.begin : arrival(*range.sum, peer) + stretch.inWindow;
    status = sum({.kernel = range.sum->kernel,
                  .inputs = inputs,
                  .out = DeviceAddress(placeOfSums(range, stretch.inPart)),
                  .end = DeviceAddress(placeOfSums(range, stretch.inPart + stretch.bytes))},
                 stream);
  });
  return status;
}

/// Uses point-to-point messages, because shares of an all-reduce differ in size and ncclAllGather needs equal
/// sizes.
Status NcclCollectives::gatherSums(const Collective &tensor, CUstream stream) const {
  Status status;
  const auto keep = [&](Status next) {
    if (status.ok())
      status = std::move(next);
  };
  const auto place = [&](const Stretch &stretch) { return at(tensor.ranges[0].destination + stretch.begin); };
  for (uint32_t peer = 0; peer < members_.count; ++peer) {
    if (peer == place_)
      continue;
    share(tensor, peer).forEach([&](const Stretch &stretch) {
      keep(nccl().ncclRecv(place(stretch), stretch.bytes, ncclUint8, static_cast<int>(peer), group_.handle(),
                           stream));
    });
    share(tensor, place_).forEach([&](const Stretch &stretch) {
      keep(nccl().ncclSend(place(stretch), stretch.bytes, ncclUint8, static_cast<int>(peer), group_.handle(),
                           stream));
    });
  }
  return status;
}

} // namespace trainc
