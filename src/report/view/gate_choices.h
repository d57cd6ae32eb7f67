#pragma once

// What the gates of a run chose: a logged step tells the shares of the samples that had each
// option, by block, in all steps since the one before.

#include "bitcycle/config/chosen_bits.h"

#include "report/view/run_record.h"
#include "report/view/view_options.h"

#include <optional>
#include <vector>

#include <nlohmann/json.hpp>

namespace bitcycle {

// Of a line of metrics.jsonl; nothing where it has none, or none of so many options.
std::optional<BlockShares> choices_in(const nlohmann::ordered_json& line, std::size_t options);
// The mean over the blocks.
std::vector<double> over_blocks(const BlockShares& shares);

// {"options": [names], "curves": [a series for each], "blocks": {"names", "shares", "from", "to"}},
// where the curves are means over blocks, and over stretches of steps where there are more logged
// steps than columns, and the blocks are those of the last tenth of the logged steps. Null of a run
// whose gates, if it has any, are not known to have chosen anything.
nlohmann::ordered_json choices_view(const RunRecord& record, const ViewOptions& options);

}  // namespace bitcycle
