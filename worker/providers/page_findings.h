#pragma once

#include <string>
#include <vector>

#include "base/uuid.h"
#include "domain/investigation/finding.h"
#include "pages/addresses_on_page.h"

// What a page says of a subject of an investigation. Pure.
namespace vedette::worker {

inline constexpr std::size_t kPageLinksFoundMax = 40;  // of one page

// Addresses on the page, persons of its structured data, and where its links lead: pages of the
// same site as urls, other sites as domains. Each once. `url`: of the page, its only source.
std::vector<domain::Finding> PageFindings(const base::Uuid& investigation_id,
                                          const domain::Subject& subject, const std::string& url,
                                          const pages::AddressesOnPage& page);

}  // namespace vedette::worker
