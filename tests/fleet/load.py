"""Tenants with monitors of all sizes, and what their owners and the operator do to them at random."""

import time

from channels import CHANGED, COMPLETED, FAILED, channels_of

# What nobody answered may still come about so much later: its front was frozen.
UNANSWERED_S = 15.0
FEATURES = ["monitors", "testing_monitors", "high_tier"]


class Monitor:
    def __init__(self, tenant, name, rows, period_s, types, tier, key):
        self.tenant, self.name, self.rows, self.period_s, self.tier, self.key = tenant, name, rows, period_s, tier, key
        self.types = types
        self.id = None
        self.frequencies = []  # (period_s, by the clock, asked for, answered), its first one too
        self.may_change_at = 0
        self.over = False  # cancelled for good


class Tenant:
    def __init__(self, name, poor):
        self.name, self.poor = name, poor
        self.id = self.key = self.team_id = self.limit = None
        self.monitors = []


def everybody(size):
    """Tenants and their monitors: (rows, period in s, notified types, tier)."""
    return [
        {"name": "rich", "monitors": [(size(8), 3, [CHANGED, COMPLETED, FAILED], "low")] * 4},
        {"name": "big", "monitors": [(size(520), 25, [CHANGED], "low"), (size(90), 12, [CHANGED, FAILED], "high")]},
        {"name": "poor", "monitors": [(size(12), 4, [CHANGED, COMPLETED], "low")] * 2, "funds": 150},
        {"name": "team", "monitors": [(size(10), 4, [CHANGED], "medium")] * 2, "limit": 300},
        {"name": "locked", "monitors": [(size(40), 8, [CHANGED], "low"), (size(6), 3, [], "low")]},
        {"name": "single", "monitors": [(1, 2, [CHANGED], "low")] * size(20)},
        {"name": "seeker", "monitors": []},  # jobs alone (job_load.py)
        {"name": "leaving", "monitors": [(size(6), 2, [CHANGED, COMPLETED], "low")] * 6, "leaving": 0.1},
    ]


class Load:
    """What it does goes into the ledger, with when it was asked for and when and how it was answered. `scale`
    multiplies the rows."""

    def __init__(self, operator, research, receiver, ledger, random, scale=1.0, plan=None, recipients=None):
        self.research_checks = research.checks
        self.operator, self.receiver, self.ledger, self.random = operator, receiver, ledger, random
        self.recipients = recipients  # of e-mail (mail.py)
        self.tenants = []
        self.top_ups = 0
        self.paused = []
        for tenant in plan or everybody(lambda n: max(1, int(n * scale))):
            self._tenant(**tenant)

    def _tenant(self, name, monitors, funds=1_000_000, limit=None, leaving=0):
        op, must = self.operator, self.operator.must
        tenant = Tenant(name, poor=funds < 1_000_000)
        tenant.id = must(op.admin("POST", "/admin/v1/orgs", {"name": name, "features": FEATURES}))["id"]
        path = f"/admin/v1/orgs/{tenant.id}"
        must(op.admin("POST", path + "/credits", {"amount": funds, "reason": "first"}))
        body = {"name": name}
        if limit:
            tenant.limit = limit
            tenant.team_id = must(op.admin("POST", path + "/teams", {"name": "t", "spend_limit": limit}))["id"]
            body["team_id"] = tenant.team_id
        tenant.key = must(op.admin("POST", path + "/api-keys", body))["key"]
        secret = must(op.admin("POST", path + "/signing-secrets/rotate", {"overlap_hours": 0}))["secret"]
        self.receiver.secrets[name] = secret
        self.receiver.leaving[name] = leaving
        self.tenants.append(tenant)
        ids = channels_of(op, self.receiver, self.ledger, name, tenant.key, secret) if monitors else []
        ids += self.recipients.channels_of(name, tenant.key) if self.recipients else []
        channels = {"channel_ids": ids} if ids else {}
        for i, (rows, period_s, types, tier) in enumerate(monitors):
            monitor = Monitor(tenant, f"{name}-{i}", rows, period_s, types, tier, tenant.key)
            asked = time.monotonic()
            monitor.id = must(op.api(tenant.key, "POST", "/monitors", {
                "name": monitor.name, "key_columns": ["n"], "rows": [{"n": n} for n in range(rows)],
                "struct": {"price": "the price", "state": "the state"}, "frequency": f"{period_s}s", "tier": tier,
                "webhook_url": self.receiver.url(name), "webhook_event_types": types, **channels}))["id"]
            monitor.frequencies.append((period_s, False, asked, time.monotonic()))
            tenant.monitors.append(monitor)

    @property
    def monitors(self):
        return [monitor for tenant in self.tenants for monitor in tenant.monitors]

    def tenant(self, name):
        return next(t for t in self.tenants if t.name == name)

    def _do(self, what, target, method, path, body=None, **more):
        sent = time.monotonic()
        status, answer = self.operator.admin(method, path, body)
        self.ledger.add("control", what=what, target=target, sent=round(sent, 4), status=status, **more)
        return status, answer

    def pause(self, monitor):
        return self._do("pause", monitor.id, "POST", f"/admin/v1/monitors/{monitor.id}/pause", {"reason": "fleet"})

    def resume(self, monitor):
        return self._do("resume", monitor.id, "POST", f"/admin/v1/monitors/{monitor.id}/resume", {})

    def cancel(self, monitor):
        return self._do("cancel", monitor.id, "POST", f"/admin/v1/monitors/{monitor.id}/cancel", {"reason": "fleet"})

    def trigger(self, monitor):
        return self._do("trigger", monitor.id, "POST", f"/admin/v1/monitors/{monitor.id}/trigger", {})

    def lock(self, tenant, locked):
        return self._do("lock" if locked else "unlock", tenant.id, "PATCH", f"/admin/v1/orgs/{tenant.id}",
                        {"locked": locked})

    def top_up(self, tenant, amount):
        self.top_ups += 1
        return self._do("top_up", tenant.id, "POST", f"/admin/v1/orgs/{tenant.id}/credits",
                        {"amount": amount, "reason": f"top-up {self.top_ups}"}, number=self.top_ups)

    def raise_limit(self, tenant, by):
        tenant.limit += by
        return self._do("limit", tenant.id, "PATCH", f"/admin/v1/orgs/{tenant.id}/teams/{tenant.team_id}",
                        {"spend_limit": tenant.limit})

    def change_frequency(self, monitor, period_s, by_clock=False):
        """Until it is answered, so that it was made at one moment in between. By the clock: every minute of it."""
        if monitor.tenant.name == "locked" or time.monotonic() < monitor.may_change_at:
            return  # a locked organisation may not; or an earlier call may still come about
        asked = time.monotonic()
        period_s = 60 if by_clock else period_s
        times = {"schedule": {"cron": "* * * * *", "time_zone": "Europe/Berlin"}} if by_clock else {"frequency": f"{period_s}s"}
        unanswered = self.insist(self._change_frequency, monitor, period_s, times)
        monitor.frequencies.append((period_s, by_clock, asked, time.monotonic()))
        if unanswered:
            monitor.may_change_at = time.monotonic() + UNANSWERED_S

    def _change_frequency(self, monitor, period_s, times):
        sent = time.monotonic()
        status, answer = self.operator.api(monitor.key, "POST", f"/monitors/{monitor.id}/update", times)
        self.ledger.add("control", what="frequency", target=monitor.id, sent=round(sent, 4), status=status,
                        period_s=period_s)
        return status, answer

    def receive(self, up):
        """A receiver is away for a while, and comes back."""
        self.receiver.down = set() if up else {"rich"}
        self.ledger.add("receiver", down=not up)

    def step(self):
        """One thing at random."""
        pick = self.random.random()
        monitor = self.random.choice([m for m in self.monitors if not m.over])
        if pick < 0.17:
            self.paused.append(monitor)
            self.pause(monitor)
        elif pick < 0.2:
            self.paused.append(monitor)
            self.cancel(monitor)
        elif pick < 0.5:
            if self.paused:  # at random also one that was resumed already
                monitor = self.paused.pop(self.random.randrange(len(self.paused)))
            if not monitor.over:
                self.resume(monitor)
        elif pick < 0.6:
            self.trigger(monitor)
        elif pick < 0.66:
            self.lock(self.tenant("locked"), True)
        elif pick < 0.75:
            self.lock(self.tenant("locked"), False)
        elif pick < 0.84:
            self.top_up(self.tenant("poor"), self.random.randint(5, 40))
        elif pick < 0.89:
            self.raise_limit(self.tenant("team"), self.random.randint(20, 200))
        elif pick < 0.96:
            self.change_frequency(monitor, max(2, monitor.period_s + self.random.choice([-2, -1, 0, 1, 3])),
                                  by_clock=self.random.random() < 0.2)
        elif pick < 0.98:
            self.receive(up=bool(self.receiver.down))
        else:
            self._leave()

    def _leave(self):
        """A monitor is cancelled for good; some stay."""
        staying = [m for m in self.tenant("leaving").monitors if not m.over]
        if len(staying) > 2:
            staying[0].over = True
            self.insist(self.cancel, staying[0])

    def insist(self, do, *arguments, limit_s=90):
        """Until it is answered with success. Whether it was sent and not answered before."""
        deadline = time.monotonic() + limit_s
        unanswered = False
        while True:
            status, answer = do(*arguments)
            if status is not None and 200 <= status < 300:
                return unanswered
            unanswered = unanswered or status is None
            assert time.monotonic() < deadline, f"{do.__name__} {arguments}: {status} {answer}"
            time.sleep(0.2)

    def everything_runs(self):
        self.receive(up=True)
        self.insist(self.lock, self.tenant("locked"), False)
        for monitor in self.monitors:
            if not monitor.over:
                self.insist(self.resume, monitor)

    def everything_stops(self):
        for monitor in self.monitors:
            if not monitor.over:
                self.insist(self.pause, monitor)
