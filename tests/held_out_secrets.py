"""Families of credentials that the rules have never been bettered by.

What is missed in them is counted and not looked at. Whoever looks, moves the family to
`tests/secret_families.py` and writes another one.
"""

from __future__ import annotations

import json
from random import Random

from tests.secret_corpus import PLACES, WORDS, Sample, password, token, vendor
from tests.secret_families import Make, pasted, plain


def mailed(random: Random, family: str) -> Sample:
    """What a mail says that somebody forwarded to an agent."""
    value = password(random)
    lines = [
        "From: Ana",
        f"Subject: access to {random.choice(PLACES)}",
        "",
        random.choice(
            [
                f"Username: ana\nPassword: {value}",
                f"Your password has been reset to {value}.",
                f"Here are your credentials:\n\n  login: ana\n  password: {value}",
                f"The password for the archive is {value} - please delete this mail.",
                f"PW: {value}",
            ]
        ),
    ]
    return Sample(family, "\n".join(f"{line}\n" for line in lines), (value,))


def looked_up(random: Random, family: str) -> Sample:
    """What a query or a listing of a program brought up."""
    value = plain(random)
    word = random.choice(WORDS)
    text = random.choice(
        [
            f"{{'id': 3, 'name': '{word}', 'password': '{value}', 'active': True}}",
            f"<{word} user='app' password='{value}' />",
            f"name={word} password={value} host=10.0.0.4",
            f'password="{value}" user="{word}"',
            f"Password for {word}: {value}",
            f"{word}: {{user: app, password: {value}}}",
            f"PASSWORD = {value}",
            f"  password      : {value}",
            f"password={value}\\nuser={word}",
            f"http://app:{value}@{word}.net:8080/",
            f"set password='{value}' where name='{word}'",
            f"--password={value} --name={word}",
        ]
    )
    return Sample(family, f"{text}\n", (value,))


def transcript(random: Random, family: str) -> Sample:
    """A line of a transcript, in JSON."""
    value = random.choice([plain(random), vendor(random)])
    said = random.choice(
        [
            f"DB_PASSWORD={value}",
            f"the password is {value}",
            f"export API_TOKEN={value}",
            f'api_key: "{value}"',
            f"Authorization: Bearer {value}{value}",
            f"mysql -u app -p{value} shop",
            f"postgres://app:{value}@db/shop",
        ]
    )
    value = value + value if "Bearer" in said else value
    line = {"type": "user", "message": {"role": "user", "content": f"first line\n{said}\nlast"}}
    text = json.dumps(line) if random.random() < 0.6 else json.dumps({"tool": json.dumps(line)})
    return Sample(family, f"{text}\n", (value,))


HELD_OUT: dict[str, Make] = {
    "mail": mailed,
    "listing": looked_up,
    "line of a transcript": transcript,
    "key of a program": pasted(
        [
            "JWT_SIGNING_KEY=<v>",
            "app.secret = <v>",
            "secretKeyBase: <v>",
            "The signing secret: <v>",
            "cookie_secret: '<v>'",
            "HMAC_KEY = b'<v>'",
            'export AUTH_TOKEN="<v>"',
            "auth: { token: '<v>' }",
            "use the token <v>",
            "token <v> works again",
            'setx API_KEY "<v>"',
            "access key: <v>",
            "curl https://<word>.net/api -H 'api-key: <v>'",
            "api.token: <v>",
            "my key: <v>",
            "wget --header='Authorization: Bearer <v>' https://<word>.net",
        ],
        token,
    ),
    "note of a person": pasted(
        [
            "Router: admin / password <v>",
            "NAS password <v>",
            "the <system> uses the password <v> since May",
            "password (new): <v>",
            "Ana told me the password: <v>",
            "default password is <v>, change it",
            "root password → <v>",
            "Vault passphrase: `<v>`",
            "Password is still <v>",
            "to unzip use the password <v>",
            "We agreed on <v> as the password.",
            "Das WLAN-Passwort ist <v>",
            "Mot de passe du wifi : <v>",
            "Contraseña del router: <v>",
            "服务器密码: <v>",
        ]
    ),
}
