"""The rows of a flow in bare SQL: COPY in, two INSERT .. SELECT, COPY out, each statement its own transaction."""

import time

from figures import cost
from machine import Meter

TABLES = """
create table read_rows (n text, last text, name text, note text);
create table kept_rows (like read_rows);
create table found_rows (like read_rows, size text, enrich_sources json, enrich_confidence float8, enrich_error text);
"""


class Lines:
    """Counts what it is given, and keeps none of it."""

    def __init__(self):
        self.count = 0

    def write(self, data):
        self.count += data.count(b"\n")
        return len(data)


class BareSql:
    def __init__(self, postgres):
        self.postgres, self.database = postgres, "bench_bare_sql"
        postgres.drop(self.database)
        postgres.create(self.database)
        self.connection, self.looking = postgres.connect(self.database), postgres.connect(self.database)
        self.connection.cursor().execute(TABLES)

    def round(self, path, rows):
        """The file's rows through both statements; how many came out, and what that took."""
        cursor = self.connection.cursor()
        cursor.execute("truncate read_rows, kept_rows, found_rows")
        cursor.execute("checkpoint")
        meter, client = Meter(self.postgres, self.looking, []), time.process_time()
        out = Lines()
        with open(path, "rb") as file:
            cursor.copy_expert("copy read_rows from stdin (format csv, header)", file, 1 << 20)
        cursor.execute("insert into kept_rows select * from read_rows where last <> '7'")
        cursor.execute("insert into found_rows select *, 'nothing', '[]', null, null from kept_rows")
        cursor.copy_expert("copy found_rows to stdout (format csv, header)", out)
        used = meter.end()
        used["process_cpu"] = time.process_time() - client
        return out.count - 1, cost(used, rows)

    def close(self):
        self.connection.close()
        self.looking.close()
        self.postgres.drop(self.database)
