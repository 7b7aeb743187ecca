"""Investigations of a local site, by real processes: what bounds them, and that nothing is lost, doubled or charged twice when
the process dies at any point of the work."""

import http.client
import http.server
import signal
import threading
import time
import urllib.error
import uuid

import pytest

from conftest import Vedette, call, wait_until
from servers import QuietHandler
from test_lookups import money_adds_up

PATH = "/v1/atlas/investigations"
PRICE = 5  # credits and cents for each subject that is looked at
PART_MAX = 256  # entities of one part that the next step looks at
GAP_S = 0.005
# In this order, so that no part meets more than two deaths.
POINTS = ["after_job_start", "after_job_claim", "after_job_record_commit", "after_row", "before_job_record_commit",
          "before_job_end_commit", "after_job_end_commit"]


class Site(http.server.ThreadingHTTPServer):
    """`pages` pages, of which each links to `links` others; all are led to from the first, and from each other in cycles.
    Remembers when it was asked for what."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, pages, links):
        self.pages, self.links, self.asked = pages, links, []
        site = self

        class Handler(QuietHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                site.asked.append((time.monotonic(), self.path))
                number = self.path.removeprefix("/p/")
                known = number.isdigit() and int(number) < site.pages
                links = "".join(f'<a href="/p/{n}">page {n}</a> ' for n in site.targets(int(number))) if known else ""
                data = f"<html><body>{links}</body></html>".encode()
                self.send_response(200 if known else 404)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def targets(self, number):
        return [(number * self.links + k) % self.pages for k in range(1, self.links + 1)]

    def url(self, number):
        return f"http://127.0.0.1:{self.server_address[1]}/p/{number}"

    def walk(self, depth):
        """The pages that an investigation of the first one looks at, and what it finds, unless a budget ends it."""
        level, looked, found = [0], [], set()
        for _ in range(depth):
            following = []
            for page in level:
                looked.append(page)
                for target in self.targets(page):
                    if target == page:
                        continue
                    found.add(("relation", self.url(page), "page", self.url(target)))
                    entity = ("entity", self.url(target), "found", None)
                    if entity not in found and target != 0:
                        following.append(target)
                    found.add(entity)
            level = following[:PART_MAX]
        return looked, found

    def close(self):
        self.shutdown()
        self.server_close()


def site_of(pages, links):
    site = Site(pages, links)
    yield site
    site.close()


@pytest.fixture
def large_site():
    yield from site_of(1000, 20)


@pytest.fixture
def small_site():
    yield from site_of(7, 2)


@pytest.fixture(scope="module")
def service(binary, postgres, tmp_path_factory):
    name = postgres.new_name()
    postgres.create(name)
    vedette = Vedette(binary, postgres.url(name), tmp_path_factory.mktemp("investigations"), {
        "VEDETTE_INVESTIGATIONS_PROVIDERS": "website",
        "VEDETTE_WORKER_PER_HOST_GAP_MS": str(int(GAP_S * 1000))}).migrate().start()
    yield vedette
    assert vedette.stop() == 0, vedette.log()
    postgres.drop(name)


def body_of(site, **more):
    return {"seeds": [{"type": "url", "value": site.url(0)}], **more}


def findings_of(tenant, investigation):
    """All of them, page by page while they arrive; none comes twice."""
    items, cursor = [], ""

    def read():
        nonlocal cursor
        page = {"next_cursor": ""}
        while page["next_cursor"] is not None:
            page = tenant.get(f"{PATH}/{investigation}/findings?limit=50{cursor}")
            items.extend(page["items"])
            cursor = "&cursor=" + page["resume_cursor"]
        return page["complete"]

    wait_until("every finding", read, 120)
    assert len({item["id"] for item in items}) == len(items), "a finding is there twice"
    return items


def what(item):
    return item["kind"], item["subject"]["value"], item["predicate"], item["object"] and item["object"]["value"]


def investigate(service, site, **more):
    """The investigation when it has ended, and its findings; its charge is that of the subjects that were looked at."""
    tenant = service.organisation()
    investigation = tenant.post(PATH, body_of(site, **more))["investigation_id"]
    items = findings_of(tenant, investigation)
    view = tenant.get(f"{PATH}/{investigation}")
    assert view["status"] == "completed", view
    assert view["findings_count"] == len(items) and view["subjects_failed"] == 0
    assert view["charge_amount"] == view["subjects_examined"] * PRICE
    assert float(tenant.money()["balance"]) == 100_000 - view["charge_amount"]
    return view, items


def test_depth_bounds_an_investigation_of_a_thousand_linked_pages(service, large_site):
    view, items = investigate(service, large_site, depth=3, findings_max=10_000)
    looked, found = large_site.walk(3)
    assert len(looked) == 1 + 20 + PART_MAX
    assert {what(item) for item in items} == found
    assert view["subjects_examined"] == len(looked) and not view["budget_reached"]
    pages = {path for _, path in large_site.asked if path != "/robots.txt"}
    assert pages == {f"/p/{page}" for page in looked}, "pages that the site has and the depth leaves out are not asked for"
    times = [at for at, _ in large_site.asked]
    assert max(times) - min(times) >= 0.8 * GAP_S * (len(times) - 2), "the host was asked more often than its gap allows"


def test_findings_bound_an_investigation_to_the_finding(service, large_site):
    view, items = investigate(service, large_site, depth=3, findings_max=333)
    assert len(items) == 333 and view["budget_reached"]
    assert "ended here" in items[-1]["evidence"]
    looked, found = large_site.walk(3)
    assert {what(item) for item in items} < found
    assert view["subjects_examined"] < len(looked)


def test_credits_bound_an_investigation_to_the_millicredit(service, large_site):
    view, items = investigate(service, large_site, depth=3, findings_max=10_000, credits_max=14 * PRICE)
    assert view["subjects_examined"] == 14 and view["charge_amount"] == 14 * PRICE and view["budget_reached"]
    looked, _ = large_site.walk(2)
    pages = {path for _, path in large_site.asked if path != "/robots.txt"}
    assert pages == {f"/p/{page}" for page in looked[:14]}
    kept = {item["subject"]["value"] for item in items if item["kind"] == "entity"}
    assert {large_site.url(page) for page in looked[1:]} <= kept, "what is not looked at is kept"


def test_deaths_at_every_point_lose_and_double_no_finding_and_no_charge(binary, database, tmp_path, small_site):
    vedette = Vedette(binary, database.url, tmp_path, {
        "VEDETTE_INVESTIGATIONS_PROVIDERS": "website", "VEDETTE_WORKER_LEASE_MS": "1500",
        "VEDETTE_TESTING_SMALL_STEPS": "true"}).migrate().start()
    tenant = vedette.organisation()
    vedette.kill()
    headers = {"x-api-key": tenant.api_key, "Idempotency-Key": str(uuid.uuid4())}
    body = body_of(small_site, depth=3)
    for point in POINTS:
        vedette.environment["VEDETTE_TESTING_FAULT_POINTS"] = f"{point}:kill:1"
        vedette.start(ready=point == POINTS[0])
        if point == POINTS[0]:
            try:
                call("POST", vedette.api + PATH, body, headers)
            except (urllib.error.URLError, ConnectionError, http.client.HTTPException):
                pass  # nobody knows whether it was started
        wait_until(f"the death at {point}", lambda: vedette.process.poll() is not None)
        assert vedette.process.returncode == -signal.SIGKILL, vedette.log()[-3000:]
    del vedette.environment["VEDETTE_TESTING_FAULT_POINTS"]
    vedette.start()
    again = call("POST", vedette.api + PATH, body, headers)
    assert again.status == 200 and again.json["already_started"], again
    investigation = again.json["investigation_id"]
    items = findings_of(tenant, investigation)
    looked, found = small_site.walk(3)
    assert len(looked) == small_site.pages, "every page is led to, and each once"
    assert {what(item) for item in items} == found and len(items) == len(found)
    view = tenant.get(f"{PATH}/{investigation}")
    assert (view["status"], view["subjects_examined"], view["findings_count"]) == ("completed", len(looked), len(found))
    assert view["charge_amount"] == len(looked) * PRICE and not view["budget_reached"]
    assert database.value("select array_agg(seq order by seq) from finding") == list(range(1, len(found) + 1))
    assert database.value("select count(*) from job") == 1
    assert float(tenant.money()["balance"]) == 100_000 - len(looked) * PRICE
    assert money_adds_up(database)
    assert vedette.stop() == 0, vedette.log()
