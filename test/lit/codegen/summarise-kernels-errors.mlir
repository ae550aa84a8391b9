// RUN: trainc-opt %s --summarise-kernels -split-input-file -verify-diagnostics

train.state parameter @a : tensor<4x8xf32>
train.entry @init {
  %a = train.get @a : tensor<4x8xf32>
  // expected-error @below {{does not fit 4 rows x 8 columns: nn.exp: uses a reduction that is complete only after the last row}}
  %0 = nn.kernel 4 x 8 (%x = %a : tensor<4x8xf32>) -> (tensor<8xf32>) {
    %s = nn.reduce sum %x over [0] : tensor<4x8xf32>
    %e = nn.exp %s : tensor<8xf32>
    nn.yield %e : tensor<8xf32>
  }
}

// -----

train.state parameter @a : tensor<4x8xf32>
train.entry @init {
  %a = train.get @a : tensor<4x8xf32>
  %0 = nn.kernel 4 x 8 (%x = %a : tensor<4x8xf32>) -> (tensor<4x16xf32>) {
    // expected-error @below {{cannot stand in a kernel: expected elementwise, reduce, broadcast, reshape or gather ops}}
    %e = nn.concat dim 1 %x, %x : tensor<4x8xf32>, tensor<4x8xf32>
    nn.yield %e : tensor<4x16xf32>
  }
}

// -----

train.state parameter @a : tensor<4x4xf32>
train.state parameter @v : tensor<4xf32>
train.entry @init {
  %a = train.get @a : tensor<4x4xf32>
  %v = train.get @v : tensor<4xf32>
  // expected-error @below {{does not fit 4 rows x 4 columns: a value would have to vary over rows and columns in two ways}}
  %0:2 = nn.kernel 4 x 4 (%x = %a : tensor<4x4xf32>, %y = %v : tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>) {
    %alongColumns = nn.broadcast %y to [4, 4] : tensor<4xf32>
    %sum = nn.add %x, %alongColumns : tensor<4x4xf32>, tensor<4x4xf32>
    %ofRows = nn.reduce sum %x over [1] : tensor<4x4xf32>
    %both = nn.add %ofRows, %y : tensor<4xf32>, tensor<4xf32>
    nn.yield %sum, %both : tensor<4x4xf32>, tensor<4xf32>
  }
}

// -----

train.state parameter @v : tensor<8xf32>
train.entry @init {
  %v = train.get @v : tensor<8xf32>
  // expected-error @below {{nn.broadcast: the dimensions do not divide into rows and columns}}
  %0 = nn.kernel 4 x 6 (%y = %v : tensor<8xf32>) -> (tensor<3x8xf32>) {
    %b = nn.broadcast %y to [3, 8] : tensor<8xf32>
    nn.yield %b : tensor<3x8xf32>
  }
}

// -----

train.state parameter @v : tensor<4x1x3xf32>
train.entry @init {
  %v = train.get @v : tensor<4x1x3xf32>
  // expected-error @below {{nn.broadcast: repeats only some of the dimensions that make up the columns}}
  %0 = nn.kernel 4 x 6 (%y = %v : tensor<4x1x3xf32>) -> (tensor<4x2x3xf32>) {
    %b = nn.broadcast %y to [4, 2, 3] : tensor<4x1x3xf32>
    nn.yield %b : tensor<4x2x3xf32>
  }
}

// -----

train.state parameter @a : tensor<3x8xf32>
train.entry @init {
  %a = train.get @a : tensor<3x8xf32>
  // expected-error @below {{nn.reduce: the dimensions do not divide into rows and columns}}
  %0 = nn.kernel 4 x 6 (%x = %a : tensor<3x8xf32>) -> (tensor<3xf32>) {
    %s = nn.reduce sum %x over [1] : tensor<3x8xf32>
    nn.yield %s : tensor<3xf32>
  }
}

// -----

train.state parameter @a : tensor<2x2x6xf32>
train.entry @init {
  %a = train.get @a : tensor<2x2x6xf32>
  // expected-error @below {{nn.reduce: reduces only some of the dimensions that make up the rows}}
  %0 = nn.kernel 4 x 6 (%x = %a : tensor<2x2x6xf32>) -> (tensor<2x6xf32>) {
    %s = nn.reduce sum %x over [0] : tensor<2x2x6xf32>
    nn.yield %s : tensor<2x6xf32>
  }
}

// -----

train.state parameter @a : tensor<4x2x3xf32>
train.entry @init {
  %a = train.get @a : tensor<4x2x3xf32>
  // expected-error @below {{nn.reduce: reduces only some of the dimensions that make up the columns}}
  %0 = nn.kernel 4 x 6 (%x = %a : tensor<4x2x3xf32>) -> (tensor<3xf32>) {
    %s = nn.reduce sum %x over [0, 1] : tensor<4x2x3xf32>
    nn.yield %s : tensor<3xf32>
  }
}

// -----

train.state parameter @t : tensor<10x8xf32>
train.state parameter @i : tensor<4xi32>
train.entry @init {
  %t = train.get @t : tensor<10x8xf32>
  %i = train.get @i : tensor<4xi32>
  // expected-error @below {{nn.gather: rows of the table are not the columns}}
  %0 = nn.kernel 4 x 6 (%table = %t : tensor<10x8xf32>, %ids = %i : tensor<4xi32>) -> (tensor<4x8xf32>) {
    %g = nn.gather %table at %ids : tensor<10x8xf32>, tensor<4xi32>
    nn.yield %g : tensor<4x8xf32>
  }
}

// -----

train.state parameter @t : tensor<10x1xf32>
train.state parameter @i : tensor<24xi32>
train.entry @init {
  %t = train.get @t : tensor<10x1xf32>
  %i = train.get @i : tensor<24xi32>
  // expected-error @below {{nn.gather: picks one element per row and column}}
  %0 = nn.kernel 4 x 6 (%table = %t : tensor<10x1xf32>, %ids = %i : tensor<24xi32>) -> (tensor<24x1xf32>) {
    %g = nn.gather %table at %ids : tensor<10x1xf32>, tensor<24xi32>
    nn.yield %g : tensor<24x1xf32>
  }
}

// -----

train.state parameter @t : tensor<10x8xf32>
train.state parameter @i : tensor<4xi32>
train.entry @init {
  %t = train.get @t : tensor<10x8xf32>
  %i = train.get @i : tensor<4xi32>
  // expected-error @below {{nn.exp: a gather's table must be an input and nothing else}}
  %0:2 = nn.kernel 4 x 8 (%table = %t : tensor<10x8xf32>, %ids = %i : tensor<4xi32>) -> (tensor<4x8xf32>, tensor<10x8xf32>) {
    %g = nn.gather %table at %ids : tensor<10x8xf32>, tensor<4xi32>
    %e = nn.exp %table : tensor<10x8xf32>
    nn.yield %g, %e : tensor<4x8xf32>, tensor<10x8xf32>
  }
}

// -----

train.state parameter @v : tensor<5xf32>
train.entry @init {
  %v = train.get @v : tensor<5xf32>
  // expected-error @below {{nn.exp: a value is neither full nor per row, per column or scalar}}
  %0 = nn.kernel 4 x 6 (%y = %v : tensor<5xf32>) -> (tensor<5xf32>) {
    %e = nn.exp %y : tensor<5xf32>
    nn.yield %e : tensor<5xf32>
  }
}

// -----

train.state parameter @v : tensor<8xf32>
train.entry @init {
  %v = train.get @v : tensor<8xf32>
  // expected-error @below {{nn.exp: a result that repeats over rows would be made once per row}}
  %0:2 = nn.kernel 4 x 8 (%y = %v : tensor<8xf32>) -> (tensor<8xf32>, tensor<4x8xf32>) {
    %e = nn.exp %y : tensor<8xf32>
    %b = nn.broadcast %e to [4, 8] : tensor<8xf32>
    nn.yield %e, %b : tensor<8xf32>, tensor<4x8xf32>
  }
}
