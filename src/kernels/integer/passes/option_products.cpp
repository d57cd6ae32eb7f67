#include "bitcycle/kernels/integer/option_products.h"

#include "kernels/integer/codes/nest_step.h"
#include "kernels/integer/passes/pass_plans.h"

#include <algorithm>

namespace bitcycle::integer {

struct OptionPlan {
  CodeGrid grid;
  RealView gradient;
  std::vector<CodeParams> distinct;
  std::vector<NestStep> steps;      // of the distinct ones
  std::vector<std::size_t> option;  // which of the distinct ones each option is

  OptionPlan(const CodeGrid& g, RealView view) : grid(g), gradient(view) {}

  void add(const CodeParams& finest8, const CodeParams& params) {
    const auto same = std::ranges::find(distinct, params);
    option.push_back(static_cast<std::size_t>(same - distinct.begin()));
    if (same != distinct.end()) return;
    distinct.push_back(params);
    steps.push_back(nest_step(finest8, params));
  }
};

OptionProducts::OptionProducts(const CodeGrid& grid, RealView gradient, const CodeParams& finest8,
                               const std::vector<CodeParams>& options)
    : products_(static_cast<std::size_t>(grid.batch) * options.size()) {
  auto plan = std::make_unique<OptionPlan>(grid, gradient);
  for (const CodeParams& params : options) plan->add(finest8, params);
  plan_ = std::move(plan);
}
OptionProducts::~OptionProducts() = default;

void OptionProducts::run(int image, const std::uint8_t* finest) {
  const OptionPlan& plan = *plan_;
  std::vector<double> sums(plan.steps.size());
  passes().option_products[index(plan.gradient.type)](
      {.grid = plan.grid,
       .gradient = image_of(plan.gradient, plan.grid, image),
       .codes = finest,
       .steps = plan.steps.data(),
       .options = static_cast<int>(plan.steps.size()),
       .products = sums.data()});
  float* products = products_.data() + static_cast<std::size_t>(image) * plan.option.size();
  for (std::size_t o = 0; o < plan.option.size(); ++o) {
    const std::size_t own = plan.option[o];
    products[o] = static_cast<float>(sums[own] * double{plan.distinct[own].scale});
  }
}

}  // namespace bitcycle::integer
