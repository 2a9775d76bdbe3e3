// SPDX-License-Identifier: Apache-2.0
// The page is a template, a style sheet, a charting library, a script, and the record's data as JSON.
// Everything a user or a candidate wrote travels in the JSON alone and reaches the page as text nodes, so
// that nothing of it is ever markup.
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "report/assets.h"
#include "report/data.h"
#include "report/report.h"

namespace ako {
namespace {

void replace_mark(std::string& page, std::string_view mark, std::string_view content) {
  if (auto at = page.find(mark); at != std::string::npos) page.replace(at, mark.size(), content);
}

/// JSON that can stand inside <script>: no "<" at all, and no line separators that JavaScript would end a
/// string at.
std::string embeddable(const nlohmann::json& json) {
  std::string text = json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  std::string safe;
  safe.reserve(text.size() + text.size() / 16);
  for (char c : text) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

}  // namespace

Result<std::string> report_html(const CampaignRecord& record) {
  AKO_TRY(ReportData data, report_data(record));
  std::string page(assets::page());
  // The data goes in last: whatever it holds is never searched for marks.
  replace_mark(page, "/*STYLE*/", assets::style());
  replace_mark(page, "/*CHART*/", assets::chart_library());
  replace_mark(page, "/*SCRIPT*/", assets::script());
  replace_mark(page, "/*DATA*/", embeddable(to_json(record, data)));
  return page;
}

Result<void> write_report(const CampaignRecord& record) {
  AKO_TRY(std::string html, report_html(record));
  AKO_CHECK(write_file(record.folder / "report.html", html));
  return write_file(record.folder / "report.md", report_markdown(record));
}

}  // namespace ako
