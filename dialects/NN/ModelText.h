// Whether the parser is inside a model's text.
#pragma once

namespace trainc::nn {

/// While one lives, its thread parses the body of a block or a model, where every value is deferred.
class ModelTextScope {
public:
  ModelTextScope() { ++depth; }
  ~ModelTextScope() { --depth; }
  ModelTextScope(const ModelTextScope &) = delete;
  ModelTextScope &operator=(const ModelTextScope &) = delete;

  static bool isOpen() { return depth > 0; }

private:
  static thread_local int depth;
};

} // namespace trainc::nn
