"""Clients of workflows: they start runs over rows that name the call they come from, and cancel some. What each asked and
was answered goes into the ledger as kind "run_start" and "run_cancel". Some of the runs ask the research service about
their rows."""

import threading
import time
import uuid

from load_clients import LoadClients
from run_schedules import RunSchedules

TENANTS = ["seeker", "locked"]
CLIENTS = 2
ROWS_MAX = 600
# A request with a key whose answer was lost is repeated so often.
REPEATS_MAX = 4


def tree(*blocks):
    """A definition of blocks: (name, specs, the place of its input or None)."""
    return {"blocks": [{"sequence_number": n, "block_id": str(n), "block_name": name, "specs": specs}
                       for n, (name, specs, _) in enumerate(blocks)],
            "edges": [{"from_block_id": str(before), "to_block_id": str(n)}
                      for n, (_, _, before) in enumerate(blocks) if before is not None]}


def chain(*blocks):
    return tree(*[(name, specs, n - 1 if n else None) for n, (name, specs) in enumerate(blocks)])


COMPUTED = [
    ("filter", {"conditions": [{"column": "n", "op": "not_contains", "value": "7"}]}),
    ("dedupe", {"columns": ["key"]}),
    ("select_columns", {"columns": [{"name": "n"}, {"name": "key"}, {"name": "call"}]})]
STRUCT = {"price": "the price", "state": "the state"}
# By the name of their workflow. Those that ask somebody do it in the block ENRICHES, about what the blocks before make.
DEFINITIONS = {
    "computed": chain(("webhook", {"dataframe_type": "LEAD"}), *COMPUTED),
    "lead": chain(("webhook", {"dataframe_type": "LEAD"}), *COMPUTED, ("enrich_lead", {"struct": STRUCT})),
    "company": chain(("webhook", {"dataframe_type": "COMPANY"}), *COMPUTED, ("enrich_company", {"struct": STRUCT})),
}
ENRICHES = len(COMPUTED) + 1
# Rows that are asked about are in small parts, and many parts of few rows are enough.
ASKED_ROWS_MAX = 24


def payload(call, rows):
    return [{"call": call, "n": str(n), "key": n % max(1, rows * 3 // 4)} for n in range(rows)]


def expected_parts(call, sizes):
    """What each block that computes makes of each part, in the order of the blocks. `sizes`: the source's parts'."""
    source = [[row["call"], row["n"], row["key"]] for row in payload(call, sum(sizes))]
    given, at = [], 0
    for size in sizes:
        given.append(source[at:at + size])
        at += size
    kept = [[row for row in part if "7" not in row[1]] for part in given]
    seen, single = set(), []
    for part in kept:
        single.append([row for row in part if not (row[2] in seen or seen.add(row[2]))])
    return [given, kept, single, [[[n, key, of] for of, n, key in part] for part in single]]


class RunLoad:
    """`load` has the tenants. Each client is a thread with randomness of its own."""

    def __init__(self, operator, ledger, load, seed):
        self.operator, self.ledger, self.load = operator, ledger, load
        self.lock = threading.Lock()
        self.calls = 0
        self.started = []  # (tenant, run)
        self.workflows = {(name, flow): operator.must(operator.api(
            load.tenant(name).key, "POST", "/workflows/create_workflow",
            {"workflow_name": flow, "workflow_definition": definition}))["id"]
            for name in TENANTS for flow, definition in DEFINITIONS.items()}
        self.schedules = RunSchedules(operator, ledger, load, self.workflows, payload)
        self.clients = LoadClients(CLIENTS, seed, (0.5, 2), self.step)
        self.start, self.stop = self.clients.start, self.clients.stop

    def step(self, dice):
        if dice.random() < 0.15:
            self.schedules.step(dice)
        elif self.started and dice.random() < 0.25:
            self.cancel(*dice.choice(self.started[-4:]))
        else:
            self.ask(dice, self.load.tenant(dice.choices(TENANTS, [3, 1])[0]))

    def ask(self, dice, tenant):
        """Starts one run. Where the answer is lost and the request has a key, it is repeated."""
        with self.lock:
            self.calls += 1
            call = self.calls
        flow = dice.choices(list(DEFINITIONS), [2, 1, 1])[0]
        rows = dice.randint(1, ROWS_MAX if flow == "computed" else ASKED_ROWS_MAX)
        key = str(uuid.UUID(int=dice.getrandbits(128))) if dice.random() < 0.7 else None
        headers = {"Idempotency-Key": key} if key else {}
        for _ in range(REPEATS_MAX):
            status, answer = self.operator.api(
                tenant.key, "POST", f"/workflows/run?workflow_id={self.workflows[tenant.name, flow]}",
                {"webhook_payload": payload(call, rows)}, headers)
            found = answer if isinstance(answer, dict) else {}
            run = found.get("job_id") if status == 200 else None
            self.ledger.add("run_start", call=call, tenant=tenant.id, flow=flow, rows=rows, status=status, run=run,
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
