"""What the tests of the whole system share with those of the service."""

from tests.service.conftest import run_service, running, server

__all__ = ["run_service", "running", "server"]
