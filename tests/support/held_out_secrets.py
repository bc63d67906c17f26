"""Families of credentials that the rules have never been bettered by.

What is missed in them is counted and not looked at. Whoever looks, moves the family to
`tests/support/secret_families.py` and writes another one.
"""

from __future__ import annotations

import json
import string
from random import Random

from tests.support.secret_corpus import HEX, PLACES, WORDS, Sample, draw, password, token, vendor
from tests.support.secret_families import (
    Make,
    like,
    lookalike,
    pasted,
    plain,
    shaken,
)


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


def by_tens(random: Random, family: str) -> Sample:
    """Codes in rows."""
    first = random.choice([f"{draw(random, HEX, 8)}", f"{draw(random, string.digits, 4)}-1234"])
    drawn = [like(random, first) for _ in range(10)]
    drawn[0] = drawn[0][:-1] + "5"
    start = random.choice(
        [
            "Recovery codes for Okta:\n\n",
            "backup_codes = [\n  ",
            "* Backup Codes *\n",
            "2FA emergency codes\n",
        ]
    )
    between = random.choice([",\n  ", "\n", "   ", " / "])
    value = between.join(drawn)
    return Sample(family, f"{start}{value}\n", (value,))


HELD_OUT |= {
    "codes in rows": by_tens,
    "typed by hand": pasted(
        [
            "sshpass -p <v> -v ssh ana@<word>",
            "curl --proxy-user ana:<v> http://<word>.net",
            "$ echo <v> | gpg --batch --yes --passphrase-fd 0 -c x",
            "podman login -u ana -p <v> quay.<word>.net",
            "machine ftp.<word>.net login anonymous password <v>",
            "gpg2 --passphrase <v> -d x",
        ],
        shaken,
    ),
    "given a value": pasted(
        [
            "set the `API_KEY` variable to `<v>`",
            "Please set SLACK_TOKEN to `<v>`",
            "set `apiKey` to “<v>”",
            "`CLIENT_SECRET` is set to `<v>`",
            "then `ADMIN_TOKEN` becomes `<v>`",
        ],
        token,
    ),
}


HELD_OUT_LOOKALIKES: dict[str, Make] = {
    "ids in a log": lookalike(
        [
            "duplicate key <uuid>",
            "partition_key=<uuid>",
            "inserted with primary key '<uuid>'",
            "Idempotency key: `<uuid>` (retry <n>)",
            "cache key: <sha>",
            "key <hex> missing in the index",
            "the object's key is <hex>",
            "record key=<uuid>",
            "hash key <sha>",
        ]
    ),
    "what is public": lookalike(
        [
            "verify with PGP key <HEX>",
            "pub rsa4096/<HEX>",
            "signed by <HEX>",
            "nostr key: npub1<bech>",
            "Contact: npub1<bech> (nostr)",
            "[verified: docs/password.md is <digest>]",
            "[verified: note keys.md is <digest>]",
            "Done. [verified: api/secret is <digest>]",
        ]
    ),
    "said in passing": lookalike(
        [
            "all <n> pass (<n>.4s)",
            "second pass: <n> files, 3m12s",
            "Tests pass on node20 and python3",
            "PASS: alpha=<n>, beta=2",
            "status: 'pass' | 'skipped'",
            "[Token rotation](https://<word>.net/t?x=1#y2)",
            "Subword Tokenizers: WordPiece-v2",
            "the passphrase cache timeout setting was raised",
            "no passphrase, so agents work unattended",
            "recovery codes: see 1Password",
            "backup code is in the vault (since 2024-03-1<n>)",
            "password: `LoginFormState`",
            "set `TOKEN_FILE` to `/run/secrets/token1`",
            "curl -u ana https://<word>.net",
            "sshpass -p option shows it in ps",
        ]
    ),
}
