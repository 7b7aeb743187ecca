"""Schedules by the clock against an oracle: croniter says which local times an expression names, zoneinfo what they are."""

import datetime
import functools
import zoneinfo

import croniter

ZONES = ["Europe/Berlin", "Europe/London", "Europe/Dublin", "Europe/Chisinau", "America/New_York", "America/Los_Angeles",
         "America/St_Johns", "America/Havana", "America/Santiago", "America/Nuuk", "Asia/Beirut", "Asia/Jerusalem",
         "Asia/Kolkata", "Africa/Cairo", "Africa/Casablanca", "Atlantic/Azores", "Australia/Sydney",
         "Australia/Lord_Howe", "Pacific/Auckland", "UTC"]
YEARS = [2024, 2025, 2026]
# Those of crontab(5), and what is near the changes of the clocks.
MANUAL = ["5 0 * * *", "15 14 1 * *", "0 22 * * 1-5", "23 0-23/2 * * *", "5 4 * * sun", "0 4 8-14 * *", "0,30 4 1,15 * 5",
          "*/15 * * * *", "0 0 1 1 *", "0 0 * * 0", "0 0 1 * *", "0 * * * *", "0 0 * * *",
          "0 12 1 jan,apr,jul,oct *", "0 9-17/4 * * mon-fri", "0 0 l * *", "0 6 * * 1#1", "30 16 * * fri#3"]
NEAR = ["30 2 * * *", "0 0 * * *", "30 1,2,3 * * *", "15 * * * *", "45 */2 * * *"]
MINUTE = datetime.timedelta(minutes=1)
DAY = datetime.timedelta(days=1)


@functools.cache
def local_times(cron, begin, days):
    end = begin + days * DAY
    found, times = croniter.croniter(cron, begin - MINUTE), []
    while (time := found.get_next(datetime.datetime)) < end:
        times.append(time)
    return times


def exists(local, zone):
    return local.replace(tzinfo=zone).astimezone(datetime.timezone.utc).astimezone(zone).replace(tzinfo=None) == local


def utc(local, zone, fold=0):
    return local.replace(tzinfo=zone, fold=fold).astimezone(datetime.timezone.utc)


def after_gap(local, zone):
    while not exists(local, zone):
        local += MINUTE
    return utc(local, zone)


def expected(cron, zone, begin, days):
    """The instants of `cron` in the days from the local `begin` on."""
    hour = cron.split()[1]
    elapsed = hour.startswith("*") or "/" in hour
    times = set()
    for local in local_times(cron, begin, days):
        if not exists(local, zone):
            if not elapsed:
                times.add(after_gap(local, zone))
            continue
        times.add(utc(local, zone))
        if elapsed:
            times.add(utc(local, zone, fold=1))
    return sorted(times)


def changes(zone, year):
    """The days around which the clocks change."""
    day = datetime.datetime(year, 1, 1, tzinfo=datetime.timezone.utc)
    while day.year == year:
        if day.astimezone(zone).utcoffset() != (day + DAY).astimezone(zone).utcoffset():
            yield day.replace(tzinfo=None)
        day += DAY


def told(tenant, cron, zone, begin, count):
    start = utc(begin, zone) - datetime.timedelta(seconds=1)
    answer = tenant.post("/schedules/preview", {"cron": cron, "time_zone": zone.key, "count": count,
                                                "from": start.isoformat().replace("+00:00", "Z")})
    return [datetime.datetime.fromisoformat(time.replace("Z", "+00:00")) for time in answer["times"]]


def test_twenty_zones_over_both_changes_of_three_years_are_as_croniter_and_zoneinfo_say(vedette):
    tenant, compared = vedette.organisation(), 0
    for name in ZONES:
        zone = zoneinfo.ZoneInfo(name)
        for year in YEARS:
            for day in changes(zone, year):
                begin = day - DAY
                for cron in NEAR:
                    times = [at for at in expected(cron, zone, begin, 4) if at >= utc(begin, zone)][:100]
                    assert told(tenant, cron, zone, begin, len(times)) == times, (name, cron, begin)
                    compared += len(times)
    assert compared > 10_000


def test_every_expression_of_the_manual_is_read_as_croniter_reads_it(vedette):
    tenant = vedette.organisation()
    begin = datetime.datetime(2026, 1, 1)
    for name in ["UTC", "Europe/Berlin", "America/New_York"]:
        zone = zoneinfo.ZoneInfo(name)
        for cron in MANUAL:
            days = 8 if cron.startswith("*/15") else 1500
            times = expected(cron, zone, begin, days)[:40]
            assert told(tenant, cron, zone, begin, len(times)) == times, (name, cron)
    for macro, cron in {"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *",
                        "@weekly": "0 0 * * 0", "@monthly": "0 0 1 * *"}.items():
        zone = zoneinfo.ZoneInfo("Europe/Berlin")
        assert told(tenant, macro, zone, begin, 50) == expected(cron, zone, begin, 1600)[:50]


def test_a_monitor_by_the_clock_shows_the_oracles_next_five(vedette):
    tenant = vedette.organisation()
    zone = zoneinfo.ZoneInfo("Europe/Berlin")
    monitor = tenant.post("/monitors", {
        "name": "Nine on weekdays", "key_columns": ["url"], "rows": [{"url": "http://127.0.0.1:9/"}],
        "struct": {"title": "css:title"}, "schedule": {"cron": "0 9 * * 1-5", "time_zone": "Europe/Berlin"}})["id"]
    shown = tenant.get(f"/monitors/{monitor}")
    today = datetime.datetime.fromisoformat(shown["created_at"].replace("Z", "+00:00"))
    begin = datetime.datetime.combine(today.astimezone(zone).date(), datetime.time())
    times = [at for at in expected("0 9 * * 1-5", zone, begin, 12) if at > today][:5]
    assert [datetime.datetime.fromisoformat(at.replace("Z", "+00:00")) for at in shown["next_run_times"]] == times
    assert shown["frequency"] == "1d" and shown["last_run_at"] is None
