#include "pages/page_reading.h"

namespace vedette::pages {
namespace {

// The memory of the containers of one field, about, beside what they hold.
constexpr std::size_t kFieldOverheadBytes = 256;

}  // namespace

std::size_t BytesOf(const PageReading& reading) {
  std::size_t bytes = sizeof(PageReading) + reading.url.size();
  if (reading.text) bytes += reading.text->url.size() + reading.text->text.size();
  if (const auto* observation = std::get_if<domain::Observation>(&reading.result)) {
    for (const auto& [name, field] : observation->fields) {
      bytes += kFieldOverheadBytes + name.size() + field.evidence.size();
      if (field.value.is_string()) bytes += field.value.get_ref<const std::string&>().size();
      for (const std::string& source : field.sources) bytes += source.size();
    }
    for (const auto& [name, failure] : observation->unread) {
      bytes += kFieldOverheadBytes + name.size() + failure.message.size();
    }
  }
  return bytes;
}

}  // namespace vedette::pages
