// RUN: trainc-check %s --reference --kernels --bound=5e-7

// Numbers from an independent implementation in Python of the text of nn.random. Seed, stream and step use all 64 bits.

func.func @uniform(%seed: tensor<i64> {check.values = dense<81985529216486895> : tensor<i64>},
                   %step: tensor<i64> {check.values = dense<4294967298> : tensor<i64>},
                   %offset: tensor<i64> {check.values = dense<3> : tensor<i64>})
    -> (tensor<2x3xf32> {check.expect = dense<[[3.1946367025375366e-01, 2.4945378303527832e-02, 5.9184157848358154e-01], [2.9053688049316406e-02, 2.0238173007965088e-01, 9.5741206407546997e-01]]> : tensor<2x3xf64>}) {
  %r = nn.random stream 1147797409030816545 seed %seed step %step offset %offset : tensor<2x3xf32> : tensor<i64>, tensor<i64>, tensor<i64>
  return %r : tensor<2x3xf32>
}

func.func @normal(%seed: tensor<i64> {check.values = dense<81985529216486895> : tensor<i64>},
                  %step: tensor<i64> {check.values = dense<4294967298> : tensor<i64>},
                  %offset: tensor<i64> {check.values = dense<3> : tensor<i64>})
    -> (tensor<2x3xf32> {check.expect = dense<[[7.5090698689249766e-02, 2.6875488599270070e+00, -6.5008825373101442e-01], [2.0855633664302733e+00, -1.6284624939938808e+00, -1.2712504320154847e-01]]> : tensor<2x3xf64>}) {
  %r = nn.random normal stream 1147797409030816545 seed %seed step %step offset %offset : tensor<2x3xf32> : tensor<i64>, tensor<i64>, tensor<i64>
  return %r : tensor<2x3xf32>
}

// Two halves of a batch, drawn as micro-batches 0 and 1, are the whole batch's numbers.
func.func @micro_batches(%seed: tensor<i64> {check.values = dense<7> : tensor<i64>},
                         %zero: tensor<i64> {check.values = dense<0> : tensor<i64>},
                         %one: tensor<i64> {check.values = dense<1> : tensor<i64>})
    -> (tensor<4xf32> {check.expect = dense<0.0> : tensor<4xf64>}) {
  %whole = nn.random stream 5 seed %seed step %zero offset %zero : tensor<4xf32> : tensor<i64>, tensor<i64>, tensor<i64>
  %first = nn.random stream 5 seed %seed step %zero offset %zero : tensor<2xf32> : tensor<i64>, tensor<i64>, tensor<i64>
  %second = nn.random stream 5 seed %seed step %zero offset %one : tensor<2xf32> : tensor<i64>, tensor<i64>, tensor<i64>
  %both = nn.concat dim 0 %first, %second : tensor<2xf32>, tensor<2xf32>
  %difference = nn.sub %whole, %both : tensor<4xf32>, tensor<4xf32>
  return %difference : tensor<4xf32>
}
