#pragma once

// The files of src/report/page/ and the chart library, put into the program at build time.

#include <string_view>

namespace bitcycle {

extern const std::string_view kPageTemplate;  // with {{style}}, {{charts}}, {{script}}, {{data}}
extern const std::string_view kPageStyle;
extern const std::string_view kPageScript;
extern const std::string_view kChartScript;

}  // namespace bitcycle
