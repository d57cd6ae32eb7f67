#pragma once

// A row of numbers per token, looked up in float: torch::nn::Embedding without its header, which
// would cost every file of the layer.

#include "bitcycle/quant/torch.h"

#include <optional>

namespace bitcycle {

class TokenTableImpl : public torch::nn::Module {
 public:
  // The row of the token `padding`, if there is one, gets no gradient from look-ups.
  TokenTableImpl(std::int64_t tokens, std::int64_t width, std::optional<std::int64_t> padding = {})
      : weight(register_parameter("weight", at::zeros({tokens, width}))),
        padding_(padding.value_or(-1)) {}

  // [...] to [..., width].
  at::Tensor forward(const at::Tensor& tokens) const {
    return at::embedding(weight, tokens, padding_);
  }

  at::Tensor weight;

 private:
  std::int64_t padding_;
};
TORCH_MODULE(TokenTable);

}  // namespace bitcycle
