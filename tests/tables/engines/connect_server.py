"""A Spark Connect server for tests, in a process of its own that ends with the test run, as a cluster is reached."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

from tests.tables.engines.spark_server import FOR_A_SHORT_LIFE

SECONDS_TO_END = 30
STARTED = re.compile(r"Spark Connect server started at: [\d.]+:(\d+)")


@contextmanager
def running_connect_server(folder: Path) -> Iterator[str]:
    """The URL of a server on two threads; it writes into the folder and listens on this machine alone."""
    import pyspark

    home = Path(pyspark.__file__).parent
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": "0",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.extraJavaOptions": FOR_A_SHORT_LIFE,
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
    }
    # So that it ends with this process even if that is killed.
    until_parent_ends = ["setpriv", "--pdeathsig", "TERM"] if shutil.which("setpriv") else []
    submit: list[str | Path] = [
        home / "bin" / "spark-submit",
        "--class",
        "org.apache.spark.sql.connect.service.SparkConnectServer",
    ]
    options = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
    server = subprocess.Popen(
        [*until_parent_ends, *submit, "--master", "local[2]", *options],
        cwd=folder,
        env={**os.environ, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert server.stdout is not None
    with server.stdout as said:
        try:
            before = []
            for line in said:
                before.append(line)
                if started := STARTED.search(line):
                    break
            else:
                raise AssertionError(f"the Spark Connect server ended before it was up: {''.join(before)}")
            # What else it says is read and let go of: it would wait for a reader once the pipe is full.
            rest = Thread(target=deque, args=(said, 0), daemon=True)
            rest.start()
            yield f"sc://127.0.0.1:{started[1]}"
        finally:
            server.send_signal(signal.SIGTERM)
            try:
                server.wait(SECONDS_TO_END)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()
        rest.join()
