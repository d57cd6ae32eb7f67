#pragma once

// Gates: small networks that choose the precision of each residual block for each sample, from the
// mean of every channel of the block's input (FracTrain's dynamic quantization). Each gate embeds
// these means by one or two layers of its own; a recurrent cell that all gates share, and which
// goes from block to block, and a shared linear layer make the scores of the options of it:
//
//   scores = head(lstm(embed_i(mean(x))))
//
// They are part of the network: trained, stored and counted with it.

#include "bitcycle/network/network.h"

#include <cstdint>
#include <string>
#include <vector>

namespace bitcycle {

// The network with gates that choose between so many options. What is outside the blocks is then in
// float, as in FracTrain. Throws Error(usage) where the network has no blocks.
Network gated(Network network, int options);

// The layers of a block whose bits its gate chooses: those that are scheduled, but for depthwise
// convolutions.
std::vector<std::string> gated_layers(const Network& network, const ResidualBlock& block);
// The linear layers of the gates, with the multiply-accumulates of a sample; "gates.<block>.<n>",
// "gates.ih", "gates.hh" (the cell), "gates.head", tagged "gate".
std::vector<LayerInfo> gate_layers(const Network& network);
// 0 without gates.
std::int64_t gate_parameters(const Network& network);

}  // namespace bitcycle
