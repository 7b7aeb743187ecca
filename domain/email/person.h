#pragma once

#include <string>

namespace vedette::domain {

// What is known of a person. Every field is trimmed; an empty one is not known. It is what services
// are told: a lead's other members stay with us.
struct Person {
  std::string name;
  std::string first_name;
  std::string last_name;
  std::string company;
  std::string domain;  // of the company, lower case, without "www."
  std::string linkedin;
  std::string email;           // as the client gave it
  std::string personal_email;  // as the client gave it
  std::string title;
  std::string location;

  bool operator==(const Person&) const = default;
};

}  // namespace vedette::domain
