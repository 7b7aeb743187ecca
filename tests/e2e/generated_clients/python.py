"""A client as a customer would write it over a generated package: run against a live service with the base URL and the API key
as its arguments. It ends with a line of JSON that says what it saw."""

import json
import sys

from vedette_client import (ApiClient, ApiException, Configuration, CreateMonitor, CreditsApi, MonitorDetail, MonitorRow, MonitorsApi,
                            RowsApi, UpdateMonitor)

base_url, api_key = sys.argv[1:]
configuration = Configuration(host=base_url, api_key={"apiKey": api_key})
client = ApiClient(configuration)
monitors, rows_api = MonitorsApi(client), RowsApi(client)

made = monitors.create_monitor(CreateMonitor(
    name="Pages", key_columns=["sku"], rows=[{"sku": sku} for sku in "abc"], struct={"price": "css:.price"}, frequency="30d"))

# Every page of its rows, two rows a page.
page = rows_api.list_rows(made.id, limit=2)
rows = page.rows
while page.next_cursor:
    page = rows_api.list_rows(made.id, limit=2, cursor=page.next_cursor)
    rows += page.rows
assert all(isinstance(row, MonitorRow) for row in rows)

monitors.update_monitor(made.id, UpdateMonitor(name="Pages, renamed"))
detail = monitors.get_monitor(made.id)
assert isinstance(detail, MonitorDetail) and detail.created_at.tzinfo, "a time is a time"

# What is refused is an exception with the answer's body.
try:
    monitors.get_monitor("00000000-0000-0000-0000-000000000000")
    raise SystemExit("there is such a monitor")
except ApiException as refused:
    missing = refused

# A monitor without watched fields is not even made.
try:
    CreateMonitor(name="Pages", key_columns=["sku"])
    raise SystemExit("a monitor without watched fields is taken")
except ValueError as wrong:
    assert "struct" in str(wrong)

print(json.dumps({"id": made.id, "rows": [row.subject for row in rows], "name": detail.name,
                  "credits": CreditsApi(client).get_credits().credits, "status": missing.status,
                  "error": json.loads(missing.body)}))
