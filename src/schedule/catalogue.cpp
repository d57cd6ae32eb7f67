#include "schedule/catalogue.h"

#include "bitcycle/schedule/compose.h"

#include <algorithm>

namespace bitcycle {
namespace {

// An entry of a cyclic schedule, its profile made by a function of the spec.
template <typename MakeProfile>
CatalogueEntry cycles(const char* name, const char* about, MakeProfile profile, Cycles kind) {
  return {name, about, kind, [=](const ScheduleSpec& spec, Step total) {
            return cyclic(profile(spec), kind,
                          {static_cast<double>(*spec.min), static_cast<double>(spec.max),
                           spec.cycles, total, spec.cycle_length});
          }};
}

std::vector<CatalogueEntry> make_entries() {
  const auto cosine = [](const ScheduleSpec&) { return cosine_profile(); };
  const auto linear = [](const ScheduleSpec&) { return linear_profile(); };
  const auto exponential = [](const ScheduleSpec& s) { return exponential_profile(s.rate); };
  const auto rex = [](const ScheduleSpec& s) { return rex_profile(s.beta); };
  const auto cpt = [](const ScheduleSpec&) { return cpt_cosine_profile(); };
  const auto tent = [](const ScheduleSpec&) { return tent_profile(); };
  const auto anneal = [](const ScheduleSpec&) { return anneal_profile(); };
  using enum Cycles;
  return {
      {"static", "the same width throughout (the baseline)", std::nullopt,
       [](const ScheduleSpec& spec, Step) { return constant(spec.max); }},
      cycles("CR", "cosine, repeated: every cycle rises from min to max", cosine, repeated),
      cycles("CT", "cosine, triangular: falls, then rises", cosine, triangular_value),
      cycles("LR", "linear, repeated", linear, repeated),
      cycles("LT", "linear, triangular", linear, triangular_value),
      cycles("ER", "exponential, repeated: rises fast and stays high; small saving", exponential,
             repeated),
      cycles("ETV", "exponential, triangular, mirrored in value: half low, half high", exponential,
             triangular_value),
      cycles("ETH", "exponential, triangular, mirrored in time: narrow dips; small saving",
             exponential, triangular_time),
      cycles("RR", "REX, repeated: stays low and shoots up at the end; large saving", rex,
             repeated),
      cycles("RTV", "REX, triangular, mirrored in value: half high, half low", rex,
             triangular_value),
      cycles("RTH", "REX, triangular, mirrored in time: narrow peaks; large saving", rex,
             triangular_time),
      cycles("cosine", "the CPT paper's schedule: CR in its own order of operations", cpt,
             repeated),
      cycles("triangular", "the CPT paper's: up and down again within every cycle", tent, repeated),
      cycles("anneal", "the CPT paper's: every cycle falls from max to min", anneal, repeated),
      {"progressive", "widths from min up to max, each for an equal share of the run", std::nullopt,
       [](const ScheduleSpec& spec, Step total) {
         return progressive(*spec.min, spec.max, step_at(spec.start, total),
                            step_at(spec.end, total));
       }},
  };
}

const std::vector<CatalogueEntry>& entries() {
  static const std::vector<CatalogueEntry> all = make_entries();
  return all;
}

}  // namespace

const CatalogueEntry* find_schedule(std::string_view name) {
  const auto at = std::find_if(entries().begin(), entries().end(),
                               [&](const CatalogueEntry& entry) { return entry.name == name; });
  return at == entries().end() ? nullptr : &*at;
}

std::vector<std::string> schedule_names() {
  std::vector<std::string> names;
  for (const CatalogueEntry& entry : entries()) names.push_back(entry.name);
  return names;
}

std::string_view describe_schedule(std::string_view name) {
  const CatalogueEntry* entry = find_schedule(name);
  return entry == nullptr ? std::string_view() : entry->about;
}

}  // namespace bitcycle
