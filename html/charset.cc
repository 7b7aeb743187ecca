#include "html/charset.h"

#include <iconv.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/text.h"

namespace vedette::html {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kSniffedBytes = 4096;
constexpr std::string_view kCharset = "charset";
constexpr std::string_view kUtf8 = "UTF-8";
constexpr std::string_view kWindows1252 = "CP1252";

// By iconv's names the labels of the WHATWG's Encoding standard (latin1 is windows-1252 on the
// web).
struct Encoding {
  std::string_view iconv_name;
  std::string_view labels;  // a space between two
};

constexpr Encoding kEncodings[] = {
    {kUtf8, "utf-8 utf8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8"},
    {kWindows1252,
     "windows-1252 cp1252 x-cp1252 ascii us-ascii ansi_x3.4-1968 iso-8859-1 iso8859-1 iso88591 "
     "iso_8859-1 iso_8859-1:1987 iso-ir-100 latin1 l1 cp819 ibm819 csisolatin1"},
    {"ISO-8859-2",
     "iso-8859-2 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 iso-ir-101 latin2 l2 csisolatin2"},
    {"ISO-8859-3",
     "iso-8859-3 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 iso-ir-109 latin3 l3 csisolatin3"},
    {"ISO-8859-4",
     "iso-8859-4 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 iso-ir-110 latin4 l4 csisolatin4"},
    {"ISO-8859-5",
     "iso-8859-5 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988 iso-ir-144 cyrillic "
     "csisolatincyrillic"},
    {"ISO-8859-6",
     "iso-8859-6 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987 iso-8859-6-e iso-8859-6-i "
     "iso-ir-127 arabic asmo-708 ecma-114 csiso88596e csiso88596i csisolatinarabic"},
    {"ISO-8859-7",
     "iso-8859-7 iso8859-7 iso88597 iso_8859-7 iso_8859-7:1987 iso-ir-126 greek greek8 ecma-118 "
     "elot_928 sun_eu_greek csisolatingreek"},
    {"ISO-8859-8",
     "iso-8859-8 iso8859-8 iso88598 iso_8859-8 iso_8859-8:1988 iso-8859-8-e iso-8859-8-i "
     "iso-ir-138 hebrew visual logical csiso88598e csiso88598i csisolatinhebrew"},
    {"CP1254",
     "windows-1254 cp1254 x-cp1254 iso-8859-9 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 "
     "iso-ir-148 latin5 l5 csisolatin5"},
    {"ISO-8859-10", "iso-8859-10 iso8859-10 iso885910 iso-ir-157 latin6 l6 csisolatin6"},
    {"CP874", "windows-874 dos-874 iso-8859-11 iso8859-11 iso885911 tis-620"},
    {"ISO-8859-13", "iso-8859-13 iso8859-13 iso885913"},
    {"ISO-8859-14", "iso-8859-14 iso8859-14 iso885914"},
    {"ISO-8859-15", "iso-8859-15 iso8859-15 iso885915 iso_8859-15 latin9 l9 csisolatin9"},
    {"ISO-8859-16", "iso-8859-16"},
    {"CP1250", "windows-1250 cp1250 x-cp1250"},
    {"CP1251", "windows-1251 cp1251 x-cp1251"},
    {"CP1253", "windows-1253 cp1253 x-cp1253"},
    {"CP1255", "windows-1255 cp1255 x-cp1255"},
    {"CP1256", "windows-1256 cp1256 x-cp1256"},
    {"CP1257", "windows-1257 cp1257 x-cp1257"},
    {"CP1258", "windows-1258 cp1258 x-cp1258"},
    {"KOI8-R", "koi8-r koi8 koi8_r koi cskoi8r"},
    {"KOI8-U", "koi8-u koi8-ru"},
    {"CP866", "ibm866 cp866 866 csibm866"},
    {"MACINTOSH", "macintosh mac x-mac-roman csmacintosh"},
    {"MAC-CYRILLIC", "x-mac-cyrillic x-mac-ukrainian"},
    {"GB18030",
     "gb18030 gbk x-gbk gb2312 gb_2312 gb_2312-80 chinese iso-ir-58 csgb2312 csiso58gb231280"},
    {"BIG5-HKSCS", "big5 big5-hkscs cn-big5 x-x-big5 csbig5"},
    {"EUC-JP", "euc-jp x-euc-jp cseucpkdfmtjapanese"},
    {"ISO-2022-JP", "iso-2022-jp csiso2022jp"},
    {"CP932", "shift_jis shift-jis sjis x-sjis ms_kanji ms932 windows-31j csshiftjis"},
    {"CP949",
     "euc-kr korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 iso-ir-149 windows-949 cseuckr "
     "csksc56011987"},
    {"UTF-16LE", "utf-16le utf-16 unicode ucs-2 iso-10646-ucs-2 csunicode unicodefeff"},
    {"UTF-16BE", "utf-16be unicodefffe"},
};

std::string_view IconvName(std::string_view label) {
  if (label.empty() || label.find(' ') != std::string_view::npos) return {};
  for (const Encoding& encoding : kEncodings) {
    const std::string_view labels = encoding.labels;
    for (auto at = labels.find(label); at != std::string_view::npos;
         at = labels.find(label, at + 1)) {
      const std::size_t end = at + label.size();
      const bool begins = at == 0 || labels[at - 1] == ' ';
      if (begins && (end == labels.size() || labels[end] == ' ')) return encoding.iconv_name;
    }
  }
  return {};
}

bool IsSpace(char c) {
  return base::IsSpace(c, base::kMarkupSpace);
}

// The value behind `name` and "=" in `text` (lower case), without quotes; empty where there is
// none.
std::string Parameter(std::string_view text, std::string_view name) {
  for (auto at = text.find(name); at != std::string_view::npos; at = text.find(name, at)) {
    at += name.size();
    std::size_t i = at;
    while (i < text.size() && IsSpace(text[i])) ++i;
    if (i >= text.size() || text[i] != '=') continue;
    ++i;
    while (i < text.size() && (IsSpace(text[i]) || text[i] == '"' || text[i] == '\'')) ++i;
    const std::size_t end = std::min(text.find_first_of(" \t\r\n\f\"';,/>", i), text.size());
    return std::string(text.substr(i, end - i));
  }
  return {};
}

// What a text of ASCII says of its encoding, by iconv's name: as it could be read, it is not in
// UTF-16.
std::string_view OfAsciiText(std::string_view label) {
  const std::string_view encoding = IconvName(label);
  return encoding.starts_with("UTF-16") ? kUtf8 : encoding;
}

std::string_view MetaEncoding(std::string_view body) {
  const std::string head = base::AsciiLower(body.substr(0, kSniffedBytes));
  constexpr std::string_view kMeta = "<meta";
  for (auto at = head.find(kMeta); at != std::string::npos; at = head.find(kMeta, at)) {
    at += kMeta.size();
    const std::string_view tag = std::string_view(head).substr(at, head.find('>', at) - at);
    const std::string_view encoding = OfAsciiText(Parameter(tag, kCharset));
    if (!encoding.empty()) return encoding;
  }
  return {};
}

// What an XML declaration says, by iconv's name.
std::string_view XmlEncoding(std::string_view body) {
  if (body.starts_with("<\0?\0"sv)) return "UTF-16LE";
  if (body.starts_with("\0<\0?"sv)) return "UTF-16BE";
  if (!body.starts_with("<?xml")) return {};
  body = body.substr(0, kSniffedBytes);
  return OfAsciiText(Parameter(base::AsciiLower(body.substr(0, body.find('>'))), "encoding"));
}

std::string Convert(std::string_view body, std::string_view encoding) {
  if (encoding == kUtf8) return base::RepairUtf8(body);
  const iconv_t converter = iconv_open("UTF-8", std::string(encoding).c_str());
  if (converter == reinterpret_cast<iconv_t>(-1)) return base::RepairUtf8(body);
  std::string out;
  std::array<char, 16384> buffer;
  char* in = const_cast<char*>(body.data());  // iconv's signature; it does not write there
  std::size_t in_left = body.size();
  // Some encodings hold a letter back, as a mark that follows may be put on it.
  const auto flush = [&] {
    char* to = buffer.data();
    std::size_t to_left = buffer.size();
    iconv(converter, nullptr, nullptr, &to, &to_left);
    out.append(buffer.data(), buffer.size() - to_left);
  };
  while (in_left > 0) {
    char* to = buffer.data();
    std::size_t to_left = buffer.size();
    const bool failed =
        iconv(converter, &in, &in_left, &to, &to_left) == static_cast<std::size_t>(-1);
    out.append(buffer.data(), buffer.size() - to_left);
    if (!failed || errno == E2BIG) continue;
    // A bad or cut sequence: one character lost, and on.
    flush();
    base::AppendUtf8(0xFFFD, &out);
    ++in;
    --in_left;
  }
  flush();
  iconv_close(converter);
  return base::RepairUtf8(out);
}

}  // namespace

MediaType ParseMediaType(std::string_view content_type) {
  const std::string lower = base::AsciiLower(content_type);
  const auto semicolon = lower.find(';');
  MediaType out{std::string(base::Trim(std::string_view(lower).substr(0, semicolon))), {}};
  if (semicolon != std::string::npos) {
    out.charset = Parameter(std::string_view(lower).substr(semicolon), kCharset);
  }
  return out;
}

std::string DecodeBody(std::string_view body, const MediaType& type) {
  if (body.starts_with(base::kByteOrderMark)) {
    return base::RepairUtf8(body.substr(base::kByteOrderMark.size()));
  }
  if (body.starts_with("\xFE\xFF")) return Convert(body.substr(2), "UTF-16BE");
  if (body.starts_with("\xFF\xFE")) return Convert(body.substr(2), "UTF-16LE");
  std::string_view encoding = IconvName(base::AsciiLower(base::Trim(type.charset)));
  // In XML a <meta> is text of somebody else; in HTML an XML declaration is believed last.
  const bool is_html = type.type.empty() || type.type == "text/html";
  if (encoding.empty()) encoding = is_html ? MetaEncoding(body) : XmlEncoding(body);
  if (encoding.empty()) encoding = is_html ? XmlEncoding(body) : MetaEncoding(body);
  if (encoding.empty()) encoding = base::IsValidUtf8(body) ? kUtf8 : kWindows1252;
  return Convert(body, encoding);
}

}  // namespace vedette::html
