#include "bitcycle/report/html_report.h"

#include "report/view/made_up_run.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(HtmlReportTest, IsOneFileThatAsksForNothingElse) {
  const MadeUpRun run;
  const std::string page = html_report(std::vector<NamedRun>{{"run", run.path()}});
  for (const char* from_elsewhere :
       {"<script src", "src=\"http", "stylesheet", "@import", "sourceMappingURL"}) {
    EXPECT_EQ(count_of(page, from_elsewhere), 0U) << from_elsewhere;
  }
  EXPECT_EQ(count_of(page, "default-src 'none'"), 1U);
  EXPECT_EQ(count_of(page, "{{"), count_of(html_live_page(), "{{")) << "all places are filled";
  EXPECT_LT(page.size(), 300'000U);
}

TEST(HtmlReportTest, NothingInItsDataEndsTheScript) {
  MadeUpRun run;
  run.write("recipe.toml", "# </script><script>alert(1)</script> <!-- {{style}}\nsteps = 1\n");
  const std::string page = html_report(std::vector<NamedRun>{{"</script><b>", run.path()}});
  EXPECT_EQ(count_of(page, "</script"), count_of(html_live_page(), "</script"));
  EXPECT_EQ(count_of(page, "{{style}}"), 1U) << "data is not looked at again";
}

}  // namespace
}  // namespace bitcycle
