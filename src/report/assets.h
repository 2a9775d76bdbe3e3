// SPDX-License-Identifier: Apache-2.0
// The page's parts, embedded in the program at build time (cmake/AkoWeb.cmake).
#pragma once

#include <string_view>

namespace ako::assets {

std::string_view page();           // web/report.html with the marks /*STYLE*/ /*CHART*/ /*SCRIPT*/ /*DATA*/
std::string_view style();          // web/report.css
std::string_view script();         // web/report.js
std::string_view chart_library();  // Chart.js (MIT), Debian's libjs-chart.js

}  // namespace ako::assets
