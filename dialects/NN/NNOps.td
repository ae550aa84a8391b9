// All ops of the dialect.

include "dialects/NN/NNElementwise.td"
include "dialects/NN/NNShape.td"
include "dialects/NN/NNLinear.td"
include "dialects/NN/NNComposite.td"
include "dialects/NN/NNModel.td"
include "dialects/NN/NNFusion.td"
