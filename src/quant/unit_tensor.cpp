#include "bitcycle/quant/unit_tensor.h"

#include "bitcycle/kernels/integer/convert.h"
#include "bitcycle/kernels/integer/passes.h"
#include "bitcycle/kernels/integer/pool.h"

#include "quant/dense.h"
#include "quant/pending_norm.h"
#include "quant/real_view.h"

#include <bit>

namespace bitcycle {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

at::Tensor half_of(const at::Tensor& x) {
  const at::Tensor from = dense(x), to = at::empty_like(from, from.options().dtype(at::kHalf));
  integer::to_half(from.data_ptr<float>(), from.numel(),
                   reinterpret_cast<integer::Half*>(to.data_ptr<at::Half>()));
  return to;
}

at::Tensor float_of(const at::Tensor& x, double factor) {
  const at::Tensor from = dense(x), to = at::empty_like(from, from.options().dtype(at::kFloat));
  integer::to_float(reinterpret_cast<const integer::Half*>(from.data_ptr<at::Half>()), from.numel(),
                    static_cast<float>(factor), to.data_ptr<float>());
  return to;
}

// Scales are powers of two, so that dividing is multiplying by the inverse.
struct EnterHalf : Function<EnterHalf> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, double scale) {
    context->saved_data["scale"] = scale;
    return half_of(x);
  }
  static variable_list backward(AutogradContext* context, const variable_list& errors) {
    return {float_of(errors[0], 1 / context->saved_data["scale"].toDouble()), {}};
  }
};

struct LeaveHalf : Function<LeaveHalf> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, double scale) {
    context->saved_data["scale"] = scale;
    return float_of(x, 1);
  }
  static variable_list backward(AutogradContext* context, const variable_list& errors) {
    return {half_of(errors[0].mul(context->saved_data["scale"].toDouble())), {}};
  }
};

struct ForkHalf : Function<ForkHalf> {
  static variable_list forward(AutogradContext* context, const at::Tensor& x) {
    context->set_materialize_grads(false);
    return {x.detach(), x.detach()};
  }
  static variable_list backward(AutogradContext*, const variable_list& errors) {
    if (!errors[0].defined()) return {errors[1]};
    if (!errors[1].defined()) return {errors[0]};
    const at::Tensor a = dense(errors[0]), b = dense(errors[1]);
    const at::Tensor sum = at::empty_like(a);
    activate(grid_of(a), {.y = view_of(a), .residual = view_of(b)}, mutable_view_of(sum), nullptr);
    return {sum};
  }
};

// What each pixel has of the gradient of its channel's mean, rounded to halves on the way.
std::vector<float> spread(const at::Tensor& means_error, double scale, std::int64_t pixels) {
  const at::Tensor plain = means_error.contiguous();
  const auto rounded = [](float x) { return integer::to_float(integer::to_half(x)); };
  const float factor = static_cast<float>(scale), share = 1.0f / static_cast<float>(pixels);
  std::vector<float> result;
  result.reserve(static_cast<std::size_t>(plain.numel()));
  for (const float error : values(plain))
    result.push_back(rounded(rounded(error * factor) * share));
  return result;
}

struct ChannelMeansOfHalf : Function<ChannelMeansOfHalf> {
  static variable_list forward(AutogradContext* context, const at::Tensor& x, double scale) {
    context->saved_data["scale"] = scale;
    context->saved_data["sizes"] = x.sizes();
    context->set_materialize_grads(false);
    const at::Tensor means = at::empty({x.size(0), x.size(1)}, x.options());
    mean_pool(grid_of(x), view_of(dense(x)), mutable_view_of(means));
    return {x.detach(), means.to(at::kFloat)};
  }
  static variable_list backward(AutogradContext* context, const variable_list& errors) {
    if (!errors[1].defined()) return {errors[0], {}};
    const at::Tensor error = errors[0].defined()
                                 ? dense(errors[0])
                                 : at::zeros(context->saved_data["sizes"].toIntVector(), at::kHalf)
                                       .contiguous(at::MemoryFormat::ChannelsLast);
    const std::vector<float> added =
        spread(errors[1], context->saved_data["scale"].toDouble(), error.size(2) * error.size(3));
    const std::vector<float> no_means(static_cast<std::size_t>(error.size(1)), 0.0f);
    gradient_sums(grid_of(error),
                  {.gradient = view_of(error), .y = view_of(error), .per_channel = added}, no_means,
                  mutable_view_of(error));
    return {error, {}};
  }
};

// Copies samples that are in place; gradients have their shape.
struct Copied : Function<Copied> {
  static at::Tensor forward(AutogradContext*, const at::Tensor& x, const SampleRows* rows) {
    at::Tensor copy = at::empty(x.sizes(), x.options(), at::MemoryFormat::ChannelsLast);
    activate(grid_of(x), {.y = view_of(x, &rows->rows)}, mutable_view_of(copy), nullptr);
    return copy;
  }
  static variable_list backward(AutogradContext*, const variable_list& errors) {
    return {errors[0], {}};
  }
};

// Applies what is pending. Gradients of a pending tensor are those of x, so they pass through.
struct Ready : Function<Ready> {
  static at::Tensor forward(AutogradContext*, const at::Tensor& y,
                            const std::shared_ptr<const PendingNorm>& pending) {
    const at::Tensor values = dense(y);
    at::Tensor x = at::empty_like(values);
    activate(grid_of(values), activation_source(values, pending.get()), mutable_view_of(x),
             nullptr);
    return x;
  }
  static variable_list backward(AutogradContext*, const variable_list& errors) {
    return {errors[0], {}};
  }
};

struct MaxPoolHalf : Function<MaxPoolHalf> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                            const integer::MaxPool& pool) {
    const integer::CodeGrid grid = pool.output();
    at::Tensor output = at::empty({grid.batch, grid.channels, grid.height, grid.width}, x.options(),
                                  at::MemoryFormat::ChannelsLast);
    const at::Tensor taps = at::empty({grid.elements()}, at::kByte);
    max_pool(pool, view_of(dense(x)), mutable_view_of(output), taps.data_ptr<std::uint8_t>());
    context->save_for_backward({taps});
    context->saved_data["kernel"] = std::int64_t{pool.kernel};
    context->saved_data["stride"] = std::int64_t{pool.stride};
    context->saved_data["pad"] = std::int64_t{pool.pad};
    context->saved_data["height"] = x.size(2);
    context->saved_data["width"] = x.size(3);
    return output;
  }
  static variable_list backward(AutogradContext* context, const variable_list& errors) {
    const auto saved = [&](const char* key) {
      return static_cast<int>(context->saved_data[key].toInt());
    };
    const at::Tensor error = dense(errors[0]);
    integer::CodeGrid grid = grid_of(error);
    grid.height = saved("height");
    grid.width = saved("width");
    const at::Tensor gradient = at::empty({grid.batch, grid.channels, grid.height, grid.width},
                                          error.options(), at::MemoryFormat::ChannelsLast);
    max_pool_backward({grid, saved("kernel"), saved("stride"), saved("pad")}, view_of(error),
                      context->get_saved_variables()[0].data_ptr<std::uint8_t>(),
                      mutable_view_of(gradient));
    return {gradient, {}};
  }
};

struct MeanPoolHalf : Function<MeanPoolHalf> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x) {
    context->saved_data["sizes"] = x.sizes();
    const at::Tensor output = at::empty({x.size(0), x.size(1), 1, 1}, x.options());
    mean_pool(grid_of(x), view_of(dense(x)), mutable_view_of(output));
    return output;
  }
  static variable_list backward(AutogradContext* context, const variable_list& errors) {
    const auto sizes = context->saved_data["sizes"].toIntVector();
    const at::Tensor gradient =
        at::empty(sizes, errors[0].options(), at::MemoryFormat::ChannelsLast);
    mean_pool_backward(grid_of(gradient), view_of(dense(errors[0])), mutable_view_of(gradient));
    return {gradient};
  }
};

}  // namespace

float gradient_scale(std::int64_t batch) {
  return static_cast<float>(32 * std::bit_ceil(static_cast<std::uint64_t>(batch)));
}

integer::ActivationSource activation_source(const at::Tensor& values, const PendingNorm* pending) {
  if (pending == nullptr) return {.y = view_of(values)};
  return {.y = view_of(values),
          .scale = pending->scale,
          .shift = pending->shift,
          .activation = pending->activation == Activation::relu ? integer::Rectify::relu
                                                                : integer::Rectify::none};
}

at::Tensor ready(const UnitTensor& x) {
  if (x.rows != nullptr) return Copied::apply(x.values, x.rows.get());
  return x.pending == nullptr ? x.values : Ready::apply(x.values, x.pending);
}

UnitTensor applied(UnitTensor x) {
  if (x.pending == nullptr) return x;
  x.values = ready(x);
  x.pending.reset();
  return x;
}

at::Tensor enter_half(const at::Tensor& x, float scale) {
  return EnterHalf::apply(x, double{scale});
}
at::Tensor leave_half(const at::Tensor& x, float scale) {
  return LeaveHalf::apply(x, double{scale});
}

std::pair<at::Tensor, at::Tensor> fork_half(const at::Tensor& x) {
  const variable_list copies = ForkHalf::apply(x);
  return {copies[0], copies[1]};
}

std::pair<at::Tensor, at::Tensor> with_channel_means(const at::Tensor& x, float scale) {
  const variable_list outputs = ChannelMeansOfHalf::apply(x, double{scale});
  return {outputs[0], outputs[1]};
}

at::Tensor max_pool_half(const at::Tensor& x, int kernel, int stride, int pad) {
  return MaxPoolHalf::apply(x, integer::MaxPool{grid_of(x), kernel, stride, pad});
}

at::Tensor mean_pool(const at::Tensor& x) {
  return MeanPoolHalf::apply(x);
}

}  // namespace bitcycle
