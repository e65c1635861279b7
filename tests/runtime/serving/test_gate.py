"""Who may ask: real requests with wrong tokens, wrong names, from pages, too large, and not HTTP at all."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .conftest import TOKEN, MakeServer, Server, connected, spoken

ASK = {"messages": [{"role": "user", "content": "hello"}]}
CHAT = "/v1/chat/completions"


def error_of(heard: Any) -> dict[str, Any]:
    error = heard.json["error"]
    assert error.keys() == {"message", "type", "param", "code"}
    assert heard.headers["Content-Type"] == "application/json"
    return error


@pytest.mark.parametrize("given_", ["", "Bearer", "Bearer wrong", f"Basic {TOKEN}", TOKEN, "Bearer \xe9"])
@pytest.mark.parametrize(("method", "path"), [("GET", "/v1/models"), ("POST", CHAT), ("POST", "/v1/embeddings")])
def test_nothing_is_told_without_the_token(server: Server, given_: str, method: str, path: str) -> None:
    heard = server.send(method, path, ASK if method == "POST" else None, Authorization=given_)
    assert (heard.status, error_of(heard)["code"]) == (401, "invalid_api_key")
    assert server.stage.engine.asked == []


def test_health_needs_no_token_and_tells_nothing(server: Server) -> None:
    heard = server.send("GET", "/health", Authorization="")
    assert (heard.status, heard.json) == (200, {"status": "ok"})


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example:80", "192.168.1.2", "", "localhost.evil", "0"]
)
@pytest.mark.parametrize("path", ["/health", "/v1/models"])
def test_a_name_that_was_made_to_point_here_is_refused(server: Server, host: str, path: str) -> None:
    with connected(server) as raw:
        request = f"GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {TOKEN}\r\nConnection: close\r\n\r\n"
        heard = spoken(raw, request.encode())
    assert (heard.status, error_of(heard)["code"]) == (403, "wrong_host")


@pytest.mark.parametrize("hosts", ["", "Host: localhost\r\nHost: evil.example\r\n"])
def test_there_must_be_one_name(server: Server, hosts: str) -> None:
    with connected(server) as raw:
        heard = spoken(raw, f"GET /health HTTP/1.1\r\n{hosts}Connection: close\r\n\r\n".encode())
    assert heard.status == 403


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:11343", "127.0.0.1:8080", "[::1]:11343"])
def test_its_own_names_are_answered_by_any_port(server: Server, host: str) -> None:
    assert server.send("GET", "/health", Host=host).status == 200


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1", "https://good.example.evil"])
def test_a_page_that_was_not_allowed_is_refused(make_server: MakeServer, origin: str) -> None:
    server = make_server(origins=["https://good.example"])
    for method, path, body in (("POST", CHAT, ASK), ("GET", "/health", None), ("OPTIONS", CHAT, None)):
        heard = server.send(method, path, body, Origin=origin)
        assert (heard.status, error_of(heard)["code"]) == (403, "wrong_origin")
        assert "Access-Control-Allow-Origin" not in heard.headers


def test_a_page_cannot_even_send_what_needs_no_answer(server: Server) -> None:
    assert server.send("GET", "/health", Sec_Fetch_Site="cross-site").status == 403
    assert server.send("GET", "/health", Sec_Fetch_Site="none").status == 200


def test_an_allowed_page_may_ask_and_read(make_server: MakeServer) -> None:
    server = make_server(origins=["https://Good.example", "app://obsidian.md"])
    for origin in ("https://good.example", "app://obsidian.md"):
        asked = server.send("OPTIONS", CHAT, Origin=origin, Authorization="", Access_Control_Request_Method="POST")
        assert asked.status == 204
        assert asked.headers["Access-Control-Allow-Origin"] == origin
        assert "Authorization" in asked.headers["Access-Control-Allow-Headers"]
        heard = server.send("POST", CHAT, ASK, Origin=origin, Sec_Fetch_Site="cross-site")
        assert (heard.status, heard.headers["Access-Control-Allow-Origin"]) == (200, origin)
        wrong = server.send("POST", CHAT, ASK, Origin=origin, Authorization="")
        assert (wrong.status, wrong.headers["Access-Control-Allow-Origin"]) == (401, origin)


def test_it_listens_on_its_own_addresses_only(server: Server) -> None:
    assert {str(listener.socket.getsockname()[0]) for listener in server.endpoint._listeners} <= {"127.0.0.1", "::1"}
    assert server.endpoint.addresses[0] == "127.0.0.1"
    for address in server.endpoint.addresses:
        assert server.send("GET", "/v1/models", address=address).status == 200


# --- sizes and forms ------------------------------------------------------------------------------------------------


def test_a_huge_body_is_refused_and_the_client_hears_why(server: Server) -> None:
    heard = server.send("POST", CHAT, b"[" * 12_000_000)
    assert (heard.status, error_of(heard)["code"]) == (413, "body_too_large")
    assert server.send("GET", "/health").status == 200


def test_a_body_is_asked_for_only_if_it_will_be_read(server: Server) -> None:
    head = f"POST {CHAT} HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nConnection: close\r\n"
    with connected(server) as raw:
        heard = spoken(raw, f"{head}Content-Length: 5\r\n\r\n".encode())
    assert heard.status == 401
    data = json.dumps(ASK)
    with connected(server) as raw:
        more = f"Authorization: Bearer {TOKEN}\r\nContent-Length: {len(data)}\r\n\r\n"
        raw.sendall((head + more).encode())
        assert raw.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        assert spoken(raw, data.encode()).status == 200


@pytest.mark.parametrize(
    ("more", "status"),
    [
        ("Transfer-Encoding: chunked\r\n", 411),
        ("", 411),
        ("Content-Length: 2\r\nContent-Length: 3\r\n", 411),
        ("Content-Length: -1\r\n", 400),
        ("Content-Length: 1e3\r\n", 400),
        ("Content-Length: 99999999999999999999\r\n", 400),
        ("Content-Length: 999999999999\r\n", 413),
        (f"X-Long: {'x' * 70_000}\r\n", 431),
        ("X-Many: x\r\n" * 200, 431),
    ],
)
def test_a_request_of_unknown_length_is_refused(server: Server, more: str, status: int) -> None:
    with connected(server) as raw:
        head = (
            f"POST {CHAT} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\nConnection: close\r\n{more}"
        )
        raw.sendall(f"{head}\r\n".encode())
        raw.shutdown(1)
        heard = spoken(raw, b"")
    assert heard.status == status
    error_of(heard)


@pytest.mark.parametrize(
    "data", [b"\x00\x01\x02\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\r\n", b"PUT /\r\n"]
)
def test_what_is_no_request_ends_the_connection(server: Server, data: bytes) -> None:
    with connected(server) as raw:
        raw.sendall(data)
        raw.shutdown(1)
        while raw.recv(65_536):
            pass
    assert server.send("GET", "/health").status == 200


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/", 404), ("GET", "/v1", 404), ("GET", CHAT, 405), ("POST", "/v1/models", 405), ("PUT", CHAT, 501)],
)
def test_what_is_not_there_is_said(server: Server, method: str, path: str, status: int) -> None:
    heard = server.send(method, path, ASK if method == "POST" else None)
    assert heard.status == status
    error_of(heard)


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[1]", b"null", b'"x"', b"\xff\xfe", b"[" * 100_000, b'{"messages": 1e999}']
)
def test_a_body_that_is_no_request_is_refused(server: Server, data: bytes) -> None:
    heard = server.send("POST", CHAT, data)
    assert heard.status == 400
    error_of(heard)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.binary(max_size=60) | st.text().map(lambda text: json.dumps({"messages": text}).encode()))
def test_no_bytes_break_it(server: Server, data: bytes) -> None:
    assert error_of(server.send("POST", CHAT, data))["message"]


def test_a_connection_serves_many_requests(server: Server) -> None:
    import http.client
    from contextlib import closing

    with closing(http.client.HTTPConnection("127.0.0.1", server.port)) as connection:
        for stream in (False, True, False):
            data = json.dumps({**ASK, "stream": stream})
            connection.request("POST", CHAT, data, {"Authorization": f"Bearer {TOKEN}"})
            assert connection.getresponse().read()
        server.wait_for_connections(1)


def test_too_many_connections_are_refused(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assistant.runtime.serving.endpoint.MOST_CONNECTIONS", 1)
    with connected(server) as _held:
        server.wait_for_connections(1)
        with connected(server) as raw:
            heard = spoken(raw, b"")
        assert (heard.status, error_of(heard)["code"]) == (503, "busy")
