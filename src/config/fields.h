#pragma once

// The one list of what a recipe has. describe(visit, section) calls visit(field, value) for every
// key of a section, in the order in which people read it. Reading, writing, comparing and the
// reference in docs/recipes.md are such visitors, so that a key is added in one place.

#include "bitcycle/config/recipe.h"
#include "bitcycle/data/text/corpus.h"
#include "bitcycle/network/language_model_kind.h"

#include "config/field.h"
#include "config/precision_fields.h"

#include <string>
#include <vector>

namespace bitcycle {

// The words of an enumeration, in the order of its values.
using Words = std::vector<std::string>;
Words words(DataRecipe::Augment);
Words words(OptimizerRecipe::Name);
Words words(OptimizerRecipe::Decay);
Words words(LearningRateRecipe::Name);
Words words(LearningRateRecipe::Warmup);
Words words(LearningRateRecipe::Origin);
Words words(SchemeName);
Words words(IndicatorRecipe::Loss);
Words words(DynamicRecipe::Band);
Words words(DynamicRecipe::Form);
Words words(PrecisionRecipe::Backend);
Words words(PrecisionRecipe::Per);
Words words(RangeStart);
Words words(EvaluationRecipe::BestOn);
Words words(CycleLength);

template <class Visit>
void describe(Visit& visit, Is<ModelRecipe> auto& r) {
  visit(field("name", "network; `bitcycle models` lists them"), r.name);
  visit(field("weights",
              "run directory, checkpoint or safetensors file to start from; unset: from the seed")
            .later(),
        r.weights);
  const auto kind = language_model_kind(r.name);
  const bool lstm = kind == LanguageModelKind::lstm;
  const bool transformer = kind == LanguageModelKind::transformer;
  const auto pictures = [&](Field f) { return f.only_if(!kind, "name", "a network for pictures"); };
  const auto language = [&](Field f) {
    return f.only_if(kind.has_value(), "name", "\"lstm_lm\" or \"transformer_lm\"").later();
  };
  const auto recurrent = [&](Field f) { return f.only_if(lstm, "name", "\"lstm_lm\"").later(); };
  const auto attentive = [&](Field f) {
    return f.only_if(transformer, "name", "\"transformer_lm\"").later();
  };
  visit(
      pictures(
          field("classes", "outputs of the network; unset: the classes of the dataset").in(2, 1e7)),
      r.classes);
  visit(language(field("layers", "unset: 2 of an LSTM, 6 of a Transformer").in(1, 1000)), r.layers);
  visit(language(field("tied",
                       "whether input and output share their weights; unset: of a "
                       "Transformer")),
        r.tied);
  visit(language(field("dropout", "unset: 0.2 of an LSTM, 0.1 of a Transformer").in(0, 0.999)),
        r.dropout);
  visit(recurrent(field("hidden", "features of a layer").in(1, 65536)), r.hidden);
  visit(recurrent(field("embedding", "features of a word; 0: as many as hidden ones").in(0, 65536)),
        r.embedding);
  visit(attentive(field("width", "features of a token").in(1, 65536)), r.width);
  visit(attentive(field("inner", "features inside the feed-forward layers").in(1, 262144)),
        r.inner);
  visit(attentive(field("heads", "of attention; they divide the width").in(1, 1024)), r.heads);
  visit(attentive(field("attention_dropout", "of attention's weights").in(0, 0.999)),
        r.attention_dropout);
  visit(attentive(field("activation_dropout", "inside the feed-forward layers").in(0, 0.999)),
        r.activation_dropout);
  visit(attentive(field("softmax_dropout", "of the adaptive softmax's projections").in(0, 0.999)),
        r.softmax_dropout);
  visit(attentive(field("final_norm", "whether a norm precedes the output layer")), r.final_norm);
  visit(attentive(field("cutoffs",
                        "where the bands of words of adaptive input and softmax end, "
                        "rising; empty: neither")
                      .in(1, 1e9)),
        r.cutoffs);
  visit(
      attentive(field("factor", "how much narrower each band of words is than the last").in(1, 64)),
      r.factor);
}

template <class Visit>
void describe(Visit& visit, Is<DataRecipe> auto& r) {
  visit(field("dataset", "name of the dataset; `bitcycle data` lists what is found"), r.dataset);
  visit(field("root", "where it lies; empty: the usual places").conduct(), r.root);
  const bool texts = is_corpus(r.dataset), own_text = r.dataset == "text";
  visit(field("batch_size", "samples a step; of texts, columns or windows").in(1, 65536),
        r.batch_size);
  visit(field("part", "part of the training set: \"1/2\" is the first of two halves").later(),
        r.part);
  visit(field("validation", "fraction of the training set held out; 0: none")
            .in(0, 0.9)
            .only_if(!texts || own_text, "dataset", "one without a validation set of its own"),
        r.validation);
  visit(field("test",
              "fraction that the result is measured on: of a text, its end; of an image folder "
              "without a test set, pictures of every class")
            .in(0, 0.9)
            .only_if(own_text || r.dataset == "image_folder", "dataset",
                     "\"text\" or \"image_folder\"")
            .later(),
        r.test);
  visit(field("limit", "use at most so many samples (of texts, tokens) of each split; 0: all")
            .in(0, 1e12),
        r.limit);
  visit(field("window",
              "tokens that a model sees at once; unset: 35 of an LSTM, 512 of a "
              "Transformer")
            .in(1, 65536)
            .only_if(texts, "dataset", "a text")
            .later(),
        r.window);
  visit(field("context",
              "of an evaluation's window, tokens that a Transformer sees and that are "
              "not scored again")
            .in(0, 65535)
            .only_if(texts, "dataset", "a text")
            .later(),
        r.context);
  visit(field("augment", "the papers' padding, cropping and flipping, or none")
            .only_if(!texts, "dataset", "one of pictures"),
        r.augment);
  visit(field("image_size", "side of the training crop")
            .in(16, 4096)
            .only_if(r.dataset == "image_folder", "dataset", "\"image_folder\""),
        r.image_size);
  visit(field("workers", "threads that prepare batches; 0: the trainer's own").in(0, 256).conduct(),
        r.workers);
}

template <class Visit>
void describe(Visit& visit, Is<OptimizerRecipe> auto& r) {
  using Name = OptimizerRecipe::Name;
  visit(field("name", "optimizer"), r.name);
  const bool is_sgd =
      r.name == Name::sgd || r.name == Name::nesterov || r.name == Name::fairseq_nag;
  const auto sgd = [&](Field f) {
    return f.only_if(is_sgd, "name", "\"sgd\", \"nesterov\" or \"fairseq_nag\"");
  };
  const auto adam = [&](Field f) {
    return f.only_if(!is_sgd, "name", "\"adam\", \"adamw\", \"fairseq_adam\" or \"bert_adam\"");
  };
  visit(field("lr", "learning rate, before its schedule").in(0, 1e6), r.lr);
  visit(sgd(field("momentum", "momentum").in(0, 0.9999)), r.momentum);
  visit(field("weight_decay", "L2 penalty, or the rate at which parameters shrink (see below)")
            .in(0, 1e3),
        r.weight_decay);
  visit(field("decay", "what it acts on: all parameters, or not on biases and norms").later(),
        r.decay);
  visit(adam(field("beta1", "decay of the running mean").in(0, 0.999999)), r.beta1);
  visit(adam(field("beta2", "decay of the running square").in(0, 0.999999)), r.beta2);
  visit(adam(field("epsilon", "added to the denominator").in(1e-16, 1)), r.epsilon);
  visit(field("clip_norm", "largest norm of all gradients together; 0: any").in(0, 1e6).later(),
        r.clip_norm);
  visit(field("accumulate",
              "batches whose gradients are averaged into one update; a step is one "
              "update")
            .in(1, 65536)
            .later(),
        r.accumulate);
}

template <class Visit>
void describe(Visit& visit, Is<LearningRateRecipe> auto& r) {
  using Name = LearningRateRecipe::Name;
  visit(field("name", "shape of the learning rate over the run"), r.name);
  const auto piecewise = [&](Field f) {
    return f.only_if(r.name == Name::piecewise, "name", "\"piecewise\"");
  };
  const auto dropping = [&](Field f) {
    return f.only_if(r.name == Name::piecewise || r.name == Name::plateau, "name",
                     "\"piecewise\" or \"plateau\"");
  };
  const auto falling = [&](Field f) {
    return f.only_if(r.name == Name::linear || r.name == Name::cosine, "name",
                     "\"linear\" or \"cosine\"");
  };
  const auto sgdr = [&](Field f) { return f.only_if(r.name == Name::sgdr, "name", "\"sgdr\""); };
  visit(piecewise(field("at", "fractions of the run at which the rate drops, rising").in(0, 1)),
        r.at);
  visit(dropping(field("factor", "what it is multiplied by at each drop").in(0, 1e3)), r.factor);
  visit(piecewise(field("rates", "the rate itself from each drop on, in place of `factor`")
                      .in(0, 1e6)
                      .later()),
        r.rates);
  visit(falling(field("final", "the last rate over the first").in(0, 1)), r.final);
  visit(sgdr(field("first_period", "length of the first cycle, fraction of the run").in(1e-4, 1)),
        r.first_period);
  visit(sgdr(field("period_factor", "how much longer each cycle is than the last").in(1, 100)),
        r.period_factor);
  visit(sgdr(field("shrink", "height of each cycle over that of the last").in(0, 1).later()),
        r.shrink);
  visit(sgdr(field("floor", "the lowest rate of a cycle over its highest").in(0, 1).later()),
        r.floor);
  const bool spans_the_run =
      r.name != Name::constant && r.name != Name::inverse_sqrt && r.name != Name::plateau;
  visit(field("origin", "where the shape begins: at the run's start, or where its warm-up ends")
            .only_if(spans_the_run, "name", "not \"constant\", \"inverse_sqrt\" or \"plateau\"")
            .later(),
        r.origin);
  visit(field("warmup_steps", "steps at the start with a smaller rate").in(0, 1e12),
        r.warmup_steps);
  visit(field("warmup_fraction", "the same as a fraction of the run, however long it is")
            .in(0, 1)
            .only_if(r.warmup_steps == 0, "warmup_steps", "0")
            .later(),
        r.warmup_fraction);
  visit(field("warmup_factor", "the rate during warm-up, or at its start, over the full one")
            .in(0, 1),
        r.warmup_factor);
  visit(field("warmup", "stay at that rate (the papers), or rise from it linearly"), r.warmup);
}

template <class Visit>
void describe(Visit& visit, Is<EvaluationRecipe> auto& r) {
  visit(field("bits",
              "\"max\" of the schedule, \"current\" (the papers; the default under "
              "`precision.progressive` and `precision.dynamic`), \"fp\", or a width")
            .or_number(),
        r.bits);
  visit(field("best_on", "what chooses the best checkpoint; \"test\" is the papers' way"),
        r.best_on);
  visit(field("every_epochs", "how often; the end of the run always counts").in(1e-3, 1e6),
        r.every_epochs);
}

template <class Visit>
void describe(Visit& visit, Is<CheckpointRecipe> auto& r) {
  visit(
      field("every_epochs", "how often; the end of the run always counts").in(1e-3, 1e6).conduct(),
      r.every_epochs);
  visit(field("keep", "the newest so many, besides the best").in(1, 1e6).conduct(), r.keep);
}

template <class Visit>
void describe(Visit& visit, Is<AveragingRecipe> auto& r) {
  visit(field("start", "fraction of the run from which weights are averaged").in(0, 1), r.start);
  visit(field("every_epochs", "how often; the end of the run always counts").in(1e-3, 1e6),
        r.every_epochs);
}

template <class Visit>
void describe(Visit& visit, Is<Recipe> auto& r) {
  visit(field("version", "of the recipe format")
            .in(2, 2)
            .otherwise("Version 1 is of releases in which every run on the integer backend had "
                       "scheme = \"sbm\" in its recipe. Runs of then are finished by their "
                       "release; in a recipe, leave out version and scheme."),
        r.version);
  visit(field("seed", "every random number follows from it").at_least(0), r.seed);
  visit(field("steps", "length of the run; or give `epochs`").in(0, 1e12), r.steps);
  visit(field("epochs", "length of the run in passes over the training set").in(0, 1e6), r.epochs);
  visit(field("threads", "0: one for each core that may be used").in(0, 1024).conduct(), r.threads);
  visit(field("device", "\"cpu\", \"cuda\" or \"cuda:N\""), r.device);
  visit(field("log_every", "steps between two lines of metrics.jsonl").in(1, 1e9).conduct(),
        r.log_every);
  visit(
      field("statistics_every",
            "steps between two lines of layers.jsonl; 0: none; unset: about 200 lines in the run, "
            "at least 200 steps apart")
          .in(0, 1e12)
          .conduct(),
      r.statistics_every);
  visit(field("tensorboard", "whether an event file for TensorBoard is written").conduct(),
        r.tensorboard);
  visit(field("averaging", "the mean of the weights towards the end (SWA); keys below").later(),
        r.averaging);
  visit(field("model", ""), r.model);
  visit(field("data", ""), r.data);
  visit(field("optimizer", ""), r.optimizer);
  visit(field("lr_schedule", ""), r.lr_schedule);
  visit(field("precision", ""), r.precision);
  visit(field("evaluation", ""), r.evaluation);
  visit(field("checkpoint", ""), r.checkpoint);
}

// A part of the recipe that is a table of its own.
template <class T>
concept Section = Is<T, ModelRecipe> || Is<T, DataRecipe> || Is<T, OptimizerRecipe> ||
    Is<T, LearningRateRecipe> || Is<T, PrecisionRecipe> || Is<T, EvaluationRecipe> ||
    Is<T, CheckpointRecipe>;

}  // namespace bitcycle
