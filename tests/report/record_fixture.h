// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "campaign/campaign.h"

namespace ako::testing {

/// A small finished campaign with a baseline, an accepted and a rolled-back round and a final verification.
/// `hostile` texts (quotes, markup, newlines, invalid UTF-8, "</script>") stand wherever a user or candidate
/// could have put them.
CampaignRecord example_record(bool hostile);

}  // namespace ako::testing
