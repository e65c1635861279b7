"""Secrets go, prose stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.workspace.redaction import passes_luhn, passes_resident_check, redact

JWT = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA1234\nabcd/+==\n-----END RSA PRIVATE KEY-----"

SECRETS = [
    ("my key sk-abcdEFGH1234567890ijklMNOP ok", "sk-abcdEFGH1234567890ijklMNOP"),
    ("sk-proj-Ab1_cdEFGH1234567890-ijkl", "sk-proj-Ab1_cdEFGH1234567890-ijkl"),
    ("密钥是sk-abcdEFGH1234567890ijklMNOP。", "sk-abcdEFGH1234567890ijklMNOP"),
    ("ghp_abcdefghijklmnopqrstuvwxyz0123456789", "ghp_abcdefghijklmnopqrstuvwxyz0123456789"),
    ("gho_abcdefghijklmnopqrstuvwxyz0123456789", "gho_abcdefghijklmnopqrstuvwxyz0123456789"),
    ("github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz", "github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz"),
    ("AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"),
    ("xoxb-123456789012-abcdefABCDEF", "xoxb-123456789012-abcdefABCDEF"),
    ("AIzaSyA1234567890abcdefghijklmnopqrstuv", "AIzaSyA1234567890abcdefghijklmnopqrstuv"),
    ("glpat-abcdefghij0123456789", "glpat-abcdefghij0123456789"),
    ("hf_abcdefghijklmnopqrstuvwxyzABCDEFGH", "hf_abcdefghijklmnopqrstuvwxyzABCDEFGH"),
    (f"token {JWT}", JWT),
    ("Authorization: Bearer abc.def-123", "abc.def-123"),
    ("curl -H 'authorization: Basic dXNlcjpwYXNz' x", "dXNlcjpwYXNz"),
    ("Cookie: session=abc123; theme=dark", "session=abc123; theme=dark"),
    ("Set-Cookie: id=a3fWa", "id=a3fWa"),
    (f"here\n{PEM}\nend", PEM),
    ("postgres://bob:s3cret@db.example.com/x", "s3cret"),
    ("https://user:p@ss@host/", "p@ss"),
    ("password: hunter2", "hunter2"),
    ("Password = swordfish", "swordfish"),
    ("my wifi password: swordfish", "swordfish"),
    ('{"password": "two words"}', "two words"),
    ("passwd=abc", "abc"),
    ("pwd: Qwerty!", "Qwerty!"),
    ("密码：abc123", "abc123"),
    ("口令: 芝麻开门", "芝麻开门"),
    ("我的密码是abc12345，别忘了", "abc12345"),
    ("the password is hunter2", "hunter2"),
    ("card 4111 1111 1111 1111 expires", "4111 1111 1111 1111"),
    ("卡号4111-1111-1111-1111。", "4111-1111-1111-1111"),
    ("378282246310005", "378282246310005"),
    ("6222021234567890128", None),
    ("身份证11010519491231002X", "11010519491231002X"),
    ("api_key = A1b2C3d4E5f6", "A1b2C3d4E5f6"),
]

ORDINARY = [
    "I forgot my password: again",
    "password: reset it please",
    "Can you change the password policy: it is too strict",
    "我忘了密码：怎么办",
    "密码：忘了",
    "call +86 138 0013 8000 or 138-0013-8000",
    "order 4111-1111-1111-1112",
    "order A4111111111111111",
    "2026-11-29T15:30:22+08:00 2026-11-30 16:45",
    "uuid 123e4567-e89b-12d3-a456-426614174000",
    "commit 4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "pi is 3.14159265358979323846",
    "the sk-learn library and sk-something-with-a-long-name",
    "https://example.com:8080/@user and mailto:bob@example.com",
    "cookie: chocolate chip",
    "Authorization: required before entry",
    "身份证11010519491231002Y",
    "id 110105194912310021",
    "0000 0000 0000 0000",
    "pwd: /home/bob",
    "a bearer of bad news that nobody wanted",
    "password: ****",
    "tracking 9400 1000 0000 0000 0000 00",
]


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_a_secret_goes_and_what_is_around_it_stays(text, secret):
    if secret is None:
        secret = text if passes_luhn(text) else None
    done = redact(text)
    if secret is None:
        assert done.text == text
        return
    assert done.text == text.replace(secret, f"«redacted {len(secret)} chars»")
    assert done.count == 1
    assert [text[span.start : span.end] for span in done.spans] == [secret]
    assert redact(done.text).text == done.text


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_stays(text):
    assert redact(text).text == text


@given(st.text())
def test_redacting_never_fails_and_is_stable(text):
    once = redact(text)
    assert redact(once.text).count == 0
    assert (once.count == 0) == (once.text == text)


def test_checks_of_numbers():
    assert passes_luhn("4111111111111111")
    assert not passes_luhn("4111111111111112")
    assert passes_resident_check("11010519491231002X")
    assert not passes_resident_check("110105194912310021")


def test_what_a_person_wrote_by_hand_already_is_left():
    assert redact("password: hunter2\npassword: other9", "password: hunter2").count == 1


def test_a_key_without_its_end_goes_too():
    text = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\nkqhkiG9w0BAQEF\n"
    assert "MIIE" not in redact(text).text


@pytest.mark.parametrize("piece", ["a.", "eyJ", "://", "1 ", "password: ", "-----BEGIN ", "sk-", "cookie: a=", "aa-"])
def test_a_line_of_a_megabyte_ends(piece):
    text = piece * (200_000 // len(piece))
    assert redact(text).text
