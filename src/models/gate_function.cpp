#include "models/gate_function.h"

#include "kernels/elementwise.h"
#include "quant/dense.h"
#include "quant/first_derivative.h"
#include "quant/weight_gradient.h"

#include <algorithm>
#include <optional>

namespace bitcycle {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

// y = W x + b, and the way back.
class SmallLayer {
 public:
  SmallLayer(const at::Tensor& weight, const at::Tensor& bias)
      : in(weight.size(1)), out(weight.size(0)), weight_(dense(weight)), bias_(dense(bias)) {
    transposed_.reserve(static_cast<std::size_t>(in * out));
    const float* w = weight_.data_ptr<float>();
    for (std::int64_t i = 0; i < in * out; ++i) transposed_.push_back(w[i % out * in + i / out]);
  }

  void forward(const float* x, float* y) const {
    std::copy_n(bias_.data_ptr<float>(), out, y);
    const float* w = transposed_.data();
    for (std::int64_t i = 0; i < in; ++i, w += out) {
      for (std::int64_t o = 0; o < out; ++o) y[o] += x[i] * w[o];
    }
  }
  // Adds to the gradients of parameters, [out][in] and then [out], and sets that of x.
  void backward(const float* x, const float* error, float* parameters, float* x_error) const {
    std::fill_n(x_error, in, 0.0f);
    const float* w = weight_.data_ptr<float>();
    for (std::int64_t o = 0; o < out; ++o, w += in, parameters += in) {
      for (std::int64_t i = 0; i < in; ++i) x_error[i] += error[o] * w[i];
      for (std::int64_t i = 0; i < in; ++i) parameters[i] += error[o] * x[i];
    }
    for (std::int64_t o = 0; o < out; ++o) parameters[o] += error[o];
  }
  std::int64_t parameters() const { return out * (in + 1); }

  std::int64_t in, out;

 private:
  at::Tensor weight_, bias_;
  std::vector<float> transposed_;
};

const float* row(const at::Tensor& x, std::int64_t n) {
  return x.data_ptr<float>() + n * x.size(1);
}
float* mutable_row(const at::Tensor& x, std::int64_t n) {
  return x.data_ptr<float>() + n * x.size(1);
}

void softmax(const float* scores, std::int64_t options, float* probabilities) {
  const float top = *std::max_element(scores, scores + options);
  elementwise_kernels().exp_scaled(scores, options, top, 1.0f, probabilities);
  float sum = 0;
  for (std::int64_t k = 0; k < options; ++k) sum += probabilities[k];
  for (std::int64_t k = 0; k < options; ++k) probabilities[k] /= sum;
}

// e_k = p_k (m_k - sum of p m)
void softmax_backward(const float* p, const float* error, std::int64_t options, float* to) {
  float mean = 0;
  for (std::int64_t k = 0; k < options; ++k) mean += p[k] * error[k];
  for (std::int64_t k = 0; k < options; ++k) to[k] = p[k] * (error[k] - mean);
}

// What a gate keeps for its backward pass, a row per sample.
struct GateTensors {
  at::Tensor first, embedded, gates, tanh, output, probabilities;
};

struct GateModel {
  std::optional<SmallLayer> first;
  SmallLayer embedding, ih, hh, head;

  explicit GateModel(const GateLayers& layers)
      : embedding(layers.embedding.weight, layers.embedding.bias),
        ih(layers.ih.weight, layers.ih.bias),
        hh(layers.hh.weight, layers.hh.bias),
        head(layers.head.weight, layers.head.bias) {
    if (layers.first.weight.defined()) first.emplace(layers.first.weight, layers.first.bias);
  }
  std::int64_t parameters() const {
    return (first ? first->parameters() : 0) + embedding.parameters() + ih.parameters() +
           hh.parameters() + head.parameters();
  }

  // The two sums of which the cell's gates are made.
  void embed(std::int64_t n, const at::Tensor& means, const at::Tensor& hidden,
             const GateTensors& kept, float* input_gates, float* hidden_gates) const {
    const float* x = row(means, n);
    if (first) {
      float* y = mutable_row(kept.first, n);
      first->forward(x, y);
      for (std::int64_t i = 0; i < first->out; ++i) y[i] = std::max(y[i], 0.0f);
      x = y;
    }
    embedding.forward(x, mutable_row(kept.embedded, n));
    ih.forward(row(kept.embedded, n), input_gates);
    hh.forward(row(hidden, n), hidden_gates);
  }

  // From the errors of the cell's gates to those of the inputs.
  void backward(std::int64_t n, const at::Tensor& means, const at::Tensor& hidden,
                const GateTensors& kept, const float* gate_errors, float* parameters,
                float* means_error, float* hidden_error, std::vector<float>& scratch) const {
    scratch.resize(static_cast<std::size_t>(embedding.out + embedding.in));
    float* embedded_error = scratch.data();
    float* first_error = embedded_error + embedding.out;
    float* of_first = parameters;
    float* of_embedding = of_first + (first ? first->parameters() : 0);
    float* of_ih = of_embedding + embedding.parameters();
    ih.backward(row(kept.embedded, n), gate_errors, of_ih, embedded_error);
    hh.backward(row(hidden, n), gate_errors, of_ih + ih.parameters(), hidden_error);
    if (!first) {
      embedding.backward(row(means, n), embedded_error, of_embedding, means_error);
      return;
    }
    const float* y = row(kept.first, n);
    embedding.backward(y, embedded_error, of_embedding, first_error);
    for (std::int64_t i = 0; i < first->out; ++i) first_error[i] = y[i] > 0 ? first_error[i] : 0;
    first->backward(row(means, n), first_error, of_first, means_error);
  }
};

// Calls work(shard, first sample, last) on the threads; shards depend on the batch alone.
template <typename Work>
void each_shard(std::int64_t samples, const Work& work) {
  const std::int64_t size = shard_size(samples), shards = (samples + size - 1) / size;
  at::parallel_for(0, shards, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      work(i, i * size, std::min(samples, (i + 1) * size));
    }
  });
}

// The layers again, from what autograd kept.
GateLayers layers_from(const variable_list& kept) {
  return {{kept[0], kept[1]},
          {kept[2], kept[3]},
          {kept[4], kept[5]},
          {kept[6], kept[7]},
          {kept[8], kept[9]}};
}

struct GateFunction : Function<GateFunction> {
  using Maybe = c10::optional<at::Tensor>;

  static variable_list forward(AutogradContext* context, const at::Tensor& means_in,
                               const at::Tensor& hidden_in, const at::Tensor& memory_in,
                               const Maybe& w0, const Maybe& b0, const at::Tensor& w1,
                               const at::Tensor& b1, const at::Tensor& w2, const at::Tensor& b2,
                               const at::Tensor& w3, const at::Tensor& b3, const at::Tensor& w4,
                               const at::Tensor& b4, const std::vector<int>* forced,
                               std::vector<int>* chosen) {
    const at::Tensor means = dense(means_in), hidden = dense(hidden_in), memory = dense(memory_in);
    const at::Tensor none;
    const variable_list layers{w0 ? *w0 : none, b0 ? *b0 : none, w1, b1, w2, b2, w3, b3, w4, b4};
    const GateModel model(layers_from(layers));
    const std::int64_t samples = means.size(0), state = hidden.size(1);
    const auto rows = [&](std::int64_t width) { return at::empty({samples, width}); };
    const GateTensors kept{model.first ? rows(model.first->out) : none,
                           rows(model.embedding.out),
                           rows(4 * state),
                           rows(state),
                           rows(state),
                           rows(model.head.out)};
    const at::Tensor next = rows(state), mask = at::zeros({samples, model.head.out});
    chosen->resize(static_cast<std::size_t>(samples));
    // All of a sample in one go: there is too little to do to send threads out more than once.
    each_shard(samples, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
      std::vector<float> gates(static_cast<std::size_t>(8 * state));
      for (std::int64_t n = begin; n < end; ++n) {
        model.embed(n, means, hidden, kept, gates.data(), gates.data() + 4 * state);
        elementwise_kernels().lstm_row(gates.data(), gates.data() + 4 * state, row(memory, n),
                                       state, mutable_row(kept.gates, n), mutable_row(next, n),
                                       mutable_row(kept.tanh, n), mutable_row(kept.output, n));
        const auto at = static_cast<std::size_t>(n);
        (*chosen)[at] = choose(model, kept, n, forced == nullptr ? kNothing : (*forced)[at]);
        mutable_row(mask, n)[(*chosen)[at]] = 1.0f;
      }
    });
    context->save_for_backward({layers[0], layers[1], layers[2], layers[3], layers[4], layers[5],
                                layers[6], layers[7], layers[8], layers[9], means, hidden, memory,
                                kept.first, kept.embedded, kept.gates, kept.tanh, kept.output,
                                kept.probabilities});
    context->set_materialize_grads(false);
    return {mask, kept.output.clone(), next};
  }

  static constexpr int kNothing = -1;

  // A sample's scores and probabilities, and what it gets: what is forced, or else chosen.
  static int choose(const GateModel& model, const GateTensors& kept, std::int64_t n, int forced) {
    std::vector<float> scores(static_cast<std::size_t>(model.head.out));
    model.head.forward(row(kept.output, n), scores.data());
    softmax(scores.data(), model.head.out, mutable_row(kept.probabilities, n));
    if (forced != kNothing) return forced;
    return static_cast<int>(std::ranges::max_element(scores) - scores.begin());
  }

  static variable_list backward(AutogradContext* context, const variable_list& errors) {
    expect_first_derivative();
    const variable_list saved = context->get_saved_variables();
    const GateModel model(layers_from(saved));
    const at::Tensor &means = saved[10], &hidden = saved[11], &memory = saved[12];
    const GateTensors kept{saved[13], saved[14], saved[15], saved[16], saved[17], saved[18]};
    const std::int64_t samples = means.size(0);
    const auto given = [](const at::Tensor& error, const at::Tensor& like) {
      return error.defined() ? dense(error) : at::zeros_like(like);
    };
    const at::Tensor mask_error = given(errors[0], kept.probabilities);
    const at::Tensor output_error = given(errors[1], kept.output);
    const at::Tensor cell_error = given(errors[2], memory);
    const std::int64_t size = shard_size(samples);
    const at::Tensor parts = at::zeros({(samples + size - 1) / size, model.parameters()});
    const std::int64_t before_head = model.parameters() - model.head.parameters();
    const at::Tensor means_error = at::empty_like(means), hidden_error = at::empty_like(hidden),
                     memory_error = at::empty_like(memory);
    each_shard(samples, [&](std::int64_t shard, std::int64_t begin, std::int64_t end) {
      std::vector<float> scores(static_cast<std::size_t>(model.head.out));
      std::vector<float> from_head(static_cast<std::size_t>(model.head.in));
      std::vector<float> gate_errors(static_cast<std::size_t>(kept.gates.size(1))), scratch;
      float* const parameters = mutable_row(parts, shard);
      for (std::int64_t n = begin; n < end; ++n) {
        softmax_backward(row(kept.probabilities, n), row(mask_error, n), model.head.out,
                         scores.data());
        model.head.backward(row(kept.output, n), scores.data(), parameters + before_head,
                            from_head.data());
        const float* error = row(output_error, n);
        for (float& own : from_head) own += *error++;
        elementwise_kernels().lstm_row_backward(
            row(kept.gates, n), row(memory, n), row(kept.tanh, n), from_head.data(),
            row(cell_error, n), hidden.size(1), gate_errors.data(), mutable_row(memory_error, n));
        model.backward(n, means, hidden, kept, gate_errors.data(), parameters,
                       mutable_row(means_error, n), mutable_row(hidden_error, n), scratch);
      }
    });
    variable_list gradients{means_error, hidden_error, memory_error};
    append_parameters(parts, layers_from(saved), gradients);
    gradients.insert(gradients.end(), 2, {});
    return gradients;
  }

  // The shards' sums added up in order, cut into the gradients of weights and biases.
  static void append_parameters(const at::Tensor& parts, const GateLayers& layers,
                                variable_list& gradients) {
    float* sum = mutable_row(parts, 0);
    for (std::int64_t i = 1; i < parts.size(0); ++i) {
      const float* part = row(parts, i);
      for (std::int64_t k = 0; k < parts.size(1); ++k) sum[k] += part[k];
    }
    for (const GateLayer* layer :
         {&layers.first, &layers.embedding, &layers.ih, &layers.hh, &layers.head}) {
      for (const at::Tensor& parameter : {layer->weight, layer->bias}) {
        gradients.push_back(parameter.defined() ? at::empty(parameter.sizes()) : at::Tensor());
        const std::int64_t size = parameter.defined() ? parameter.numel() : 0;
        if (size > 0) std::copy_n(sum, size, gradients.back().data_ptr<float>());
        sum += size;
      }
    }
  }
};

}  // namespace

// The loops are the CPU's; on other devices the little that a gate reads and writes is copied.
GateOutput run_gate(const at::Tensor& means, const at::Tensor& hidden, const at::Tensor& memory,
                    const GateLayers& layers, const std::vector<int>* forced) {
  const auto here = [](const at::Tensor& x) { return x.to(at::kCPU); };
  const auto maybe = [&](const at::Tensor& x) {
    return x.defined() ? c10::make_optional(here(x)) : c10::nullopt;
  };
  GateOutput result;
  const variable_list outputs = GateFunction::apply(
      here(means), here(hidden), here(memory), maybe(layers.first.weight), maybe(layers.first.bias),
      here(layers.embedding.weight), here(layers.embedding.bias), here(layers.ih.weight),
      here(layers.ih.bias), here(layers.hh.weight), here(layers.hh.bias), here(layers.head.weight),
      here(layers.head.bias), forced, &result.chosen);
  result.mask = outputs[0].to(means.device());
  result.hidden = outputs[1].to(means.device());
  result.memory = outputs[2].to(means.device());
  return result;
}

}  // namespace bitcycle
