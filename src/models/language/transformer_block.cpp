#include "bitcycle/models/language/transformer_lm.h"
#include "bitcycle/quant/attention_function.h"

#include "models/module_tree.h"

namespace bitcycle {
namespace {

QuantLinear registered_linear(torch::nn::Module& module, const char* path, std::int64_t in,
                              std::int64_t out) {
  QuantLinear linear(torch::nn::LinearOptions(in, out));
  register_at_path(module, path, linear.ptr());
  return linear;
}

}  // namespace

TransformerBlockImpl::TransformerBlockImpl(const TransformerOptions& o)
    : heads_(o.heads),
      q_(registered_linear(*this, "self_attn.q_proj", o.width, o.width)),
      k_(registered_linear(*this, "self_attn.k_proj", o.width, o.width)),
      v_(registered_linear(*this, "self_attn.v_proj", o.width, o.width)),
      out_(registered_linear(*this, "self_attn.out_proj", o.width, o.width)),
      fc1_(registered_linear(*this, "fc1", o.width, o.inner)),
      fc2_(registered_linear(*this, "fc2", o.inner, o.width)),
      attention_norm_(register_module("self_attn_layer_norm", LayerNorm(o.width))),
      feed_forward_norm_(register_module("final_layer_norm", LayerNorm(o.width))),
      dropout_(register_module("dropout", StepDropout(o.dropout))),
      attention_dropout_(register_module("attention_dropout", StepDropout(o.attention_dropout))),
      activation_dropout_(
          register_module("activation_dropout", StepDropout(o.activation_dropout))) {}

at::Tensor TransformerBlockImpl::attend(const at::Tensor& x) {
  const AttentionCall call{heads_, attention_dropout_->rate(), attention_dropout_->next_noise()};
  return out_->forward(causal_attention(q_->forward(x), k_->forward(x), v_->forward(x), call));
}

at::Tensor TransformerBlockImpl::forward(const at::Tensor& x) {
  const at::Tensor attended = x + dropout_->forward(attend(attention_norm_->forward(x)));
  const at::Tensor inner = fc1_->forward(feed_forward_norm_->forward(attended)).relu();
  return attended + dropout_->forward(fc2_->forward(activation_dropout_->forward(inner)));
}

}  // namespace bitcycle
