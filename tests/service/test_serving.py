from tests.service.serving import Running


def test_up(running: Running) -> None:
    assert running.api("admin", "GET", "/me").json()["name"] == "admin"
    assert running.ask("analyst-visits").status_code == 200, running.ask("analyst-visits").text
    assert running.ask("analyst-wages", "wages").status_code == 200
    print(running.log_text())
