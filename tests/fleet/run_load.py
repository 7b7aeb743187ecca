"""Clients of workflows: they start runs over rows that name the call they come from, and cancel some. What each asked and
was answered goes into the ledger as kind "run_start" and "run_cancel". The blocks compute and ask nobody: what rows of
providers do is job_load.py's."""

import threading
import time
import uuid

from load_clients import LoadClients

TENANTS = ["seeker", "locked"]
CLIENTS = 2
ROWS_MAX = 600
# A request with a key whose answer was lost is repeated so often.
REPEATS_MAX = 4


def chain(*blocks):
    return {"blocks": [{"sequence_number": n, "block_id": str(n), "block_name": name, "specs": specs}
                       for n, (name, specs) in enumerate(blocks)],
            "edges": [{"from_block_id": str(n), "to_block_id": str(n + 1)} for n in range(len(blocks) - 1)]}


DEFINITION = chain(
    ("webhook", {"dataframe_type": "LEAD"}),
    ("filter", {"conditions": [{"column": "n", "op": "not_contains", "value": "7"}]}),
    ("dedupe", {"columns": ["key"]}),
    ("select_columns", {"columns": [{"name": "n"}, {"name": "key"}]}))


def payload(call, rows):
    return [{"call": call, "n": str(n), "key": n % max(1, rows * 3 // 4)} for n in range(rows)]


def expected_parts(call, rows, part_rows):
    """What each block makes of each part, in the order of the blocks."""
    source = [[row["call"], row["n"], row["key"]] for row in payload(call, rows)]
    given = [source[at:at + part_rows] for at in range(0, rows, part_rows)]
    kept = [[row for row in part if "7" not in row[1]] for part in given]
    seen, single = set(), []
    for part in kept:
        single.append([row for row in part if not (row[2] in seen or seen.add(row[2]))])
    return [given, kept, single, [[[n, key] for _, n, key in part] for part in single]]


class RunLoad:
    """`load` has the tenants. Each client is a thread with randomness of its own."""

    def __init__(self, operator, ledger, load, seed):
        self.operator, self.ledger, self.load = operator, ledger, load
        self.lock = threading.Lock()
        self.calls = 0
        self.started = []  # (tenant, run)
        self.workflows = {name: operator.must(operator.api(
            load.tenant(name).key, "POST", "/workflows/create_workflow",
            {"workflow_name": "fleet", "workflow_definition": DEFINITION}))["id"] for name in TENANTS}
        self.clients = LoadClients(CLIENTS, seed, (0.5, 2), self.step)
        self.start, self.stop = self.clients.start, self.clients.stop

    def step(self, dice):
        if self.started and dice.random() < 0.25:
            self.cancel(*dice.choice(self.started[-4:]))
        else:
            self.ask(dice, self.load.tenant(dice.choices(TENANTS, [3, 1])[0]))

    def ask(self, dice, tenant):
        """Starts one run. Where the answer is lost and the request has a key, it is repeated."""
        with self.lock:
            self.calls += 1
            call = self.calls
        rows = dice.randint(1, ROWS_MAX)
        key = str(uuid.UUID(int=dice.getrandbits(128))) if dice.random() < 0.7 else None
        headers = {"Idempotency-Key": key} if key else {}
        for _ in range(REPEATS_MAX):
            status, answer = self.operator.api(
                tenant.key, "POST", f"/workflows/run?workflow_id={self.workflows[tenant.name]}",
                {"webhook_payload": payload(call, rows)}, headers)
            found = answer if isinstance(answer, dict) else {}
            run = found.get("job_id") if status == 200 else None
            self.ledger.add("run_start", call=call, tenant=tenant.id, rows=rows, status=status, run=run,
                            error=found.get("error"))
            if run:
                self.started.append((tenant, run))
            if not key or self.clients.over.is_set() or status not in (None, 409, 503):
                break

    def cancel(self, tenant, run):
        sent = time.monotonic()
        status, answer = self.operator.api(tenant.key, "POST", f"/workflows/cancel?job_id={run}", {})
        self.ledger.add("run_cancel", run=run, sent=round(sent, 4), status=status,
                        shown=answer.get("status") if status == 200 else None)
