#include "bitcycle/network/language_model_kind.h"

#include <algorithm>

namespace bitcycle {
namespace {

constexpr LanguageModelEntry kEntries[] = {
    {LanguageModelKind::lstm, "lstm_lm", "LSTM language model, 2 layers of 650"},
    {LanguageModelKind::transformer, "transformer_lm",
     "Transformer language model, 6 layers of 512"},
};

}  // namespace

std::span<const LanguageModelEntry> language_models() {
  return kEntries;
}

std::string_view name(LanguageModelKind kind) {
  return std::ranges::find(kEntries, kind, &LanguageModelEntry::kind)->name;
}

std::optional<LanguageModelKind> language_model_kind(std::string_view model) {
  const auto* entry = std::ranges::find(kEntries, model, &LanguageModelEntry::name);
  if (entry == std::end(kEntries)) return std::nullopt;
  return entry->kind;
}

}  // namespace bitcycle
