#include "domain/channel/markup.h"

#include "base/text.h"

namespace vedette::domain {

std::string EscapeMarkup(std::string_view text) {
  std::string escaped;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    if (rest.starts_with("\xEF\xBF\xBE") || rest.starts_with("\xEF\xBF\xBF")) {
      escaped += base::kReplacementCharacter;
      i += 2;
    } else if (text[i] == '&') {
      escaped += "&amp;";
    } else if (text[i] == '<') {
      escaped += "&lt;";
    } else if (text[i] == '>') {
      escaped += "&gt;";
    } else if (text[i] == '"') {
      escaped += "&quot;";
    } else {
      escaped.push_back(text[i]);
    }
  }
  return escaped;
}

}  // namespace vedette::domain
