#pragma once

// The keys of [precision] and of the tables in it: schedules, stages, gates, overrides. Part of the
// one list in fields.h.

#include "bitcycle/config/recipe.h"
#include "bitcycle/schedule/cyclic.h"

#include "config/field.h"

#include <concepts>
#include <string>
#include <type_traits>
#include <vector>

namespace bitcycle {

// Lists of options by name.
struct NamedOptions {
  std::string name;
  std::vector<PrecisionOption> options;
};
const std::vector<NamedOptions>& named_options();

// What each kind of schedule makes use of. An expression may hold parts of every kind.
struct ScheduleTraits {
  bool fixed, cyclic, rex, exponential;
};
ScheduleTraits traits_of(const ScheduleSpec& spec);

template <class Self, class Section>
concept Is = std::same_as<std::remove_const_t<Self>, Section>;

template <class Visit>
void describe(Visit& visit, Is<ScheduleSpec> auto& r) {
  visit(field("schedule", "name or expression; `bitcycle schedule --help` lists the names"),
        r.name);
  const ScheduleTraits has = traits_of(r);
  visit(field("min", "lower bound in bits; static may leave it out").in(0, kMaxBits), r.min);
  visit(field("max", "upper bound in bits").in(0, kMaxBits), r.max);
  visit(field("cycles", "number of cycles in the run")
            .in(1, 1e9)
            .only_if(has.cyclic, "schedule", "cyclic"),
        r.cycles);
  visit(field("cycle_length", "how the run is cut into cycles: exactly, or by a paper's rule")
            .only_if(has.cyclic, "schedule", "cyclic"),
        r.cycle_length);
  visit(
      field("beta", "shape of REX").in(0, 0.999999).only_if(has.rex, "schedule", "RR, RTV or RTH"),
      r.beta);
  visit(field("rate", "steepness of the exponential")
            .in(1e-6, 1e6)
            .only_if(has.exponential, "schedule", "ER, ETV or ETH"),
        r.rate);
  visit(field("start", "fraction of the run that stays at `min` before the schedule begins")
            .in(0, 1)
            .only_if(!has.fixed, "schedule", "not static"),
        r.start);
  visit(field("end", "fraction of the run from which `max` is held")
            .in(0, 1)
            .only_if(!has.fixed, "schedule", "not static"),
        r.end);
}

template <class Visit>
void describe(Visit& visit, Is<LayerOverride> auto& r) {
  visit(field("layers", "pattern with * and ?, such as \"layer1.*\", or \"@depthwise\""), r.layers);
  visit(field("full_precision", "keep these layers in float"), r.full_precision);
  const auto quantized = [&](Field f) {
    return f.only_if(!r.full_precision, "full_precision", "false");
  };
  visit(quantized(field("forward", "bits of weights and activations")), r.forward);
  visit(quantized(field("weight", "bits of weights, in place of `forward`")), r.weight);
  visit(quantized(field("activation", "bits of activations, in place of `forward`")), r.activation);
  visit(quantized(field("backward", "bits of errors")), r.backward);
}

// What a section whose stages end by the indicator has of it; `staged` adds when these keys apply.
template <class Visit>
void describe_indicator(Visit& visit, auto& r, const auto& staged) {
  visit(staged(field("epsilon", "the first threshold, in units of the mean of the first losses")
                   .in(1e-9, 1e3)),
        r.epsilon);
  visit(staged(field("alpha", "what the threshold is multiplied by at the first two turning points")
                   .in(1e-6, 1)),
        r.alpha);
  visit(staged(field("window", "periods over which the loss must have settled").in(2, 1e6)),
        r.window);
  visit(staged(field("normalising",
                     "first periods whose mean loss is the unit; 0: differences as they are")
                   .in(0, 1e6)),
        r.normalising);
  visit(
      staged(
          field(
              "deadlines",
              "fractions of the run, rising, one for each turning point, at which it comes at the "
              "latest; empty: none")
              .in(0, 1)),
      r.deadlines);
  visit(staged(field(
            "loss",
            "what must settle: the mean training loss of a period, its exponential, or with gates "
            "(`dynamic`) the loss with its cost")),
        r.loss);
  visit(staged(field("period", "steps of a period; 0: an epoch").in(0, 1e12)), r.period);
}

template <class Visit>
void describe(Visit& visit, Is<ProgressiveRecipe> auto& r) {
  visit(field("forward", "bits of weights and activations in each stage, not falling; 0: float")
            .in(0, kMaxBits),
        r.forward);
  visit(field("backward", "bits of errors in each stage, likewise").in(0, kMaxBits), r.backward);
  visit(field("turning_points", "stages that may end; unset: all but the last").in(1, 1e6),
        r.turning_points);
  describe_indicator(visit, r, [](const Field& f) { return f; });
}

template <class Visit>
void describe(Visit& visit, Is<DynamicRecipe> auto& r) {
  visit(field("options",
              "what gates choose between: pairs of activation and error bits, `[0, 0]` to skip the "
              "block; `\"cifar\"` and `\"imagenet\"` are the paper's")
            .in(0, kMaxBits),
        r.options);
  visit(field("weight", "bits of weights throughout; has to be given").in(kMinBits, kMaxBits),
        r.weight);
  visit(field("target",
              "what the choices should cost, in percent of 32-bit operands; a list, not falling: "
              "one for each stage")
            .in(1e-3, 100)
            .or_number(),
        r.target);
  visit(field("beta", "weight of the cost in the loss").in(0, 1e6), r.beta);
  visit(field("band", "how the cost is steered near its target, see below"), r.band);
  visit(field("band_width", "how near that is, in percent as the target").in(0, 100), r.band_width);
  visit(field("ada_beta", "whether the cost's part of the loss is at most a tenth of the rest"),
        r.ada_beta);
  visit(field("form",
              "compute what was chosen, or all options and mix the results (the paper's code for "
              "CIFAR)"),
        r.form);
  describe_indicator(visit, r, [staged = r.target.size() > 1](const Field& f) {
    return f.only_if(staged, "target", "a list of several");
  });
}

template <class Visit>
void describe(Visit& visit, Is<RangeTestRecipe> auto& r) {
  visit(field("from", "the lowest width that is tried, in bits").in(kMinBits, kMaxBits), r.from);
  visit(field("to", "the width that others are held against, and the upper bound").in(2, kMaxBits),
        r.to);
  visit(field("schedule", "the cyclic schedule that goes between the bounds"), r.schedule);
  visit(field("cycles", "number of its cycles in the run; the test has the first").in(1, 1e9),
        r.cycles);
  visit(field("threshold",
              "share of what the upper width has learned that a width must keep to be the lower "
              "bound")
            .in(0.01, 0.99),
        r.threshold);
  visit(field("confidence", "how sure it must be that the share is above or below").in(0.6, 0.9999),
        r.confidence);
  visit(field("upper",
              "likewise the share at which a width will do as the upper bound; unset: that is `to`")
            .in(0.01, 0.99),
        r.upper);
  visit(field("block", "steps at one width before the other has its turn").in(2, 1e6), r.block);
  visit(field("pairs", "pairs of blocks after which a width is left undecided").in(4, 1e4),
        r.pairs);
  visit(field("ready",
              "the test begins once the upper width is so many standard errors above chance; "
              "0: after one block")
            .in(0, 1e3),
        r.ready);
}

template <class Visit>
void describe(Visit& visit, Is<PrecisionRecipe> auto& r) {
  visit(
      field("scheme",
            "which tensors are quantized how; `auto`: `integer` where it is executed, else `sbm`"),
      r.scheme);
  visit(field("backend", "what carries it out; `auto`: integers where every layer can be"),
        r.backend);
  visit(field("progressive", "bits that rise when the loss settles; keys below").later(),
        r.progressive);
  visit(field("dynamic", "bits that gates choose for each sample; keys below")
            .only_if(!r.progressive, "progressive", "left out")
            .later(),
        r.dynamic);
  const auto scheduled = [&](Field f) {
    if (r.dynamic) return f.only_if(false, "dynamic", "left out");
    return f.only_if(!r.progressive, "progressive", "left out, and so is `dynamic`");
  };
  visit(scheduled(
            field("forward", "bits of weights and activations; `\"auto\"`: found by a range test")),
        r.forward);
  visit(field("range_test", "the range test of `forward = \"auto\"`; keys below")
            .only_if(is_automatic(r) && !r.progressive && !r.dynamic, "forward", "\"auto\"")
            .later(),
        r.range_test);
  visit(scheduled(field("weight", "bits of weights, in place of `forward`")), r.weight);
  visit(scheduled(field("activation", "bits of activations, in place of `forward`")), r.activation);
  visit(scheduled(field("backward", "bits of errors")), r.backward);
  visit(field("per", "how often the schedules advance"), r.per);
  visit(field("range_start", "running ranges start at the first batch's, or at zero (the papers)"),
        r.range_start);
  visit(field("override", "bits of some of the layers; the last that fits a layer counts"),
        r.overrides);
}

}  // namespace bitcycle
