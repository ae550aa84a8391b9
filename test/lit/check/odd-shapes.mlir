// RUN: trainc-check %s --kernels --bound=1e-5
// RUN: trainc-check %s --kernels --precision=bf16 --bound=1e-5

// Sizes next to those that vectors, warps, blocks and tiles have, of every class of kernels. The tests of emulated GPUs run it, too.

// --- rows ---

func.func @one(%x: tensor<1x1xf32>) -> (tensor<1x1xf32>, tensor<1xf32>) {
  %y = nn.softmax %x : tensor<1x1xf32>
  %s = nn.reduce sum %x over [1] : tensor<1x1xf32>
  return %y, %s : tensor<1x1xf32>, tensor<1xf32>
}
func.func @three(%x: tensor<5x3xf32>, %w: tensor<3xf32>) -> (tensor<5x3xf32>, tensor<5xf32>) {
  %c = nn.broadcast %w to [5, 3] : tensor<3xf32>
  %y = nn.mul %x, %c : tensor<5x3xf32>, tensor<5x3xf32>
  %s = nn.reduce sum %y over [1] : tensor<5x3xf32>
  return %y, %s : tensor<5x3xf32>, tensor<5xf32>
}
func.func @seven(%x: tensor<3x7xf32>) -> (tensor<3x7xf32>, tensor<3xf32>) {
  %y, %rstd = nn.standardize %x eps 1.0e-5 : tensor<3x7xf32>
  return %y, %rstd : tensor<3x7xf32>, tensor<3xf32>
}
func.func @thirty_three(%x: tensor<7x33xf32>) -> tensor<7x33xf32> {
  %y = nn.softmax %x : tensor<7x33xf32>
  return %y : tensor<7x33xf32>
}
func.func @one_hundred_twenty_seven(%x: tensor<33x127xf32>) -> (tensor<127xf32>, tensor<33xf32>) {
  %s = nn.reduce sum %x over [0] : tensor<33x127xf32>
  %m = nn.reduce max %x over [1] : tensor<33x127xf32>
  return %s, %m : tensor<127xf32>, tensor<33xf32>
}
func.func @two_hundred_fifty_seven(%x: tensor<3x257xf32>, %labels: tensor<3xi32> {check.integers = [0, 257]}) -> (tensor<3xf32>, tensor<3xf32>) {
  %nll, %lse = nn.cross_entropy %x, %labels : tensor<3x257xf32>, tensor<3xi32>
  return %nll, %lse : tensor<3xf32>, tensor<3xf32>
}
func.func @one_thousand_twenty_five(%x: tensor<3x1025xf32>) -> (tensor<3x1025xf32>, tensor<1025xf32>) {
  %y = nn.softmax %x : tensor<3x1025xf32>
  %s = nn.reduce sum %x over [0] : tensor<3x1025xf32>
  return %y, %s : tensor<3x1025xf32>, tensor<1025xf32>
}
func.func @many_narrow_rows(%x: tensor<1025x3xf32>) -> tensor<3xf32> {
  %s = nn.reduce sum %x over [0] : tensor<1025x3xf32>
  return %s : tensor<3xf32>
}

// --- copies ---

func.func @transposed(%x: tensor<33x7xf32>, %y: tensor<3x1x127xf32>) -> (tensor<7x33xf32>, tensor<127x3x1xf32>) {
  %a = nn.transpose %x by [1, 0] : tensor<33x7xf32>
  %b = nn.transpose %y by [2, 0, 1] : tensor<3x1x127xf32>
  return %a, %b : tensor<7x33xf32>, tensor<127x3x1xf32>
}
func.func @cut_and_joined(%x: tensor<5x33xf32>, %y: tensor<5x7xf32>) -> (tensor<5x40xf32>, tensor<5x31xf32>) {
  %a = nn.concat dim 1 %x, %y : tensor<5x33xf32>, tensor<5x7xf32>
  %b = nn.slice %x dim 1 from 1 size 31 : tensor<5x33xf32>
  return %a, %b : tensor<5x40xf32>, tensor<5x31xf32>
}

// --- lookups and scatters ---

func.func @looked_up(%table: tensor<7x33xf32>, %ids: tensor<5xi32> {check.integers = [0, 7]}) -> tensor<5x33xf32> {
  %y = nn.gather %table at %ids : tensor<7x33xf32>, tensor<5xi32>
  return %y : tensor<5x33xf32>
}
func.func @scattered(%table: tensor<7x3xf32>, %rows: tensor<127x3xf32>, %ids: tensor<127xi32> {check.integers = [0, 7]}) -> tensor<7x3xf32> {
  %y = nn.scatter_add %rows into %table at %ids : tensor<127x3xf32>, tensor<7x3xf32>, tensor<127xi32>
  return %y : tensor<7x3xf32>
}

// --- products ---

func.func @products(%a: tensor<1x3xf32>, %b: tensor<3x7xf32>, %c: tensor<33x127xf32>, %d: tensor<129x127xf32>)
    -> (tensor<1x7xf32>, tensor<33x129xf32>) {
  %0 = nn.matmul %a, %b : tensor<1x3xf32>, tensor<3x7xf32>
  %1 = nn.matmul %c, %d transposed : tensor<33x127xf32>, tensor<129x127xf32>
  return %0, %1 : tensor<1x7xf32>, tensor<33x129xf32>
}
func.func @biased(%x: tensor<7x33xf32>, %w: tensor<33x5xf32>, %b: tensor<5xf32>) -> tensor<7x5xf32> {
  %p = nn.matmul %x, %w : tensor<7x33xf32>, tensor<33x5xf32>
  %c = nn.broadcast %b to [7, 5] : tensor<5xf32>
  %s = nn.add %p, %c : tensor<7x5xf32>, tensor<7x5xf32>
  %g = nn.gelu %s approximate tanh : tensor<7x5xf32>
  return %g : tensor<7x5xf32>
}

// --- attention ---

func.func @attention_of_one(%q: tensor<1x1x8xf32>) -> tensor<1x1x8xf32> {
  %o, %lse = nn.attention %q, %q, %q heads 1 causal : tensor<1x1x8xf32>, tensor<1x1x8xf32>, tensor<1x1x8xf32>
  return %o : tensor<1x1x8xf32>
}
func.func @attention_of_thirty_three(%q: tensor<2x33x24xf32>, %k: tensor<2x33x24xf32>, %v: tensor<2x33x24xf32>) -> (tensor<2x33x24xf32>, tensor<2x3x33xf32>) {
  %o, %lse = nn.attention %q, %k, %v heads 3 causal : tensor<2x33x24xf32>, tensor<2x33x24xf32>, tensor<2x33x24xf32>
  return %o, %lse : tensor<2x33x24xf32>, tensor<2x3x33xf32>
}

// --- updates, casts, counters ---

func.func @update(%w: tensor<257xf32>, %g: tensor<257xf32>, %m: tensor<257xf32>, %v: tensor<257xf32> {check.range = [0.01, 1.0]})
    -> (tensor<257xf32>, tensor<257xf32>, tensor<257xf32>) {
  %beta = nn.constant 0.9 : tensor<257xf32>
  %rest = nn.constant 0.1 : tensor<257xf32>
  %old = nn.mul %m, %beta : tensor<257xf32>, tensor<257xf32>
  %new = nn.mul %g, %rest : tensor<257xf32>, tensor<257xf32>
  %m2 = nn.add %old, %new : tensor<257xf32>, tensor<257xf32>
  %gg = nn.square %g : tensor<257xf32>
  %oldv = nn.mul %v, %beta : tensor<257xf32>, tensor<257xf32>
  %newv = nn.mul %gg, %rest : tensor<257xf32>, tensor<257xf32>
  %v2 = nn.add %oldv, %newv : tensor<257xf32>, tensor<257xf32>
  %root = nn.sqrt %v2 : tensor<257xf32>
  %d = nn.div %m2, %root : tensor<257xf32>, tensor<257xf32>
  %w2 = nn.sub %w, %d : tensor<257xf32>, tensor<257xf32>
  return %w2, %m2, %v2 : tensor<257xf32>, tensor<257xf32>, tensor<257xf32>
}
func.func @casts(%x: tensor<127xf32>) -> (tensor<127xbf16>, tensor<127xf16>) {
  %b = nn.convert %x to bf16 : tensor<127xf32>
  %h = nn.convert %x to f16 : tensor<127xf32>
  return %b, %h : tensor<127xbf16>, tensor<127xf16>
}
func.func @counters(%seed: tensor<i64> {check.integers = [0, 1000]}, %step: tensor<i64> {check.integers = [0, 1000]}) -> (tensor<3x7xf32>, tensor<1025xf32>) {
  %zero = nn.constant 0 : tensor<i64>
  %n = nn.random normal stream 42 seed %seed step %step offset %zero : tensor<3x7xf32> : tensor<i64>, tensor<i64>, tensor<i64>
  %u = nn.random stream 43 seed %seed step %step offset %zero : tensor<1025xf32> : tensor<i64>, tensor<i64>, tensor<i64>
  return %n, %u : tensor<3x7xf32>, tensor<1025xf32>
}
