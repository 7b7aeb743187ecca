"""Clients of jobs: they start lookups, wait for some, leave, repeat, cancel and look. What each asked and was answered
goes into the ledger as kind "start", "cancel" and "view"."""

import threading
import time
import uuid

from cluster import AWAY_MAX_S
from load_clients import LoadClients

TENANTS = ["seeker", "poor", "team", "locked"]
CLIENTS = 5
ROWS_MAX = 40
# A request with a key whose answer was lost is repeated so often.
REPEATS_MAX = 4
ENDS = ["completed", "failed", "cancelled", "terminated", "timed_out"]


def person(call, row):
    """A name that says which request it comes from, and which row."""
    return f"Call{call} Row{row}"


class JobLoad:
    """`load` has the tenants. Each client is a thread with randomness of its own."""

    def __init__(self, operator, receiver, ledger, load, seed):
        self.operator, self.receiver, self.ledger, self.load = operator, receiver, ledger, load
        self.lock = threading.Lock()
        self.calls = 0
        self.started = []  # (tenant, job id)
        self.clients = LoadClients(CLIENTS, seed, (0.05, 0.4), self.step)
        self.start, self.stop = self.clients.start, self.clients.stop

    def step(self, dice):
        """One thing at random."""
        pick = dice.random()
        tenant = self.load.tenant(dice.choices(TENANTS, [6, 2, 1, 2])[0])
        if pick < 0.7 or not self.started:
            self.ask(dice, tenant)
        elif pick < 0.85:
            self.cancel(*dice.choice(self.started[-8:]))
        else:
            self.look(*dice.choice(self.started[-30:]))

    def ask(self, dice, tenant):
        waited, bulk = dice.random() < 0.4, dice.random() < 0.5
        wait_s = dice.choice([1, 2, 4, 8]) if waited else None
        # A client that leaves early: without a key its job is cancelled, with one it goes on.
        patience = 0.3 if waited and dice.random() < 0.2 else None
        self.find(tenant, dice.randint(1, ROWS_MAX) if bulk else None, wait_s=wait_s, patience_s=patience,
                  key=str(uuid.UUID(int=dice.getrandbits(128))) if dice.random() < 0.5 else None,
                  hook=dice.random() < 0.5, copies=dice.random() < 0.2, again=dice.random() < 0.2)

    def find(self, tenant, rows, wait_s=None, key=None, hook=False, copies=False, again=False, patience_s=None):
        """Starts one job, and returns the last answer. rows: None for one lead. The request is repeated where its
        answer was lost and it has a key, and once more if `again`."""
        with self.lock:
            self.calls += 1
            number = self.calls
        leads = [{"name": person(number, row), "domain": "people.example", "row": row} for row in range(rows or 1)]
        if copies and rows:
            leads.append(dict(leads[0], row=rows))
        body = {"leads": leads} if rows else {"lead": leads[0]}
        if hook:
            body["webhook_url"] = self.receiver.callback_url(tenant.name)
        path = "/find-email" + ("-bulk" if rows else "") + ("" if wait_s else "-async")
        headers = {"Prefer": f"wait={wait_s}"} if wait_s else {}
        if key:
            headers["Idempotency-Key"] = key
        answer = (None, None)
        for attempt in range(REPEATS_MAX):
            answer = self._send(tenant, number, path, body, headers, len(leads), patience_s or (wait_s or 0) + 5)
            lost = answer[0] is None or answer[0] == 503 or answer[0] == 409
            if not key or self.clients.over.is_set() or not (lost or (again and attempt == 0)):
                break
            patience_s = None
        return answer

    def _send(self, tenant, number, path, body, headers, rows, timeout_s):
        sent = time.monotonic()
        status, answer = self.operator.api(tenant.key, "POST", path, body, headers, timeout_s)
        found = answer if isinstance(answer, dict) else {}
        job = found.get("task_id") or (found.get("details") or {}).get("task_id")
        results = None
        if status == 200 and not path.endswith("-async"):
            results = found.get("results") or [found]
        self.ledger.add("start", call=number, tenant=tenant.id, path=path, rows=rows, sent=round(sent, 4), status=status,
                        job=job, key=headers.get("Idempotency-Key"), hook="webhook_url" in body,
                        again=found.get("already_started"), error=found.get("error") if status != 200 else None,
                        results=results)
        if job:
            self.started.append((tenant, job))
        return status, answer

    def cancel(self, tenant, job):
        sent = time.monotonic()
        status, answer = self.operator.api(tenant.key, "POST", f"/job-status/{job}/cancel", {})
        self.ledger.add("cancel", job=job, sent=round(sent, 4), status=status,
                        view=answer if status == 200 else None)
        return status, answer

    def look(self, tenant, job):
        status, answer = self.operator.api(tenant.key, "GET", f"/job-status/{job}")
        if status == 200:
            self.ledger.add("view", job=job, view=answer)
        return status, answer

    def look_at_all(self):
        """The last word about every job that a client knows, for the checker: job -> view. It is asked for again where the
        database is away, as every client is told to."""
        views = {}
        for tenant, job in dict.fromkeys(self.started):
            until = time.monotonic() + AWAY_MAX_S
            status, view = self.look(tenant, job)
            while status in (None, 503) and time.monotonic() < until:
                time.sleep(0.2)
                status, view = self.look(tenant, job)
            assert status == 200, f"the job {job} is shown as {status}: {view}"
            views[job] = view
        return views
