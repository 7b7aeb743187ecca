#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/kit/reply.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/uuid.h"
#include "net/http_server.h"

namespace vedette::rest {

// A request's body read as a JSON object, and its members one by one. Pure.

// What a port, or a route, accepts as a body.
struct BodyRules {
  // What no body at all stands for: nothing that could be read (400), or {}.
  enum class Absent { kMalformed, kEmptyObject };

  std::size_t bytes_max = 0;  // only told in the 413: the server keeps the limit
  std::string_view advice{};  // goes on with the sentence of the 413, such as "; use pages"
  Absent absent = Absent::kMalformed;
  // The one member that may be large, if there is one. If it is an array, its elements stay text,
  // so that only one of them at a time takes the memory of a parsed value; more elements than
  // `elements_max` are counted, but not kept.
  std::string_view large_member{};
  std::size_t elements_max = 0;
  base::JsonLimits json{};  // depth, members and values; of the elements the depth alone
};

// A body that is an object. `elements` point into the request's body.
struct JsonBody {
  base::Json members = base::Json::object();  // the large member is [] here, if it is an array
  std::optional<base::JsonElements> elements{};
};

// Throws a 415 where the body is compressed: nobody unpacks it.
void CheckCoding(const net::ServerRequest& request);

// Throws the Refusal of what the header and the length say: 413 or 415. A body of no type is taken
// for JSON, as is one of application/json or application/...+json in UTF-8.
void CheckBody(const net::ServerRequest& request, const BodyRules& rules);

std::optional<base::JsonError> ParseBody(std::string_view text, const BodyRules& rules,
                                         JsonBody* out);

// CheckBody, then the parsed body. Refuses with 413, 415, 400 for what is malformed, too deep or no
// object, or 422 for too many members or values.
JsonBody ReadJsonBody(const net::ServerRequest& request, const BodyRules& rules);

// The bytes that parsing and reading a body takes at most beside its text, without looking closely:
// what its elements become, and the values outside of them. 0 for a small one: those that are being
// read at once are bounded by the threads that read them.
std::size_t ParseCost(std::string_view text, const BodyRules& rules);

enum class Presence { kOptional, kRequired };

// What null stands for: for no member, or for a value of the wrong type.
enum class Nulls { kAbsent, kWrong };

// Reads the members of a body's object one by one. Each call names a member and makes it known;
// what is wrong becomes a problem, and the call gives nothing, as for a member that is absent.
// Finish() adds the members that nobody asked for. Pure; one thread.
//
// There are two ways to use it. A body that others go on reading (its large member, say) is parsed
// by ReadJsonBody, and the caller keeps body and problems. Where the members are all there is,
// the reader parses the request's body itself, and Check() follows the last member.
class BodyReader {
 public:
  // `body` is an object; it and `problems` must outlive this object. Null counts as absent.
  BodyReader(const base::Json& body, Problems* problems);
  // Everything that is given is copied or read here. Refuses as ReadJsonBody does.
  BodyReader(const net::ServerRequest& request, const BodyRules& rules, Nulls nulls);
  BodyReader(const BodyReader&) = delete;
  BodyReader& operator=(const BodyReader&) = delete;

  // Whether the member is there at all, null or not.
  bool Has(std::string_view name);
  // Whether it is there and null.
  bool IsNull(std::string_view name);
  // The member, unless absent; a missing required one is a problem.
  const base::Json* Member(std::string_view name, Presence presence);

  // Lengths in characters.
  std::optional<std::string> Text(std::string_view name, Presence presence, std::size_t chars_min,
                                  std::size_t chars_max);
  // A text that no problem shows, whatever is wrong with it. From here on none shows anything of
  // the body: a secret may stand in a member that was not meant.
  std::optional<std::string> Secret(std::string_view name, Presence presence, std::size_t chars_min,
                                    std::size_t chars_max);
  // A text with at least one character that is not white space.
  std::optional<std::string> FilledText(std::string_view name, Presence presence,
                                        std::size_t chars_max);
  std::optional<int> Integer(std::string_view name, Presence presence, int min, int max);
  std::optional<double> Number(std::string_view name, Presence presence, double min, double max);
  std::optional<bool> Boolean(std::string_view name, Presence presence);
  std::optional<base::Uuid> Id(std::string_view name, Presence presence);
  std::optional<base::Timestamp> Time(std::string_view name, Presence presence);  // RFC 3339
  // Credits as millicredits.
  std::optional<std::int64_t> Credits(std::string_view name, Presence presence);
  // The object's JSON text, of at most `bytes_max`.
  std::optional<std::string> Object(std::string_view name, Presence presence,
                                    std::size_t bytes_max);
  std::optional<std::vector<std::string>> Texts(std::string_view name, Presence presence);
  // Texts out of `known`, each once.
  std::optional<std::vector<std::string>> Names(std::string_view name, Presence presence,
                                                const std::vector<std::string_view>& known);

  // Adds a problem for a member that may be absent, but not null. `kind` is a type's name.
  void RefuseNull(std::string_view name, std::string_view kind);
  // Adds a problem for a member that has the right type, but is not acceptable.
  void Refuse(std::string_view name, std::string_view msg);
  void Finish();

  // After the last member: Finish(), then Problems::Check().
  void Check();

  static base::Json Loc(std::string_view name) { return base::Json::array({"body", name}); }

 private:
  void Wrong(std::string_view name, std::string_view type, std::string_view msg,
             const base::Json& value, const base::Json& ctx = nullptr);

  JsonBody own_body_;  // where the reader parses the body itself, as own_problems_
  Problems own_problems_;
  const base::Json& body_;
  Problems* const problems_;
  const Nulls nulls_;
  bool has_secret_ = false;
  std::set<std::string, std::less<>> known_;
};

}  // namespace vedette::rest
