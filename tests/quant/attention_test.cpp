#include "bitcycle/quant/attention_function.h"
#include "bitcycle/quant/dropout_function.h"

#include <cmath>

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

// sum over j <= i of exp(q_i . k_j / sqrt(size)) v_j / sum over j <= i of the same exp, written
// out.
at::Tensor by_formula(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                      std::int64_t heads) {
  const std::int64_t size = q.size(2) / heads;
  at::Tensor out = at::zeros(q.sizes(), at::kDouble);
  const auto from_q = q.accessor<float, 3>(), from_k = k.accessor<float, 3>();
  const auto from_v = v.accessor<float, 3>();
  auto to = out.accessor<double, 3>();
  for (std::int64_t b = 0; b < q.size(0); ++b)
    for (std::int64_t h = 0; h < heads; ++h)
      for (std::int64_t i = 0; i < q.size(1); ++i) {
        double total = 0;
        for (std::int64_t j = 0; j <= i; ++j) {
          double dot = 0;
          for (std::int64_t c = h * size; c < (h + 1) * size; ++c) {
            dot += double{from_q[b][i][c]} * from_k[b][j][c];
          }
          const double weight = std::exp(dot / std::sqrt(static_cast<double>(size)));
          total += weight;
          for (std::int64_t c = h * size; c < (h + 1) * size; ++c) {
            to[b][i][c] += weight * from_v[b][j][c];
          }
        }
        for (std::int64_t c = h * size; c < (h + 1) * size; ++c) to[b][i][c] /= total;
      }
  return out;
}

struct Attended {
  at::Tensor out, dq, dk, dv;
};

Attended attend_in(at::ScalarType type, std::int64_t time, const AttentionCall& call) {
  torch::manual_seed(5);
  std::vector<at::Tensor> in;
  for (int i = 0; i < 3; ++i) {
    in.push_back(torch::randn({2, time, 24}).to(type).requires_grad_());
  }
  const at::Tensor error = torch::randn({2, time, 24}).to(type);
  const at::Tensor out = causal_attention(in[0], in[1], in[2], call);
  out.backward(error);
  return {out.detach(), in[0].grad(), in[1].grad(), in[2].grad()};
}

double distance(const at::Tensor& a, const at::Tensor& b) {
  return (a.to(at::kDouble) - b).abs().max().item<double>();
}

TEST(AttentionTest, FollowsItsFormula) {
  const at::Tensor q = torch::randn({2, 150, 24}), k = torch::randn({2, 150, 24});
  const at::Tensor v = torch::randn({2, 150, 24});
  for (const std::int64_t heads : {1, 3, 24}) {
    EXPECT_LT(distance(causal_attention(q, k, v, {.heads = heads}), by_formula(q, k, v, heads)),
              3e-6);
  }
}

// In double it is made of LibTorch's operations, with their gradients; the blocks' ends lie at
// multiples of 128.
TEST(AttentionTest, HasTheGradientsThatAutogradFinds) {
  for (const std::int64_t time : {1, 127, 128, 300}) {
    for (const double probability : {0.0, 0.3}) {
      const AttentionCall call{4, drop_rate(probability), noise_key(RandomKey(3))};
      const Attended fast = attend_in(at::kFloat, time, call);
      const Attended plain = attend_in(at::kDouble, time, call);
      EXPECT_LT(distance(fast.out, plain.out), 5e-6);
      EXPECT_LT(distance(fast.dq, plain.dq), 1e-5);
      EXPECT_LT(distance(fast.dk, plain.dk), 1e-5);
      EXPECT_LT(distance(fast.dv, plain.dv), 1e-5);
    }
  }
}

}  // namespace
}  // namespace bitcycle
