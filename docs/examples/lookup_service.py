#!/usr/bin/env python3
"""A lookup service for vedette's providers of kind http, in Python's standard library alone.

It speaks the whole protocol (docs/providers.md), most of which it shares with the research service beside
it. Its addresses are made up from the person's name and domain, and nobody has validated them. Replace
`find` by your own.

    python3 lookup_service.py --port 8091 [--token-file F] [--signing-secret-file F] [--delay SECONDS]
"""
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import research_service  # noqa: E402


def find(lookup):
    """The candidates, the best first: {email, status, confidence, sources, quote}; email alone is required.

    An empty list says that nothing was found.
    """
    person = lookup["person"]
    name = person.get("name") or f"{person.get('first_name') or ''} {person.get('last_name') or ''}"
    words = re.findall(r"[a-z0-9]+", name.lower())
    if not words or not person.get("domain"):
        return []
    return [{"email": ".".join(words) + "@" + person["domain"], "status": "UNKNOWN", "confidence": 4,
             "sources": ["https://example.com/lookup"]}]


def reverse(lookup):
    """The person of an address: {name, first_name, last_name, title, company, location, linkedin, profiles, confidence,
    evidence, sources}; name alone is required. None says that nothing was found."""
    words = re.findall(r"[a-z]+", lookup["address"].split("@")[0].lower())
    if len(words) < 2:
        return None
    return {"name": " ".join(word.capitalize() for word in words), "confidence": 8, "title": "Engineer",
            "sources": ["https://example.com/lookup"]}


def age(lookup):
    """What is stated of the person's birth or age: {day, month, year, age, as_of, url, quote, confidence}; url, quote and
    one of year and age with as_of are required."""
    if not lookup["person"].get("name"):
        return []
    return [{"day": 6, "month": 5, "year": 1980, "url": "https://example.com/lookup", "quote": "born on 6 May 1980",
             "confidence": 8}]


class LookupService(research_service.Service):
    what = "lookup"
    id_member = "row_id"
    members = {"lookup": str, "mode": str, "person": dict}

    def answer_to(self, question, now):
        if question["lookup"] == "reverse_email":
            return {"person": reverse(question)}
        if question["lookup"] == "verify_age":
            return {"claims": age(question)}
        return {"candidates": find(question) if question["lookup"] == "find_email" else []}


def main():
    parser = research_service.make_parser("A lookup service with made-up answers.", port=8091)
    research_service.serve(parser, "lookup service", LookupService)


if __name__ == "__main__":
    main()
