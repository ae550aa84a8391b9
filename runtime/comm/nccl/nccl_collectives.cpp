#include "runtime/comm/nccl/nccl_collectives.h"

#include "runtime/plan/dtype.h"

namespace trainc {

namespace {

/// What is not summed moves as bytes.
ncclDataType_t sumType(fb::DType dtype) {
  return dtype == fb::DType::BF16 ? ncclBfloat16 : dtype == fb::DType::F16 ? ncclFloat16 : ncclFloat32;
}

void *at(DeviceAddress address) { return address.as<void>(); }

} // namespace

/// What `calls` does is one launch of NCCL's. The group ends even where a call fails.
template <typename Calls> Status NcclCollectives::inGroup(const NcclPatience &patience, Calls calls) const {
  TRAINC_RETURN_IF_ERROR(nccl().ncclGroupStart());
  const Status status = calls();
  const Status end = nccl().ncclGroupEnd();
  TRAINC_RETURN_IF_ERROR(status);
  TRAINC_RETURN_IF_ERROR(end);
  return group_.settle("ncclGroupEnd", patience);
}

Status NcclCollectives::enqueue(const Collective &collective, CUstream stream,
                                const NcclPatience &patience) const {
  return inGroup(patience, [&]() -> Status {
    for (const CollectiveRange &range : collective.ranges)
      if (range.elements > 0)
        TRAINC_RETURN_IF_ERROR(enqueueRange(collective, range, stream));
    return {};
  });
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
  case MeetingKind::kFarewell:
    break;
  }
  return {};
}

/// As MpiCollectives does it: shares go in pieces of one size, and the sums of an all-reduce to all at the
/// end. The stream keeps one round's sums before the next one's messages, which take their place.
Status NcclCollectives::enqueueTree(const Collective &collective, const Staging &staging, const LocalSum &sum,
                                    CUstream stream, const NcclPatience &patience) const {
  const uint64_t piece = pieceBytes(staging);
  const uint64_t bytes = share(collective, place_).bytes();
  for (uint64_t begin = 0; begin < bytes; begin += piece) {
    const Window window{begin, begin + piece};
    TRAINC_RETURN_IF_ERROR(
        inGroup(patience, [&] { return exchangeShares(collective, window, staging, stream); }));
    TRAINC_RETURN_IF_ERROR(sumShare(collective, window, staging, sum, stream));
  }
  if (collective.kind != MeetingKind::kAllReduce)
    return {};
  return inGroup(patience, [&] { return gatherSums(collective, stream); });
}

/// Sends each place what of its share this rank has, and receives what others have of this rank's.
Status NcclCollectives::exchangeShares(const Collective &collective, Window window, const Staging &staging,
                                       CUstream stream) const {
  Status status;
  const auto keep = [&](Status next) {
    if (status.ok())
      status = std::move(next);
  };
  for (uint32_t peer = 0; peer < members_.count; ++peer) {
    if (peer == place_)
      continue;
    const DeviceAddress arrives = staging.memory + peer * pieceBytes(staging);
    share(collective, place_).forEach(window, [&](const Stretch &stretch) {
      keep(nccl().ncclRecv(at(arrives + stretch.inWindow), stretch.bytes, ncclUint8, static_cast<int>(peer),
                           group_.handle(), stream));
    });
    share(collective, peer).forEach(window, [&](const Stretch &stretch) {
      keep(nccl().ncclSend(at(collective.ranges[stretch.range].source + stretch.begin), stretch.bytes,
                           ncclUint8, static_cast<int>(peer), group_.handle(), stream));
    });
  }
  return status;
}

Status NcclCollectives::sumShare(const Collective &collective, Window window, const Staging &staging,
                                 const LocalSum &sum, CUstream stream) const {
  Status status;
  std::vector<DeviceAddress> inputs(members_.count);
  share(collective, place_).forEach(window, [&](const Stretch &stretch) {
    const CollectiveRange &range = collective.ranges[stretch.range];
    for (uint32_t peer = 0; peer < members_.count; ++peer)
      inputs[peer] = peer == place_ ? range.source + stretch.begin
                                    : staging.memory + peer * pieceBytes(staging) + stretch.inWindow;
    if (status.ok())
      status = sum({.dtype = range.dtype,
                    .inputs = inputs,
                    .out = range.destination + stretch.inPart,
                    .elements = stretch.bytes / elementBytes(range.dtype)},
                   stream);
  });
  return status;
}

/// Shares of an all-reduce are of unequal sizes, which no gather of NCCL's takes.
Status NcclCollectives::gatherSums(const Collective &collective, CUstream stream) const {
  Status status;
  const auto keep = [&](Status next) {
    if (status.ok())
      status = std::move(next);
  };
  const auto place = [&](const Stretch &stretch) {
    return at(collective.ranges[stretch.range].destination + stretch.begin);
  };
  for (uint32_t peer = 0; peer < members_.count; ++peer) {
    if (peer == place_)
      continue;
    share(collective, peer).forEach([&](const Stretch &stretch) {
      keep(nccl().ncclRecv(place(stretch), stretch.bytes, ncclUint8, static_cast<int>(peer), group_.handle(),
                           stream));
    });
    share(collective, place_).forEach([&](const Stretch &stretch) {
      keep(nccl().ncclSend(place(stretch), stretch.bytes, ncclUint8, static_cast<int>(peer), group_.handle(),
                           stream));
    });
  }
  return status;
}

} // namespace trainc
