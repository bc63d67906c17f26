"""Families of credentials that the rules have never been bettered by.

What is missed in them is counted and not looked at. Whoever looks, moves the family to
`tests/secret_families.py` and writes another one.
"""

from __future__ import annotations

import json
import string
from random import Random

from tests.secret_corpus import ALNUM, HEX, PLACES, WORDS, Sample, draw, password, token, vendor
from tests.secret_families import (
    SYLLABLES,
    Make,
    like,
    lookalike,
    named_word,
    pasted,
    plain,
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


def shaken(random: Random) -> str:
    """Letters alone, as a person makes them up."""
    return "".join(random.choices(SYLLABLES.split(), k=random.randint(3, 5)))


def jumble(random: Random) -> str:
    return " ".join(shaken(random) for _ in range(random.randint(4, 7)))


def one_time(random: Random) -> str:
    """A code of a service."""
    return random.choice(
        [
            f"{draw(random, HEX, 5)}-{draw(random, HEX, 4)}7",
            f"{draw(random, string.digits, 3)}-{draw(random, string.digits, 3)}",
            f"{draw(random, ALNUM.upper(), 5)}-{draw(random, ALNUM.upper(), 4)}4",
            f"9{draw(random, string.digits, 7)}",
        ]
    )


def kept_codes(random: Random, family: str) -> Sample:
    """Codes as people keep them."""
    seed, count = random.random(), random.choice([4, 8, 10])
    drawn = [like(random, one_time(Random(seed))) for _ in range(count)]
    before, between, after = random.choice(
        [
            ('{"recovery_codes": ["', '", "', '"]}'),
            ("recovery-codes: [", ", ", "]"),
            ("Backup codes\n============\n", "\n", "\n"),
            ("| backup codes |\n|---|\n| ", " |\n| ", " |"),
            ("GitLab two-factor recovery codes below\n```\n", "\n", "\n```"),
            ("Here are the scratch codes: ", " ", ""),
            ("**Recovery codes**\n\n1. `", "`\n1. `", "`"),
        ]
    )
    value = between.join(drawn)
    return Sample(family, f"{before}{value}{after}\n", (value,))


HELD_OUT |= {
    "codes as kept": kept_codes,
    "letters typed": pasted(
        [
            'rsync -e "sshpass -p <v> ssh" a ana@<word>:b',
            "$ sshpass -p <v> ssh-copy-id ana@<word>",
            "curl -sS -u deploy:<v> ftp://<word>.net/x",
            "curl https://<word>.net -u 'ana:<v>'",
            "echo <v> | sudo -S systemctl restart x",
            "echo '<v>' | gpg --passphrase-fd 0 -d x.gpg",
            "gpg --yes --passphrase '<v>' -o x -d x.gpg",
            "# ~/.netrc\nmachine <word>.org\nlogin ana\npassword <v>",
            "docker login registry.<word>.net -u ana -p <v>",
            "redis-cli -a <v> -n 2 keys",
        ],
        shaken,
    ),
    "values of settings": pasted(
        [
            "with `CLIENT_SECRET` set to `<v>`",
            "`API_KEY` should be set to `<v>`.",
            "give `API_TOKEN` the value `<v>`",
            "- `WEBHOOK_SECRET`: `<v>`",
            "change the value of `AUTH_TOKEN` to `<v>`",
            "`<word>_API_KEY` → `<v>`",
            "set 'ACCESS_TOKEN' to '<v>'",
            "we set API_KEY to <v> on <place>",
        ],
        token,
    ),
    "words said": pasted(
        [
            "the passphrase is still <v>",
            "log in with passphrase <v>, then run it",
            "passphrase (gpg): <v>",
            "Its passphrase is: <v>",
            "type the passphrase <v> when asked",
            "- passphrase: <v>",
            "we unlock the disk with the passphrase <v>",
            "GPG passphrase is <v>.",
        ],
        jumble,
    ),
    "dots in a password": pasted(
        [
            "password = <v>",
            "the password for ana is <v>",
            "user: ana\npassword: <v>",
            "PGPASSWORD=<v> psql -h <word>",
            "mot de passe : <v>",
            "login: ana / <v>!",
        ],
        named_word,
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
