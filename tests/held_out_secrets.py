"""Families of credentials that the rules have never been bettered by.

What is missed in them is counted and not looked at. Whoever looks, moves the family to
`tests/secret_families.py` and writes another one.
"""

from __future__ import annotations

import json
import string
from random import Random

from tests.secret_corpus import ALNUM, HEX, PLACES, WORDS, Sample, draw, password, token, vendor
from tests.secret_families import Make, lookalike, mixed, pasted, plain


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


SYLLABLES = "ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu bra cle dri flo gru"


def spoken(random: Random) -> str:
    """A word that nobody says: letters alone."""
    return "".join(random.choices(SYLLABLES.split(), k=random.randint(3, 5)))


def saying(random: Random) -> str:
    """Words that are in no list of ours."""
    return " ".join(f"{spoken(random)}" for _ in range(random.randint(4, 6)))


def named_word(random: Random) -> str:
    """A word, a dot, another word and a number."""
    word = random.choice([spoken(random), spoken(random).title()])
    return (
        f"{word}.{random.choice([spoken(random), spoken(random).title()])}{random.randint(10, 99)}"
    )


def code(random: Random) -> str:
    """A code for when the phone is lost."""
    return random.choice(
        [
            "-".join(draw(random, it, 4) for it in (ALNUM.upper(), string.digits, HEX)),
            f"{draw(random, string.digits, 6)}-{draw(random, string.digits, 6)}",
            draw(random, ALNUM.lower(), 7) + "8k3",
            draw(random, string.digits, 10),
        ]
    )


def like(random: Random, code: str) -> str:
    """Return another code of the same form."""
    alphabets = (string.digits, HEX, ALNUM.lower(), ALNUM.upper())
    return "".join(draw(random, next((a for a in alphabets if it in a), it), 1) for it in code)


def printed_codes(random: Random, family: str) -> Sample:
    """Codes as a service prints them."""
    seed, count = random.random(), random.choice([5, 6, 10, 16])
    drawn = [like(random, code(Random(seed))) for _ in range(count)]
    start = random.choice(
        [
            "Save these recovery codes in a safe place:\n\n",
            "## Backup codes (Google)\n\n",
            "two-factor backup codes:\n",
            "My recovery codes are ",
            "Notfallcodes / recovery codes:\n",
        ]
    )
    inline = start.endswith(" ")
    between = random.choice([", ", " ", "; "] if inline else ["\n", "\n* ", "\n    ", "\n- [ ] "])
    first = between[1:] if between.startswith("\n") else ""
    value = between.join(drawn)
    return Sample(family, f"{start}{first}{value}\n\nUse each of them once.\n", (value,))


HELD_OUT |= {
    "codes as printed": printed_codes,
    "one code": pasted(
        [
            "My backup code for <system> is <v>",
            "recovery code `<v>` still works",
            "He used the recovery code <v> to get in.",
            "backup code = <v>",
            "The 2FA recovery code: **<v>**",
        ],
        code,
    ),
    "letters for a program": pasted(
        [
            "export SSHPASS=<v>; sshpass -e ssh ana@<word>",
            "sshpass -p <v> sftp -o StrictHostKeyChecking=no root@10.0.0.3",
            "`sshpass -p <v> ssh pi@<word>.local`",
            "curl --user admin:<v> http://<word>.local/api/v1/x",
            'curl -X POST -u "ana:<v>" https://<word>.net/login',
            "curl -k -u ana:<v> -T x.tar https://dav.<word>.net/",
            "default login anonymous password <v>",
            "machine <word>.net login ben account x password <v>",
            "gpg -c --batch --yes --passphrase <v> x.tar",
            "gpg --decrypt --passphrase=<v> secrets.gpg > x",
            "printf '<v>' | gpg --passphrase-fd 0 --batch --import key.asc",
            "mosquitto_pub -u ana -P <v> -t x -m 1",
            "plink -pw <v> root@<word>",
            "mongosh --host <word> -u ana -p <v>",
        ],
        spoken,
    ),
    "named and set": mixed(
        pasted(
            [
                "In the dashboard, set `STRIPE_KEY` to `<v>`.",
                "I set `OPENAI_API_KEY` to <v> for now",
                'change "api_key" to "<v>"',
                "update `CLIENT_SECRET` to `<v>` on <place>",
                "`SENTRY_TOKEN` must be `<v>`",
                "set <code>API_TOKEN</code> to <code><v></code>",
                "set the env var `GITHUB_TOKEN` to value `<v>`",
            ],
            token,
        ),
        pasted(
            [
                "change `MYSQL_PASSWORD` to `<v>`",
                "set **DB_PASS** to **<v>**",
                "`REDIS_PASSWORD` is `<v>` everywhere",
                "set “password” to “<v>”",
            ],
            plain,
        ),
    ),
    "dots between": pasted(
        [
            "Wifi password is <v>",
            "ADMIN_PASSWORD=<v>",
            "user ana, password <v>",
            "{'password': '<v>'}",
            "contraseña: <v>",
            "the db password on <place> is `<v>`",
            "passwd = <v>",
        ],
        named_word,
    ),
    "said as words": pasted(
        [
            "sign in with the passphrase <v>",
            "the passphrase for the backup disk is <v>",
            "Passphrase: <v>",
            "decrypt it using passphrase <v>",
            'passphrase = "<v>"',
            "My passphrase is <v>, do not tell anyone.",
            "the key is locked by the passphrase <v>.",
            "She typed the passphrase `<v>`",
            "unlock the vault (passphrase <v>)",
        ],
        saying,
    ),
}

HELD_OUT_LOOKALIKES: dict[str, Make] = {
    "ids of rows": lookalike(
        [
            "PRIMARY KEY <uuid>",
            "with the idempotency key `<uuid>`",
            "idempotency_key=<uuid>",
            "the row with key <uuid>",
            "Primary key = `<uuid>`",
            '"idempotencyKey": "<uuid>"',
            "dedup key: <sha>",
            "the composite key <uuid>/<n>",
            "key=<hex>",
            "S3 key: <hex>",
            "lookup key <uuid>",
            "The blob has key `<hex>`.",
            "sharding key: <uuid>",
        ]
    ),
    "fingerprints": lookalike(
        [
            "gpg: key <HEX>: public key imported",
            "      Key fingerprint = <HEX>",
            "Signed with GPG key <HEX>",
            "PGP: <HEX>",
            "apt-key adv --recv-keys <HEX>",
            "key ID 0x<HEX>",
            "gpg --export <HEX> > key.asc",
            "fingerprint of the key: <HEX>",
            "nostr: npub1<bech>",
            "pubkey npub1<bech>",
            "follow me, key npub1<bech>",
        ]
    ),
    "marks of a handoff": lookalike(
        [
            "It is MIT. [verified: LICENSE.txt is <digest>]",
            "The secret rules changed. [verified: app/secrets/rules.toml is <digest>]",
            "[verified: password is <digest>]",
            "Tokens are kept. [verified: note token.md is <digest>]",
            "[verified: commit <digest> on fix/api-key, <n> files dirty]",
            "[verified: src/api_key.ts is <digest>]",
            "[verified: keys/public-key is <digest>]",
        ]
    ),
    "prose about them": lookalike(
        [
            "<n> tests pass (1.<n>s)",
            "Lint, types and tests pass (exit 0, 58.<n>s).",
            "all tests pass [12.<n>s]",
            "first pass (v2.<n>)",
            "- [API key setup](https://docs.<word>.net/keys2#new)",
            "see the [token guide](./token-v2.md)",
            "[Password reset flow](https://<word>.net/a?b=1#c2)",
            "Text Tokenizer: BERT-base-v2",
            "sentence tokenization = WordPiece30k",
            "the passphrase prompt dialog blocks tests",
            "A passphrase protected private key file is refused.",
            "Use a passphrase manager from the list below.",
            "recovery codes are printed once",
            "Backup codes: <n> per user, shown on first login",
            "recovery code flow, see PR #<n>",
            "backup code path (v2.<n>) is tested",
            "sshpass -p is not safe",
            "never use sshpass -p on shared hosts",
            "curl -u user:password https://<word>.net",
            "curl -u $USER:$TOKEN https://<word>.net",
            "machine <host> login <user> password <password>",
            "set `API_KEY` to your own key",
            "set `PASSWORD_MIN_LENGTH` to `12`",
            "set `TOKEN_TTL` to `3600s`",
            "token: PascalCaseName",
            "the secret class is `SecretManagerClient`",
            "gpg --passphrase-file pw.txt -d x.gpg",
            "gpg asks for the passphrase on the terminal",
        ]
    ),
}
