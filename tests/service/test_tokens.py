"""Tokens: 256 bits, kept as hashes, shown once, and worth nothing as soon as they should be."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from tests.service.serving import API, LOCKED_OUT, Running

from viameter.service.access import Person
from viameter.service.api.needing import COOKIE
from viameter.service.limits import RateLimit
from viameter.service.problems import Problem
from viameter.service.secrets import fresh_secret, fresh_token, guard_of, hashed, is_token
from viameter.service.service import ADMIN, first_token

Start = Callable[..., Running]


def who(running: Running, token: str | bytes) -> httpx.Response:
    """Who one is with a token."""
    written = token if isinstance(token, bytes) else token.encode("utf-8", "surrogatepass")
    return running.client().get(f"{API}/me", headers=[(b"authorization", b"Bearer " + written)])


def test_a_token_has_256_bits_and_no_two_are_alike() -> None:
    made = [fresh_token() for _ in range(200)]
    assert len(set(made)) == 200
    raw = [base64.urlsafe_b64decode(one.removeprefix("vmt_") + "=") for one in made]
    assert {len(one) for one in raw} == {32}
    assert all(is_token(one) for one in made)
    # Every one of the 256 bits is 0 and 1 among 200 of them; the chance that one is not is below 1e-57.
    for place in range(256):
        assert {one[place // 8] >> place % 8 & 1 for one in raw} == {0, 1}
    assert len(base64.urlsafe_b64decode(fresh_secret() + "=")) == 32


def test_the_guard_of_a_form_is_not_what_the_tables_keep_of_the_cookie() -> None:
    secrets = ["", fresh_secret(), fresh_secret()]
    guards = {guard_of(secret) for secret in secrets}
    assert len(guards) == len(secrets) and guards.isdisjoint(map(hashed, secrets))


def test_tables_hold_hashes_and_no_secret(run_service: Start) -> None:
    running = run_service()
    shown = running.api("admin", "POST", "/people/nobody/tokens", json={"label": "once"}).json()
    person = running.service.state.who_has(shown["token"])
    assert person is not None
    cookie = running.service.state.sign_in(person, hours=1)
    secrets = [shown["token"], cookie, *running.tokens.values()]
    storage = running.service.config.storage
    files = [
        one for place in (storage.state, storage.ledger) for one in Path(place).parent.glob(f"{Path(place).name}*")
    ]
    assert len(files) >= 3  # the write-ahead log is one
    held = b"".join(one.read_bytes() for one in files)
    assert hashed(shown["token"]).encode() in held
    for secret in secrets:
        bare = secret.removeprefix("vmt_")
        for form in (bare.encode(), base64.urlsafe_b64decode(bare + "="), bare.encode("utf-16-le")):
            assert form not in held
    assert not any(secret.removeprefix("vmt_") in running.log_text() for secret in secrets)


def test_the_file_of_the_tables_is_for_its_owner_alone(run_service: Callable[..., Running]) -> None:
    new = run_service(datasets=[])
    assert Path(new.service.config.storage.state).stat().st_mode & 0o077 == 0


def test_a_token_is_shown_once(running: Running) -> None:
    shown = running.api("admin", "POST", "/people/nobody/tokens", json={"label": "laptop", "days": 3})
    assert shown.status_code == 201
    assert shown.headers["cache-control"] == "no-store"
    token = shown.json()["token"]
    for person, path in (
        ("admin", "/people"),
        ("admin", "/people/nobody/tokens"),
        ("admin", "/acts?last=1000"),
        ("nobody", "/me"),
        ("nobody", "/me/tokens"),
    ):
        reply = running.api(person, "GET", path)
        assert reply.status_code == 200
        assert token.removeprefix("vmt_") not in reply.text
        assert hashed(token) not in reply.text
    assert token.removeprefix("vmt_") not in running.log_text()


def test_tokens_expire(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    secret, made = running.service.state.add_token("nobody", label="", days=1, by="admin")
    person = running.service.state.who_has(secret)
    assert person is not None
    cookie = running.service.state.sign_in(person, hours=1000)
    assert who(running, secret).status_code == 200
    monkeypatch.setattr("viameter.service.state.now", lambda: made.expires)
    assert who(running, secret).status_code == 401
    # Nor does a cookie live longer than the token that it was had for.
    assert running.service.state.who_signed_in(cookie) is None


def test_a_cookie_expires(running: Running) -> None:
    person = running.service.state.who_has(running.tokens["analyst-visits"])
    assert person is not None
    for hours, found in ((1, True), (-1, False)):
        secret = running.service.state.sign_in(person, hours=hours)
        assert (running.service.state.who_signed_in(secret) is not None) is found


def test_revoking_counts_in_mid_use(running: Running) -> None:
    made = running.api("admin", "POST", "/people/nobody/tokens", json={}).json()
    person = running.service.state.who_has(made["token"])
    assert person is not None
    cookie = running.service.state.sign_in(person, hours=1)
    with running.new_client(headers={"authorization": f"Bearer {made['token']}"}) as client:
        assert client.get(f"{API}/me").status_code == 200
        assert running.api("nobody", "DELETE", f"/me/tokens/{made['id']}").json() == {"done": True}
        assert client.get(f"{API}/me").status_code == 401
    assert running.service.state.who_signed_in(cookie) is None
    assert running.api("nobody", "GET", "/me").status_code == 200


def test_a_token_of_somebody_else_is_not_revoked_by_its_number(running: Running) -> None:
    number = running.service.state.tokens("analyst-visits")[0].id
    assert running.api("nobody", "DELETE", f"/me/tokens/{number}").status_code == 404
    assert running.api("admin", "DELETE", f"/people/nobody/tokens/{number}").status_code == 404
    assert running.api("analyst-visits", "GET", "/me").status_code == 200


def test_shutting_somebody_out_and_letting_them_in_again(running: Running) -> None:
    running.service.state.add_person("guest", (), by="admin")
    secret, made = running.service.state.add_token("guest", label="", days=1, by="admin")
    cookie = running.service.state.sign_in(Person("guest", frozenset(), made.id), hours=1)
    for active, status in ((False, 401), (True, 200)):
        running.api("admin", "PATCH", "/people/guest", json={"active": active})
        assert who(running, secret).status_code == status
        assert (running.service.state.who_signed_in(cookie) is not None) is active


@pytest.mark.parametrize("person", LOCKED_OUT)
def test_worthless_tokens_all_get_the_same_reply(running: Running, person: str) -> None:
    reply, unknown, none = who(running, running.tokens[person]), who(running, fresh_token()), who(running, "x")
    assert {one.status_code for one in (reply, unknown, none)} == {401}
    bodies = {one.content.replace(one.headers["x-request-id"].encode(), b"") for one in (reply, unknown, none)}
    assert len(bodies) == 1


def test_whatever_is_not_exactly_a_token_opens_nothing(running: Running, run_service: Start) -> None:
    good = running.tokens["admin"]
    foreign = run_service().tokens["admin"]
    flipped = good[:-10] + ("A" if good[-10] != "A" else "B") + good[-9:]
    forged: list[str | bytes] = [
        foreign, flipped, good[:-1], good[1:], good.removeprefix("vmt_"), good.upper(), good.swapcase(),
        good + "=", good + "A", good + "\x7f", f"{good},{good}", f"{good} {good}", f'"{good}"', good + "%00",
        "vmt_" + "A" * 43, "vmt_", "vmt_" + "*" * 43, "' OR 1=1 --", "vmt_" + "%" * 43, "null", "admin",
        "vmt_" + "\u0410" * 43, good.replace("vmt_", "vmt\uff3f"), b"\xff\xfe" + good.encode(),
        "vmt_" + "A" * 20_000, hashed(good), "vmt_" + hashed(good)[:43],
    ]  # fmt: skip
    for token in forged:
        assert who(running, token).status_code == 401, token
    for scheme in ("Basic", "Token", "Bearer:", "Bearer\tx"):
        written = {"authorization": f"{scheme} {good}"}
        assert running.client().get(f"{API}/me", headers=written).status_code == 401, scheme
    # Spaces around it are none of it, and the scheme has no case: HTTP says so.
    assert running.client().get(f"{API}/me", headers={"authorization": f"bearer   {good}"}).status_code == 200


def test_who_one_is_comes_from_the_token_and_nothing_else(running: Running) -> None:
    cookie = running.service.state.sign_in(Person("admin", frozenset(), _number(running, "admin")), hours=1)
    pretended = {
        "x-user": "admin", "x-forwarded-user": "admin", "remote-user": "admin", "x-remote-user": "admin",
        "user-name": "admin", "x-forwarded-for": "127.0.0.1", "cookie": f"{COOKIE}={cookie}", "from": "admin",
    }  # fmt: skip
    reply = running.api("analyst-visits", "GET", "/me", headers=pretended, params={"person": "admin", "by": "admin"})
    assert reply.json()["name"] == "analyst-visits"
    assert running.client().get(f"{API}/me", headers=pretended).status_code == 401
    assert running.client().get(f"{API}/me", params={"token": running.tokens["admin"]}).status_code == 401
    # And a token is no cookie.
    as_cookie = {"cookie": f"{COOKIE}={running.tokens['admin']}"}
    assert running.client().get("/me", headers=as_cookie).status_code == 303
    named = running.client("analyst-visits").post(
        f"{API}/datasets/visits/releases", json={"by": "rows", "spend": {"zcdp": "1/1000"}}, headers=pretended
    )
    assert named.status_code == 422


def test_a_lost_admin_gets_back_in_and_old_tokens_do_not(run_service: Start) -> None:
    running = run_service()
    state = running.service.state
    old = running.tokens["admin"]
    cookie = state.sign_in(Person(ADMIN, frozenset(), _number(running, ADMIN)), hours=1)
    assert first_token(state, days=1) is None
    assert who(running, old).status_code == 200
    state.set_active(ADMIN, False, by="only-admin")
    state.set_grants(ADMIN, [], by="only-admin")
    new = first_token(state, days=1, again=True)
    assert new is not None
    assert [who(running, one).status_code for one in (old, new)] == [401, 200]
    assert state.who_signed_in(cookie) is None
    assert who(running, new).json()["grants"] == [{"role": "admin", "dataset": "*"}]
    # Others keep theirs.
    assert running.api("analyst-visits", "GET", "/me").status_code == 200


def test_guessing_is_slowed_and_locks_nobody_else_out(run_service: Start) -> None:
    running = run_service(limits={"logins_per_minute": 5})
    replies = [who(running, fresh_token()) for _ in range(12)]
    assert [one.status_code for one in replies[:5]] == [401] * 5
    assert [one.status_code for one in replies[6:]] == [429] * 6
    assert 1 <= int(replies[-1].headers["retry-after"]) <= 60
    # Whoever guesses does not choose the address that is counted.
    elsewhere = {"x-forwarded-for": "10.1.2.3", "authorization": f"Bearer {fresh_token()}"}
    assert running.client().get(f"{API}/me", headers=elsewhere).status_code == 429
    # By way of the page, too; and the same address is not enough to keep out whoever has a token.
    forms = [{"token": token, "guard": guard_of("")} for token in (fresh_token(), running.tokens["nobody"])]
    assert running.client().post("/login", data=forms[0]).status_code == 429
    assert running.api("nobody", "GET", "/me").status_code == 200
    assert running.client().post("/login", data=forms[1]).status_code == 303


def test_one_persons_requests_are_limited_and_others_go_on(run_service: Start) -> None:
    running = run_service(limits={"requests_per_minute": 10})
    codes = [running.api("nobody", "GET", "/me").status_code for _ in range(15)]
    assert codes[:10] == [200] * 10
    assert 429 in codes[10:]
    assert running.api("analyst-visits", "GET", "/me").status_code == 200


def test_a_bucket_fills_with_time() -> None:
    at = [0.0]
    limit = RateLimit(6, clock=lambda: at[0])
    for _ in range(6):
        limit.take("ann")
    with pytest.raises(Problem) as caught:
        limit.take("ann")
    assert (caught.value.status, caught.value.retry_after) == (429, 10)
    limit.take("bob")
    at[0] = 9.9
    with pytest.raises(Problem):
        limit.take("ann")
    at[0] = 10.0
    limit.take("ann")
    with pytest.raises(Problem):
        limit.take("ann")
    at[0] = 1e6
    for _ in range(6):
        limit.take("ann")
    with pytest.raises(Problem):
        limit.take("ann")


def test_names_that_are_never_seen_again_take_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viameter.service.limits.MOST", 10)
    limit = RateLimit(1, clock=lambda: 0.0)
    for number in range(100):
        limit.take(f"address {number}")
    assert len(limit._buckets) == 10


def test_of_many_buckets_the_one_that_was_not_used_for_longest_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks without end does not get a full bucket because others ask too."""
    monkeypatch.setattr("viameter.service.limits.MOST", 3)
    limit = RateLimit(1, clock=lambda: 0.0)
    limit.take("greedy")
    for name in ("a", "b", "c", "d", "e"):
        with pytest.raises(Problem):
            limit.take("greedy")
        limit.take(name)
    assert set(limit._buckets) == {"greedy", "d", "e"}


def _number(running: Running, person: str) -> str:
    return running.service.state.tokens(person)[0].id
