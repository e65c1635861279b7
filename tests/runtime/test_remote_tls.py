"""Servers that speak https, with certificates that hold and such that do not."""

from __future__ import annotations

import datetime
import ipaddress
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.values import GenerateOptions, Message, Role
from assistant.engine.remote.address import parse_address
from assistant.runtime.remote_engine import RemoteEngine, ServerChoice
from tests.runtime.scripted_server import ScriptedServer, Talk, scripted_server

_DAY = datetime.timedelta(days=1)


def make_certificate(folder: Path, address: str = "127.0.0.1", ended: bool = False) -> Path:
    """A certificate that vouches for itself, with its key, in one PEM file."""
    now = datetime.datetime.now(datetime.UTC)
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "keepsake test")])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - 9 * _DAY)
        .not_valid_after(now - _DAY if ended else now + _DAY)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file = folder / "server.pem"
    file.write_bytes(made.public_bytes(serialization.Encoding.PEM) + secret)
    return file


@pytest.fixture
def certificate(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    return make_certificate(tmp_path, **getattr(request, "param", {}))


@pytest.fixture
def server(certificate: Path) -> Iterator[ScriptedServer]:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    with scripted_server(tls) as made:
        yield made


def connect(port: int) -> RemoteEngine:
    engine = RemoteEngine(lambda _: "sk-secret-1")
    engine.connect(ServerChoice(parse_address(f"https://127.0.0.1:{port}")), 4096, CancelToken())
    return engine


def test_a_server_that_nobody_vouches_for_gets_nothing(server: ScriptedServer) -> None:
    with pytest.raises(AssistantError) as caught:
        connect(server.port)
    assert caught.value.code == "remote.certificate"
    assert "vouches" in caught.value.message
    assert server.asked == []


def test_a_server_that_the_system_trusts_is_asked(
    server: ScriptedServer, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert connect(server.port).info is not None
    assert server.asked[0].headers["authorization"] == "Bearer sk-secret-1"


@pytest.mark.parametrize(
    ("certificate", "words"),
    [({"ended": True}, "has expired"), ({"address": "127.0.0.2"}, "another")],
    indirect=["certificate"],
)
def test_why_a_certificate_does_not_hold_is_said(
    server: ScriptedServer, certificate: Path, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with pytest.raises(AssistantError) as caught:
        connect(server.port)
    assert words in caught.value.message
    assert server.asked == []


def test_a_server_without_tls_is_not_asked_without_it() -> None:
    with scripted_server() as plain:
        with pytest.raises(AssistantError) as caught:
            connect(plain.port)
        assert caught.value.code == "remote.tls"
        assert plain.asked == []


def test_what_fails_in_the_midst_of_a_reply_is_not_said_to_have_sent_nothing(
    server: ScriptedServer, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))

    def garbled(talk: Talk) -> None:
        talk.stream("One ")
        socket.socket.send(talk._handler.connection, b"no TLS " * 100)

    server.chats(garbled)
    events = connect(server.port).chat([Message(Role.USER, "Hello")], GenerateOptions(), CancelToken())
    with pytest.raises(AssistantError) as caught:
        list(events)
    assert caught.value.code == "remote.cut"
    assert "nothing was sent" not in caught.value.message
