let width = 8
let eps = 1e-5

nn.block @layer<factor, bias = 0.5>(%x: tensor<?x$(width)xf32>) {
  %y = nn.linear "up" %x to $(width * factor)
  %z = nn.linear "down" %y to $width
  %s = nn.mul %z, $bias
  nn.return %s
}

nn.model @m(%x: tensor<?x$(width)xf32>, %labels: tensor<?xi32>) {
  %a = nn.apply @layer<factor = 2> "a" (%x)
  %b = nn.apply @layer<factor = 4, bias = 0.25> "b" (%a)
  %h = nn.linear "head" %b to 4
  %nll, %lse = nn.cross_entropy %h, %labels
  nn.loss "loss" %nll
}

train.program @p {
  model @m
  optimizer adamw(lr 1e-3, eps $eps)
  batch $width
}
