// How a network with gates runs its blocks: the gate looks at the block's input and chooses for
// every sample; the block's layers are told, and run. Samples that skip a block are led around it,
// so that no layer sees them but the projection of their shape.

#include "bitcycle/base/error.h"
#include "bitcycle/kernels/integer/passes.h"
#include "bitcycle/models/network_model.h"

#include "models/node_outputs.h"
#include "quant/made_again.h"
#include "quant/pending_norm.h"
#include "quant/sample_rows.h"

#include <algorithm>

namespace bitcycle {
namespace {

using Choice = std::shared_ptr<const SampleChoice>;

// The ways of a tensor into a block and around it.
struct Entered {
  IntegerUnitOutput passed;  // the samples that go through
  UnitTensor around;         // all samples
};

std::optional<Range> range_of(const UnitTensor& x, const std::vector<int>& rows) {
  if (x.sample_ranges.empty()) return {};
  std::vector<Range> ranges;
  for (const int row : rows) ranges.push_back(x.sample_ranges[static_cast<std::size_t>(row)]);
  return integer::merged(ranges);
}

Entered enter(const UnitTensor& x, const std::shared_ptr<const SampleRows>& samples,
              Around around) {
  if (!is_half(x.values)) {
    const bool all = static_cast<std::int64_t>(samples->rows.size()) == samples->batch;
    const at::Tensor selected = all ? x.values : select_samples(x.values, samples->rows);
    return {{.output = {.values = selected, .gradient_scale = x.gradient_scale}}, x};
  }
  const SplitSamples ways = split_samples(x.values, samples, around);
  return {{.output = {.values = ways.first,
                      .range = range_of(x, samples->rows),
                      .stored = x.stored,
                      .gradient_scale = x.gradient_scale,
                      .rows = samples,
                      .kept = Kept::as_values},
           .second = ways.second},
          {.values = ways.around,
           .stored = x.stored,
           .gradient_scale = x.gradient_scale,
           .kept = Kept::as_values,
           .sample_ranges = x.sample_ranges}};
}

// The samples that went through a block beside the others.
UnitTensor leave(const UnitTensor& around, const UnitTensor& passed, const at::Tensor& skip,
                 const SampleRows& samples) {
  if (passed.rows != nullptr) return join_in_place(around, passed, skip);
  const bool halves = is_half(around.values);
  return {.values = join_samples(around.values, halves ? ready(as_half(passed)) : as_float(passed),
                                 skip, {samples.rows, around.gradient_scale}),
          .gradient_scale = around.gradient_scale};
}

at::Tensor long_tensor(const std::vector<int>& values, const at::Tensor& like) {
  return at::tensor(std::vector<std::int64_t>(values.begin(), values.end()), at::kLong)
      .to(like.device());
}

// The options that are computed, and the one that skips.
std::vector<int> computed(const BlockOptions& options) {
  std::vector<int> indices;
  for (int i = 0; i < static_cast<int>(options.options.size()); ++i) {
    if (!options.skips(i)) indices.push_back(i);
  }
  return indices;
}
int skipping(const BlockOptions& options) {
  int option = 0;
  while (!options.skips(option)) ++option;
  return option;
}

std::vector<int> passing(const BlockOptions& options, const GateChoice& choice) {
  std::vector<int> rows;
  for (std::size_t n = 0; n < choice.of_sample.size(); ++n) {
    if (!options.skips(choice.of_sample[n])) rows.push_back(static_cast<int>(n));
  }
  return rows;
}

// A choice between the options that are computed, of nobody yet.
std::shared_ptr<SampleChoice> between(const BlockOptions& options) {
  auto result = std::make_shared<SampleChoice>();
  for (const int option : computed(options)) {
    result->options.push_back(options.options[static_cast<std::size_t>(option)]);
  }
  return result;
}

// What the layers of a block are told of a choice: the samples `rows`, and the options that are
// computed.
Choice choice_of(const BlockOptions& options, const GateChoice& choice,
                 const std::vector<int>& rows) {
  const auto result = between(options);
  const std::vector<int> kept = computed(options);
  for (const int row : rows) {
    const int option = choice.of_sample[static_cast<std::size_t>(row)];
    result->of_sample.push_back(static_cast<int>(std::ranges::find(kept, option) - kept.begin()));
  }
  result->mask = choice.mask;
  if (kept.size() < options.options.size()) {
    result->mask = result->mask.index_select(1, long_tensor(kept, choice.mask));
  }
  if (rows.size() < choice.of_sample.size()) {
    result->mask = result->mask.index_select(0, long_tensor(rows, choice.mask));
  }
  return result;
}

std::int64_t bit_product(const LayerBits& bits) {
  return std::int64_t{bits.activation} * (bits.error + bits.weight) + bits.error * bits.weight;
}

// The same for a projection, which samples that skip the block go through at the dearest option.
Choice projection_choice(const BlockOptions& options, const GateChoice& choice) {
  const auto result = between(options);
  const std::vector<int> kept = computed(options);
  const auto dearest = std::ranges::max_element(result->options, {}, bit_product);
  for (const int option : choice.of_sample) {
    const auto found = std::ranges::find(kept, option);
    result->of_sample.push_back(static_cast<int>(
        found != kept.end() ? found - kept.begin() : dearest - result->options.begin()));
  }
  return result;
}

Choice same_for_all(LayerBits bits, std::int64_t samples) {
  return std::make_shared<SampleChoice>(
      SampleChoice{{bits}, std::vector<int>(static_cast<std::size_t>(samples), 0), {}});
}

}  // namespace

bool BlockOptions::may_skip() const {
  return std::ranges::any_of(options, [](const LayerBits& bits) { return bits.activation == 0; });
}

void NetworkModelImpl::build_gates(std::uint64_t seed) {
  gates_ = register_module("gates", Gates(network_, seed));
  for (const ResidualBlock& block : network_.blocks) {
    const std::vector<std::string> names = gated_layers(network_, block);
    auto& nodes = gated_nodes_.emplace_back();
    for (int i = block.first; i <= block.last; ++i) {
      const auto index = static_cast<std::size_t>(i);
      if (std::ranges::count(names, network_.nodes[index].name) > 0) nodes.push_back(index);
    }
  }
}

void NetworkModelImpl::set_options(const BlockOptions& options) {
  TORCH_CHECK(gates_ && gates_->options() == static_cast<int>(options.options.size()),
              "expected options for the gates of the network");
  for (const ResidualBlock& block : network_.blocks) {
    const Node& last = network_.nodes[static_cast<std::size_t>(block.last)];
    if (!options.may_skip() || last.residual != kNone) continue;
    throw Error(ErrorCode::recipe,
                "the block that ends in " + last.name + " of " + network_.name +
                    " has no shortcut, so it cannot be skipped",
                "Leave [0, 0] out of precision.dynamic.options.");
  }
  options_ = options;
}

// Where the block's input is projected to its output's shape; kNone where it needs not be.
int NetworkModelImpl::projection_of(const ResidualBlock& block) const {
  const int residual = network_.nodes[static_cast<std::size_t>(block.last)].residual;
  return residual >= block.first ? residual : kNone;
}

void NetworkModelImpl::tell(std::size_t block, int node, const Choice& choice,
                            std::int64_t samples) {
  const auto& gated = gated_nodes_[block];
  const auto index = static_cast<std::size_t>(node);
  if (std::ranges::count(gated, index) == 0) return;
  units_[index]->conv->choose(choice, samples);
}

void NetworkModelImpl::run_block(std::size_t index, NodeOutputs& outputs,
                                 const Observer& observer) {
  const ResidualBlock& block = network_.blocks[index];
  const int input = network_.nodes[static_cast<std::size_t>(block.first)].input;
  const GateChoice& choice = gates_->choose(outputs.means(input));
  if (options_.form == BlockOptions::Form::all_candidates) {
    outputs.put(block.last, {.output = run_candidates(index, choice, outputs, observer)});
  } else if (options_.may_skip()) {
    outputs.put(block.last, {.output = run_passed(index, choice, outputs, observer)});
  } else {
    const bool executes =
        units_[static_cast<std::size_t>(block.first)]->executes(outputs.peek(input).values);
    if (executes) outputs.enter(input);
    const Choice samples = choice_of(options_, choice, passing(options_, choice));
    const auto count = static_cast<std::int64_t>(choice.of_sample.size());
    for (int i = block.first; i <= block.last; ++i) {
      tell(index, i, samples, count);
      run_node(i, outputs, observer, readers_of(i));
    }
  }
  for (const std::size_t node : gated_nodes_[index]) units_[node]->conv->forget_choice();
}

UnitTensor NetworkModelImpl::run_passed(std::size_t index, const GateChoice& choice,
                                        NodeOutputs& outputs, const Observer& observer) {
  const ResidualBlock& block = network_.blocks[index];
  const int input = network_.nodes[static_cast<std::size_t>(block.first)].input;
  const int projection = projection_of(block);
  const auto samples = static_cast<std::int64_t>(choice.of_sample.size());
  const auto passed =
      std::make_shared<const SampleRows>(SampleRows{passing(options_, choice), samples});
  const Choice own = choice_of(options_, choice, passed->rows);
  UnitTensor x = outputs.take_whole(input);
  if (units_[static_cast<std::size_t>(block.first)]->executes(x.values)) x = as_half(x);
  x = applied(x);
  NodeOutputs inner(outputs.scale(), readers_);
  UnitTensor around = x;
  if (!passed->rows.empty()) {
    Entered entered =
        enter(x, passed, projection == kNone ? Around::the_others : Around::all_samples);
    inner.put(input, std::move(entered.passed));
    around = entered.around;
  }
  if (projection != kNone) {
    const Node& node = network_.nodes[static_cast<std::size_t>(projection)];
    tell(index, projection, projection_choice(options_, choice), samples);
    around = run(node, around, {}, {Delivery::ready}).output;
    around.gradient_scale = x.gradient_scale;
    around = applied(is_half(x.values) ? as_half(around) : around);
    if (observer) observer(node, around.values);
    if (!passed->rows.empty()) {
      Entered entered = enter(around, passed, Around::the_others);
      inner.put(projection, std::move(entered.passed));
      around = entered.around;
    }
  }
  for (int i = block.first; i <= block.last; ++i) {
    if (i == projection) continue;
    tell(index, i, own, samples);
    if (passed->rows.empty()) continue;
    run_node(i, inner, observer, i == block.last ? Readers{Delivery::ready} : readers_of(i));
  }
  if (passed->rows.empty()) return around;
  UnitTensor left = leave(around, inner.take_whole(block.last),
                          choice.mask.select(1, skipping(options_)), *passed);
  if (const auto again = again_of(x)) again->let_go();
  return left;
}

UnitTensor NetworkModelImpl::run_candidates(std::size_t index, const GateChoice& choice,
                                            NodeOutputs& outputs, const Observer& observer) {
  const ResidualBlock& block = network_.blocks[index];
  const int input = network_.nodes[static_cast<std::size_t>(block.first)].input;
  const int projection = projection_of(block);
  const UnitTensor x = outputs.take_whole(input);
  const auto samples = static_cast<std::int64_t>(choice.of_sample.size());
  at::Tensor mixed;
  for (std::size_t k = 0; k < options_.options.size(); ++k) {
    const LayerBits bits = options_.options[k];
    const bool skips = options_.skips(static_cast<int>(k));
    NodeOutputs inner(outputs.scale(), readers_);
    inner.put(input, {.output = x});
    int result = skips && projection == kNone ? input : block.last;
    if (skips && projection != kNone) result = projection;
    for (int i = block.first; i <= block.last; ++i) {
      if (skips && i != projection) continue;
      // Projections beside a skipped block are in float; of its other layers none runs, so that
      // samples are counted at the first option at which a layer does.
      const std::size_t first = i != projection && options_.skips(0) ? 1 : 0;
      tell(index, i, same_for_all(skips ? LayerBits{} : bits, samples), k == first ? samples : 0);
      run_node(i, inner, observer, readers_of(i));
    }
    const at::Tensor weight = choice.mask.select(1, static_cast<std::int64_t>(k));
    const at::Tensor part = as_float(inner.take_whole(result)) * weight.view({-1, 1, 1, 1});
    mixed = mixed.defined() ? mixed + part : part;
  }
  return {.values = mixed, .gradient_scale = x.gradient_scale};
}

}  // namespace bitcycle
