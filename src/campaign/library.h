// SPDX-License-Identifier: Apache-2.0
// The column "library": the best kernel that stands beside an outside implementation, at the end of a
// campaign. A help to readers: the campaign ends as well without.
#pragma once

#include "campaign/inquiry.h"

namespace ako {

/// Asks the judge for the library (`name`) and `best` in one sitting, all shapes. A library that is wrong,
/// fails or finds no time left is a comparison with its reason. Error: the user's wish to stop.
Result<LibraryComparison> time_library(const std::string& name, const Candidate& best, const CampaignRecord&,
                                       double spent, Inquiry&);

}  // namespace ako
