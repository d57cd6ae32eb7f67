#include "bitcycle/quant/attention_function.h"

#include "bitcycle/quant/dropout_function.h"

#include "quant/dense.h"
#include "quant/first_derivative.h"
#include "quant/single_thread.h"
#include "quant/weight_gradient.h"

#include <cmath>
#include <limits>

namespace bitcycle {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr std::int64_t kQueries = 128;  // per block: scores of 512 keys stay in the L2 cache

struct AttentionState : torch::CustomClassHolder {
  AttentionCall call;
};

// One head of one sequence: views of [time, size] each.
struct Head {
  std::int64_t index;  // among all heads of the batch
  at::Tensor q, k, v;
};

// The queries [begin, begin + count) of a head see the keys [0, end).
struct QueryBlock {
  std::int64_t begin, count, end;
};

at::Tensor head_view(const at::Tensor& x, std::int64_t head, std::int64_t heads) {
  const std::int64_t size = x.size(2) / heads;
  return x.select(0, head / heads).narrow(1, head % heads * size, size);
}

template <typename Work>
void each_block(std::int64_t time, const Work& work) {
  for (std::int64_t begin = 0; begin < time; begin += kQueries) {
    const std::int64_t count = std::min(kQueries, time - begin);
    work(QueryBlock{begin, count, begin + count});
  }
}

template <typename Work>
void each_head(std::int64_t count, const Work& work) {
  at::parallel_for(0, count, 1, [&](std::int64_t begin, std::int64_t end) {
    const SingleThread single_thread;
    const at::NoGradGuard no_grad;  // grad mode is per thread
    for (std::int64_t head = begin; head < end; ++head) work(head);
  });
}

at::Tensor scaled_queries(const Head& head, QueryBlock block) {
  const double scale = 1.0 / std::sqrt(static_cast<double>(head.q.size(1)));
  return head.q.narrow(0, block.begin, block.count) * scale;
}

// What no query may see of its own block is minus infinity.
at::Tensor probabilities(const at::Tensor& queries, const at::Tensor& keys, QueryBlock block) {
  at::Tensor scores = at::mm(queries, keys.t());
  auto rows = scores.accessor<float, 2>();
  for (std::int64_t i = 0; i < block.count; ++i) {
    for (std::int64_t j = block.begin + i + 1; j < block.end; ++j) {
      rows[i][j] = -std::numeric_limits<float>::infinity();
    }
  }
  return at::softmax(scores, -1);
}

// Applies the mask of the head's probabilities; their rows are numbered from an even place each.
void drop_probabilities(at::Tensor& x, const Head& head, QueryBlock block,
                        const AttentionCall& call) {
  if (call.dropout.threshold == 0) return;
  const std::int64_t time = head.q.size(0), stride = time + time % 2;
  for (std::int64_t i = 0; i < block.count; ++i) {
    const std::span<float> row(x.data_ptr<float>() + i * block.end,
                               static_cast<std::size_t>(block.end));
    const std::int64_t first = (head.index * time + block.begin + i) * stride;
    drop_out(row, call.dropout, call.noise, first, row);
  }
}

void attend(const Head& head, const AttentionCall& call, const at::Tensor& out) {
  each_block(head.q.size(0), [&](QueryBlock block) {
    const at::Tensor keys = head.k.narrow(0, 0, block.end);
    at::Tensor weights = probabilities(scaled_queries(head, block), keys, block);
    drop_probabilities(weights, head, block, call);
    out.narrow(0, block.begin, block.count).copy_(at::mm(weights, head.v.narrow(0, 0, block.end)));
  });
}

// Writes the gradients of the head's q, k and v to the views in `gradients`.
void attend_backward(const Head& head, const AttentionCall& call, const at::Tensor& error,
                     const Head& gradients) {
  const double scale = 1.0 / std::sqrt(static_cast<double>(head.q.size(1)));
  const at::Tensor key_sums = at::zeros(head.k.sizes()), value_sums = at::zeros(head.v.sizes());
  each_block(head.q.size(0), [&](QueryBlock block) {
    const at::Tensor keys = head.k.narrow(0, 0, block.end), queries = scaled_queries(head, block);
    const at::Tensor errors = error.narrow(0, block.begin, block.count);
    const at::Tensor chances = probabilities(queries, keys, block);
    at::Tensor weights = chances;
    if (call.dropout.threshold != 0) weights = chances.clone();
    drop_probabilities(weights, head, block, call);
    value_sums.narrow(0, 0, block.end).addmm_(weights.t(), errors);
    at::Tensor chance_errors = at::mm(errors, head.v.narrow(0, 0, block.end).t());
    drop_probabilities(chance_errors, head, block, call);
    const at::Tensor score_errors =
        at::_softmax_backward_data(chance_errors, chances, -1, at::kFloat);
    gradients.q.narrow(0, block.begin, block.count).copy_(at::mm(score_errors, keys).mul_(scale));
    key_sums.narrow(0, 0, block.end).addmm_(score_errors.t(), queries);
  });
  gradients.k.copy_(key_sums);
  gradients.v.copy_(value_sums);
}

Head head_of(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, std::int64_t head,
             std::int64_t heads) {
  return {head, head_view(q, head, heads), head_view(k, head, heads), head_view(v, head, heads)};
}

struct AttentionFunction : torch::autograd::Function<AttentionFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& q_any,
                            const at::Tensor& k_any, const at::Tensor& v_any,
                            const c10::intrusive_ptr<AttentionState>& state) {
    const at::Tensor q = dense(q_any), k = dense(k_any), v = dense(v_any);
    const at::Tensor out = at::empty_like(q);
    const std::int64_t heads = state->call.heads;
    each_head(q.size(0) * heads, [&](std::int64_t head) {
      attend(head_of(q, k, v, head, heads), state->call, head_view(out, head, heads));
    });
    context->save_for_backward({q, k, v});
    context->saved_data["state"] = c10::IValue::make_capsule(state);
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& errors) {
    expect_first_derivative();
    const auto capsule = context->saved_data["state"].toCapsule();
    const AttentionCall& call = static_cast<const AttentionState&>(*capsule).call;
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &q = saved[0], &k = saved[1], &v = saved[2], error = dense(errors[0]);
    const at::Tensor dq = at::empty_like(q), dk = at::empty_like(k), dv = at::empty_like(v);
    each_head(q.size(0) * call.heads, [&](std::int64_t head) {
      attend_backward(head_of(q, k, v, head, call.heads), call, head_view(error, head, call.heads),
                      head_of(dq, dk, dv, head, call.heads));
    });
    return {dq, dk, dv, {}};
  }
};

// The same in tensor operations, for other devices and types.
at::Tensor portable_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                              const AttentionCall& call) {
  const std::int64_t batch = q.size(0), time = q.size(1), size = q.size(2) / call.heads;
  const auto by_head = [&](const at::Tensor& x) {
    return x.reshape({batch, time, call.heads, size}).transpose(1, 2).flatten(0, 1);
  };
  const at::Tensor hidden = at::ones({time, time}, q.options().dtype(at::kBool)).triu(1);
  const at::Tensor scores =
      at::bmm(by_head(q) / std::sqrt(static_cast<double>(size)), by_head(k).transpose(1, 2));
  at::Tensor weights =
      scores.masked_fill(hidden, -std::numeric_limits<double>::infinity()).softmax(-1);
  if (call.dropout.threshold != 0) {
    weights = at::constant_pad_nd(weights, {0, time % 2});
    weights = dropped_out(weights, call.dropout, call.noise).narrow(2, 0, time);
  }
  const at::Tensor out = at::bmm(weights, by_head(v)).view({batch, call.heads, time, size});
  return out.transpose(1, 2).reshape(q.sizes());
}

}  // namespace

at::Tensor causal_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                            const AttentionCall& call) {
  TORCH_CHECK(
      q.dim() == 3 && q.sizes() == k.sizes() && q.sizes() == v.sizes() &&
          q.size(2) % call.heads == 0,
      "attention expects three tensors [batch, time, width] of a width that the heads divide");
  if (!q.is_cpu() || q.scalar_type() != at::kFloat) return portable_attention(q, k, v, call);
  auto state = c10::make_intrusive<AttentionState>();
  state->call = call;
  return AttentionFunction::apply(q, k, v, state);
}

}  // namespace bitcycle
