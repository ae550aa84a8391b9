// RUN: trainc-opt %s --instantiate -verify-diagnostics

// Two sites of one name would drop the same elements.
nn.block @b(%x: tensor<?x4xf32>) {
  // expected-note @below {{the first time is here, with the same numbers; give one of the two another name or scope}}
  %a = nn.dropout "drop" %x p 0.5
  // expected-error @below {{random numbers "h.0.drop" are drawn twice}}
  %b = nn.dropout "drop" %x p 0.5
  %y = nn.sub %a, %b
  nn.return %y
}
nn.model @m(%x: tensor<?x4xf32>) {
  // expected-note @below {{in scope 'h.0', applied here}}
  %y = nn.repeat @b "h" times 2 (%x)
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }
