#include "runtime/device/cuda/attention_graph.h"

#include "plan/facts/library_calls.h"

#include <utility>

namespace trainc {

namespace {

using Tensor = CudnnGraphBuilder::Tensor;

/// Common parts of both graphs.
class AttentionParts {
public:
  AttentionParts(CudnnGraphBuilder &graph, const CudnnAttentionSizes &sizes, cudnnDataType_t values)
      : graph_(graph), values_(values), isCausal_(sizes.isCausal), batch_(int64_t(sizes.batch)),
        queries_(int64_t(sizes.queries)), keys_(int64_t(sizes.keys)), heads_(int64_t(sizes.heads)),
        keyHeads_(int64_t(sizes.keyHeads)), headSize_(int64_t(sizes.headSize)),
        valueSize_(int64_t(sizes.valueSize)) {}

protected:
  /// A tensor with the plan's layout [batch, positions, heads * size].
  CudnnTensor heads(int64_t heads, int64_t positions, int64_t size) const {
    return {values_, {batch_, heads, positions, size}, {positions * heads * size, size, heads * size, 1}};
  }
  static CudnnTensor transposed(CudnnTensor tensor) {
    std::swap(tensor.sizes[2], tensor.sizes[3]);
    std::swap(tensor.strides[2], tensor.strides[3]);
    return tensor;
  }
  CudnnTensor ofQuery() const { return heads(heads_, queries_, headSize_); }
  CudnnTensor ofKey() const { return heads(keyHeads_, keys_, headSize_); }
  CudnnTensor ofValue() const { return heads(keyHeads_, keys_, valueSize_); }
  CudnnTensor ofOut() const { return heads(heads_, queries_, valueSize_); }
  CudnnTensor ofScores(cudnnDataType_t type) const {
    return packedTensor(type, {batch_, heads_, queries_, keys_});
  }
  CudnnTensor ofRows() const { return packedTensor(CUDNN_DATA_FLOAT, {batch_, heads_, queries_, 1}); }

  Tensor scores() { return graph_.between(ofScores(CUDNN_DATA_FLOAT)); }
  Tensor rows() { return graph_.between(ofRows()); }
  Tensor scale() {
    if (scale_ == nullptr)
      scale_ = graph_.number(kAttentionScale, CUDNN_DATA_FLOAT);
    return scale_;
  }

  Tensor scaled(Tensor x) {
    const Tensor result = scores();
    graph_.pointwise(CUDNN_POINTWISE_MUL, x, scale(), result);
    return result;
  }

  /// Replaces the scores of masked keys by `hidden`. With more keys than queries, the last query sees the
  /// last key.
  Tensor masked(Tensor x) {
    if (!isCausal_)
      return x;
    const CudnnTensor places = ofScores(CUDNN_DATA_INT32);
    Tensor query = graph_.between(places);
    graph_.index(x, 2, query);
    const Tensor key = graph_.between(places);
    graph_.index(x, 3, key);
    if (keys_ != queries_) {
      query = shifted(query, CUDNN_POINTWISE_ADD, kAttentionKeys);
      query = shifted(query, CUDNN_POINTWISE_SUB, kAttentionQueries);
    }
    const Tensor sees = graph_.between(ofScores(CUDNN_DATA_BOOLEAN));
    graph_.pointwise(CUDNN_POINTWISE_CMP_GE, query, key, sees, CUDNN_DATA_BOOLEAN);
    const Tensor result = scores();
    graph_.select(sees, x, graph_.number(kAttentionHidden, CUDNN_DATA_FLOAT), result);
    return result;
  }

  CudnnGraphBuilder &graph_;
  cudnnDataType_t values_;
  bool isCausal_;
  int64_t batch_, queries_, keys_, heads_, keyHeads_, headSize_, valueSize_;

private:
  Tensor shifted(Tensor x, cudnnPointwiseMode_t mode, int64_t number) {
    const Tensor result = graph_.between(ofScores(CUDNN_DATA_INT32));
    graph_.pointwise(mode, x, graph_.number(number, CUDNN_DATA_INT32), result, CUDNN_DATA_INT32);
    return result;
  }

  Tensor scale_ = nullptr;
};

class ForwardParts : AttentionParts {
public:
  using AttentionParts::AttentionParts;

  void build() {
    const Tensor query = graph_.argument(kQuery, ofQuery());
    const Tensor key = graph_.argument(kKey, transposed(ofKey()));
    const Tensor products = scores();
    graph_.multiply(query, key, products);
    const Tensor weights = softmax(masked(scaled(products)));
    graph_.multiply(weights, graph_.argument(kValue, ofValue()), graph_.argument(kOut, ofOut()));
  }

private:
  /// The attention weights, in the type of their product with the values.
  Tensor softmax(Tensor x) {
    const Tensor largest = rows();
    graph_.reduce(CUDNN_REDUCE_TENSOR_MAX, x, largest);
    const Tensor below = scores();
    graph_.pointwise(CUDNN_POINTWISE_SUB, x, largest, below);
    const Tensor raised = scores();
    graph_.pointwise(CUDNN_POINTWISE_EXP, below, raised);
    const Tensor total = rows();
    graph_.reduce(CUDNN_REDUCE_TENSOR_ADD, raised, total);
    const Tensor logarithm = rows();
    graph_.pointwise(CUDNN_POINTWISE_LOG, total, logarithm);
    graph_.pointwise(CUDNN_POINTWISE_ADD, largest, logarithm, graph_.argument(kLogSumExp, ofRows()));
    const Tensor weights = graph_.between(ofScores(values_));
    graph_.pointwise(CUDNN_POINTWISE_DIV, raised, total, weights);
    return weights;
  }
};

class BackwardParts : AttentionParts {
public:
  BackwardParts(CudnnGraphBuilder &graph, const CudnnAttentionSizes &sizes, cudnnDataType_t values)
      : AttentionParts(graph, sizes, values), query_(graph.argument(kQuery, ofQuery())),
        key_(graph.argument(kKey, transposed(ofKey()))), outGradient_(graph.argument(kOutGradient, ofOut())) {
  }

  void build() {
    const Tensor sums = sumsOfOut();
    const Tensor weights = recomputedWeights();
    gatherFromQueries(weights, outGradient_, ofValue(), kValueGradient);
    const Tensor slopes = scores();
    graph_.multiply(outGradient_, graph_.argument(kValue, transposed(ofValue())), slopes);
    const Tensor centred = scores();
    graph_.pointwise(CUDNN_POINTWISE_SUB, slopes, sums, centred);
    const Tensor weighted = scores();
    graph_.pointwise(CUDNN_POINTWISE_MUL, centred, weights, weighted);
    const Tensor gradients = scaled(weighted);
    gatherFromQueries(gradients, query_, ofKey(), kKeyGradient);
    CudnnTensor turned = ofKey();
    turned.type = CUDNN_DATA_FLOAT; // the type of the gradients that it is multiplied with
    const Tensor key = graph_.between(turned);
    graph_.reshape(key_, key);
    graph_.multiply(gradients, key, graph_.argument(kQueryGradient, ofQuery()));
  }

private:
  Tensor sumsOfOut() {
    const Tensor products =
        graph_.between(packedTensor(CUDNN_DATA_FLOAT, {batch_, heads_, queries_, valueSize_}));
    graph_.pointwise(CUDNN_POINTWISE_MUL, outGradient_, graph_.argument(kOut, ofOut()), products);
    const Tensor summed = rows();
    graph_.reduce(CUDNN_REDUCE_TENSOR_ADD, products, summed);
    // Engines expect the scale of a dropout here; without dropout it is 1.
    const Tensor sums = graph_.argument(kAttentionSums, ofRows());
    graph_.pointwise(CUDNN_POINTWISE_MUL, summed, graph_.number(kAttentionOne, CUDNN_DATA_FLOAT), sums);
    return sums;
  }

  Tensor recomputedWeights() {
    const Tensor products = scores();
    graph_.multiply(query_, key_, products);
    const Tensor below = scores();
    graph_.pointwise(CUDNN_POINTWISE_SUB, scaled(products), graph_.argument(kLogSumExp, ofRows()), below);
    const Tensor weights = scores();
    graph_.pointwise(CUDNN_POINTWISE_EXP, masked(below), weights);
    return weights;
  }

  /// x^T y for each query head, summed over the heads that share a key head.
  void gatherFromQueries(Tensor x, Tensor y, const CudnnTensor &gradient, int64_t id) {
    const Tensor left = graph_.between(transposed(ofScores(values_)));
    graph_.reshape(x, left);
    const Tensor result = graph_.argument(id, gradient);
    if (heads_ == keyHeads_)
      return graph_.multiply(left, y, result);
    const Tensor each = graph_.between(packedTensor(values_, {batch_, heads_, keys_, gradient.sizes[3]}));
    graph_.multiply(left, y, each);
    graph_.reduce(CUDNN_REDUCE_TENSOR_ADD, each, result);
  }

  Tensor query_, key_, outGradient_;
};

} // namespace

void buildAttention(CudnnGraphBuilder &graph, const CudnnAttentionSizes &sizes, cudnnDataType_t values) {
  ForwardParts(graph, sizes, values).build();
}

void buildAttentionGradient(CudnnGraphBuilder &graph, const CudnnAttentionSizes &sizes,
                            cudnnDataType_t values) {
  BackwardParts(graph, sizes, values).build();
}

} // namespace trainc
