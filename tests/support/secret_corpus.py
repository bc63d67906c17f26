"""A corpus of credentials and of what only looks like one, made anew from a seed.

Nothing here is a credential: values are drawn when the corpus is built, and vendor prefixes are
put together from parts, so that no scanner finds one in the repository.
"""

from __future__ import annotations

import base64
import string
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from urllib.parse import quote

HEX = "0123456789abcdef"
ALNUM = string.ascii_letters + string.digits
URLSAFE = ALNUM + "-_"
BASE32 = string.ascii_uppercase + "234567"


@dataclass(frozen=True)
class Sample:
    """A text, and the values in it that must be found; none for a look-alike."""

    family: str
    text: str
    values: tuple[str, ...] = ()


def corpus(seed: int, each: int) -> list[Sample]:
    """`each` samples of every family."""
    random = Random(seed)
    return [
        make(random, family)
        for family, make in {**SECRETS, **LOOKALIKES}.items()
        for _ in range(each)
    ]


def draw(random: Random, alphabet: str, length: int) -> str:
    return "".join(random.choice(alphabet) for _ in range(length))


def uuid(random: Random) -> str:
    return "-".join(draw(random, HEX, n) for n in (8, 4, 4, 4, 12))


WORDS = [
    "amber",
    "anchor",
    "basket",
    "bridge",
    "candle",
    "cedar",
    "copper",
    "dragon",
    "ember",
    "falcon",
    "forest",
    "garden",
    "harbor",
    "island",
    "jungle",
    "kitten",
    "ladder",
    "lemon",
    "marble",
    "meadow",
    "nectar",
    "ocean",
    "orchid",
    "parrot",
    "pepper",
    "pirate",
    "planet",
    "puzzle",
    "quartz",
    "rabbit",
    "river",
    "rocket",
    "saddle",
    "silver",
    "summer",
    "sunset",
    "tiger",
    "timber",
    "tunnel",
    "turtle",
    "velvet",
    "violet",
    "walnut",
    "willow",
    "winter",
    "wizard",
    "yellow",
    "zebra",
]
PLACES = ["staging", "production", "dev", "test", "backup", "billing", "analytics"]
SYSTEMS = ["database", "server", "wiki", "router", "registry", "dashboard", "broker", "mailbox"]


def password(random: Random) -> str:
    """As people make them: words with digits and signs, or drawn by a manager."""
    word, other = random.choice(WORDS), random.choice(WORDS)
    return random.choice(
        [
            f"{word}{random.randint(2, 9999)}",
            f"{word.title()}{random.randint(10, 99)}!",
            f"{word.title()}{random.choice('#$@%')}{random.randint(10, 9999)}",
            f"{word}-{other}-{random.randint(10, 99)}",
            f"{word.title()}{other.title()}{random.randint(1, 99)}",
            word.replace("e", "3").replace("a", "4").title() + f"_{random.randint(1, 99)}x",
            draw(random, ALNUM, 6) + random.choice(string.digits) + random.choice("!#%&*") + "kQ",
            draw(random, ALNUM, 14) + "7z",
        ]
    )


def token(random: Random) -> str:
    return draw(random, ALNUM, random.randint(28, 48)) + "4a"


VENDORS: list[Callable[[Random], str]] = [
    lambda r: "sk-" + "ant-api03-" + draw(r, URLSAFE, 93) + "AA",
    lambda r: "sk-" + "proj-" + draw(r, URLSAFE, 120) + "9x",
    lambda r: "gh" + r.choice("pousr") + "_" + draw(r, ALNUM, 36),
    lambda r: "github" + "_pat_" + draw(r, ALNUM, 22) + "_" + draw(r, ALNUM, 59),
    lambda r: "gl" + "pat-" + draw(r, URLSAFE, 20),
    lambda r: "xo" + "xb-" + draw(r, string.digits, 12) + "-" + draw(r, ALNUM, 24),
    lambda r: "AK" + "IA" + draw(r, BASE32, 16),
    lambda r: "AI" + "za" + draw(r, ALNUM, 35),
    lambda r: "sk" + "_live_" + draw(r, ALNUM, 24),
    lambda r: "np" + "m_" + draw(r, ALNUM, 36),
    lambda r: "h" + "f_" + draw(r, ALNUM, 34),
    lambda r: "S" + "G." + draw(r, ALNUM, 22) + "." + draw(r, ALNUM, 43),
    lambda r: "do" + "p_v1_" + draw(r, HEX, 64),
    lambda r: "gs" + "k_" + draw(r, ALNUM, 52),
    lambda r: "dck" + "r_pat_" + draw(r, ALNUM, 27),
    lambda r: "lin" + "_api_" + draw(r, ALNUM, 40),
    lambda r: "hv" + "s." + draw(r, ALNUM, 90),
    lambda r: "py" + "pi-AgEIcHlwaS5vcmc" + draw(r, URLSAFE, 120),
    lambda r: "sh" + "pat_" + draw(r, HEX, 32),
    lambda r: "GOC" + "SPX-" + draw(r, ALNUM, 28),
    lambda r: str(r.randint(10**9, 10**10 - 1)) + ":A" + draw(r, ALNUM, 34),
    lambda r: "dp" + ".pt." + draw(r, ALNUM, 43),
    lambda r: "gl" + "sa_" + draw(r, ALNUM, 32) + "_" + draw(r, HEX, 8),
    lambda r: "key" + "-" + draw(r, HEX, 32),
    lambda r: "PM" + "AK-" + draw(r, HEX, 24) + "-" + draw(r, HEX, 34),
    lambda r: "sb" + "_secret_" + draw(r, ALNUM, 31),
]


def vendor(random: Random) -> str:
    return random.choice(VENDORS)(random)


def fixed_length(random: Random) -> str:
    """A token of a known length that is long enough to be folded."""
    return random.choice([VENDORS[i] for i in (2, 7, 9, 12, 14, 18)])(random)


def fill(random: Random, family: str, templates: list[str], value: str) -> Sample:
    text = random.choice(templates).format(
        v=value,
        place=random.choice(PLACES),
        system=random.choice(SYSTEMS),
        word=random.choice(WORDS),
        n=random.randint(2, 40),
    )
    return Sample(family, f"{text}\n", (value,))


def templated(
    templates: list[str], make: Callable[[Random], str]
) -> Callable[[Random, str], Sample]:
    return lambda random, family: fill(random, family, templates, make(random))


def jwt(random: Random) -> str:
    head = base64.urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT"}').decode().rstrip("=")
    body = base64.urlsafe_b64encode(b'{"sub":"%d"}' % random.randint(1, 10**9)).decode()
    return f"{head}.{body.rstrip('=')}.{draw(random, URLSAFE, 43)}"


def pem_body(random: Random) -> list[str]:
    return [draw(random, ALNUM + "+/", 64) for _ in range(random.randint(4, 12))]


def pem(random: Random, family: str) -> Sample:
    kind = random.choice(["RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", ""])
    begin, end = (f"-----{word} {kind}PRIVATE" + " KEY-----" for word in ("BEGIN", "END"))
    body = pem_body(random)
    if family == "pem cut off":
        return Sample(family, "\n".join(["It began with", begin, *body]) + "\n", tuple(body))
    if family == "pem in json":
        joined = "\\n".join([begin, *body, end])
        return Sample(family, f'{{"type": "service", "private_key": "{joined}\\n"}}', tuple(body))
    return Sample(family, "\n".join(["The key:", begin, *body, end, "after"]), tuple(body))


def encoded(random: Random, family: str) -> Sample:
    inner = random.choice([f"DB_PASSWORD={password(random)}", f"token: {vendor(random)}"])
    value = base64.b64encode(f"{inner} # {random.choice(WORDS)}".encode()).decode()
    return Sample(family, f"The secret's data is `{value}` in the cluster.\n", (value.rstrip("="),))


def percent_encoded(random: Random, family: str) -> Sample:
    value = draw(random, ALNUM, 12) + "7q"
    url = quote(f"postgres://app:{value}@db.{random.choice(WORDS)}.net:5432/x", safe="")
    return Sample(family, f"https://x.net/connect?url={url}&mode=ro\n", (value,))


def zero_width(random: Random, family: str) -> Sample:
    value, gap = vendor(random), random.choice("\u200b\u200c\u2060\ufeff")
    at = random.randint(8, len(value) - 8)
    value = value[:at] + gap + value[at:]
    return Sample(family, f"Use {value} for the {random.choice(SYSTEMS)}.\n", (value,))


def folded(random: Random, family: str) -> Sample:
    value = fixed_length(random)
    at = len(value) // 2
    broken = value[:at] + random.choice(["\n", "\n  ", "\\\n"]) + value[at:]
    text = f"The {random.choice(PLACES)} token is {broken} and expires in May.\n"
    return Sample(family, text, (broken,))


def seed_phrase(random: Random, family: str) -> Sample:
    value = " ".join(random.sample(WORDS, random.choice([12, 24])))
    intro = random.choice(["Seed phrase: ", "The wallet's recovery phrase is `", "mnemonic = "])
    return Sample(family, f"{intro}{value}{'`' if '`' in intro else ''}\n", (value,))


def cookie(random: Random, family: str) -> Sample:
    session, other = draw(random, ALNUM, 32) + "1", draw(random, HEX, 24) + "2"
    text = random.choice(
        [
            f"Cookie: session={session}; csrf={other}",
            f"-H 'cookie: sid={session}; remember={other}'",
            f"Set-Cookie: auth={session}; refresh={other}; Path=/; HttpOnly",
        ]
    )
    return Sample(family, f"> GET /\n> {text}\n", (session, other))


def aws_secret(random: Random) -> str:
    return draw(random, ALNUM + "+/", 38) + "7k"


SECRETS: dict[str, Callable[[Random, str], Sample]] = {
    "vendor in prose": templated(
        [
            "For {place} use {v} (ask before rotating).",
            "He pasted `{v}` into the chat.",
            "- {v}",
            "Key of the {system}: {v}.",
        ],
        vendor,
    ),
    "vendor in code": templated(
        [
            'client = Client(api_key="{v}")',
            "export SERVICE_TOKEN={v}",
            "const k = '{v}';",
            "args: [--key, {v}]",
        ],
        vendor,
    ),
    "vendor in transcript": templated(
        [
            '{{"role":"user","content":"my token:\\n{v}\\nplease use it"}}',
            '{{"output":"export A=\\"{v}\\"\\nok"}}',
        ],
        vendor,
    ),
    "assignment": templated(
        [
            "DB_PASSWORD={v}",
            'password: "{v}"',
            "password = '{v}'",
            '"dbPassword": "{v}",',
            "- **Password**: `{v}`",
            "passwd: {v}",
            "| {system} | password | {v} |",
            "{place}_pwd={v}",
            '{{\\"password\\": \\"{v}\\"}}',
            "spring.datasource.password={v}",
            "POSTGRES_PASSWORD: {v}",
            "password: {v}  # {place}",
            "Passphrase: {v}",
            "Server=db;User Id=app;Password={v};Timeout={n}",
            "<password>{v}</password>",
        ],
        password,
    ),
    "named token": templated(
        [
            "API_KEY={v}",
            'api_key: "{v}"',
            "auth_token = '{v}'",
            '"accessToken": "{v}"',
            "client_secret: {v}",
            "The API key for the {system} is {v}.",
            "secret key: `{v}`",
            "JWT_SECRET={v}",
            "webhook secret is {v}",
            "https://x.net/hook?token={v}&n={n}",
            "ENCRYPTION_KEY: {v}",
            "my access token is {v}, valid until May",
        ],
        token,
    ),
    "aws secret": templated(
        [
            "aws_secret_access_key = {v}",
            "AWS_SECRET_ACCESS_KEY={v}",
            '"SecretAccessKey": "{v}"',
            "The secret access key is {v}",
        ],
        aws_secret,
    ),
    "uuid under a key name": templated(
        ['SNYK_TOKEN="{v}"', "HEROKU_API_KEY={v}", "service_key: {v}", '"apiKey": "{v}"'], uuid
    ),
    "hex under a key name": templated(
        ["DATADOG_API_KEY={v}", "api-key: {v}", 'auth_token = "{v}"', "SECRET_KEY={v}"],
        lambda r: draw(r, HEX, r.choice([32, 40, 64])),
    ),
    "English prose": templated(
        [
            "The {place} password is {v}.",
            "Password for the {place} {system} is `{v}`",
            "the admin password was changed to {v}",
            "log in to the {system} with password {v}",
            "The {system}'s password: {v}",
            "My wifi password is now {v}",
            "credentials: admin / {v}X9",
            "The passphrase of the backup is “{v}”.",
            "use admin with the password '{v}' on {place}",
        ],
        password,
    ),
    "German prose": templated(
        [
            "Das Passwort für den Server lautet {v}.",
            "Das Kennwort ist {v}",
            "Passwort: {v}",
            "Das Passwort der Datenbank ist `{v}`, bitte nicht weitergeben",
            "Zugangsdaten: admin / {v}X9",
        ],
        password,
    ),
    "French prose": templated(
        [
            "Le mot de passe du serveur est {v}.",
            "Mot de passe : {v}",
            "le mot de passe de la base est « {v} »",
            "mdp: {v}",
        ],
        password,
    ),
    "Spanish prose": templated(
        [
            "La contraseña del servidor es {v}.",
            "Contraseña: {v}",
            "la contraseña de producción es «{v}»",
            "La clave es {v}",
        ],
        password,
    ),
    "Italian prose": templated(
        [
            "La password del server è {v}.",
            "La password di {place} è `{v}`",
            "Password: {v}",
            "La parola d'ordine è {v}",
        ],
        password,
    ),
    "Portuguese prose": templated(
        [
            "A senha do banco é {v}.",
            "Senha: {v}",
            "a senha de {place} é `{v}`",
            "A palavra-passe é {v}",
        ],
        password,
    ),
    "Chinese prose": templated(
        ["数据库密码是{v}。", "密码：{v}", "{place} 环境的密码为 `{v}`", "服务器口令: {v}"],
        password,
    ),
    "Korean prose": templated(
        [
            "데이터베이스 비밀번호는 {v} 입니다.",
            "비밀번호: {v}",
            "서버 암호는 `{v}`",
            "관리자 패스워드: {v}",
        ],
        password,
    ),
    "Japanese prose": templated(
        [
            "パスワードは{v}です。",
            "パスワード：{v}",
            "サーバーのパスワードは「{v}」",
            "合言葉は {v}",
        ],
        password,
    ),
    "Russian prose": templated(["Пароль: {v}", "пароль от сервера — {v}", "Пароль {v}"], password),
    "command line": templated(
        [
            "mysql -u root -p{v} shop",
            "mysqldump --password={v} shop",
            "sshpass -p '{v}' ssh ana@{word}",
            "tool login --password {v}",
            "redis-cli -h {word} -a {v} ping",
            "docker login -u ana -p {v} registry.{word}.net",
            "curl -u ana:{v} https://{word}.net",
            "curl -s --user 'ana:{v}' https://{word}.net/api",
            "sqlplus ana/{v}@{word}",
            "mongosh -u ana -p {v}",
        ],
        lambda r: password(r).replace("%", "5").replace("@", "6"),
    ),
    "header": templated(
        [
            "Authorization: Bearer {v}",
            "curl -H 'Authorization: token {v}' x",
            "X-Api-Key: {v}",
            'headers["Authorization"] = "Bearer {v}"',
            '"authorization": "Basic {v}=="',
            "Bearer {v}",
            "-H 'X-Auth-Token: {v}'",
            '\\"Authorization\\": \\"Bearer {v}\\"',
        ],
        token,
    ),
    "cookie": cookie,
    "connection string": templated(
        [
            "DATABASE_URL=postgres://app:{v}@db.{word}.net:5432/shop",
            "redis://:{v}@cache:6379/0",
            "amqp://ana:{v}@{word}/vhost",
            "mongodb+srv://ana:{v}@c.{word}.net/?retryWrites=true",
            "git clone https://ana:{v}@git.{word}.net/x.git",
            "`mysql+pymysql://root:{v}@localhost/shop`",
            "jdbc:mysql://db/shop?user=ana&password={v}&ssl=1",
        ],
        lambda r: draw(r, ALNUM, r.randint(8, 20)) + "3b",
    ),
    "jwt": templated(
        ["token {v}", "Bearer {v}", '"id_token":"{v}"', "It sent `{v}` back.", "?jwt={v}"], jwt
    ),
    "pem": pem,
    "pem cut off": pem,
    "pem in json": pem,
    "base64": encoded,
    "percent-encoded": percent_encoded,
    "zero-width inside": zero_width,
    "folded": folded,
    "seed phrase": seed_phrase,
    "pin": templated(
        [
            "PIN: {v}",
            "The PIN is {v}.",
            "Der PIN-Code lautet {v}",
            "His card's PIN is {v}, he said",
            "暗証番号は{v}です",
        ],
        lambda r: (
            str(r.randint(1001, 9998)) if r.random() < 0.5 else str(r.randint(100_001, 999_998))
        ),
    ),
}


def bare(templates: list[str]) -> Callable[[Random, str], Sample]:
    """Look-alikes: `{hex}`, `{sha}`, `{uuid}`, `{b64}` are drawn, `{n}` is a number."""

    def make(random: Random, family: str) -> Sample:
        text = random.choice(templates).format(
            hex=draw(random, HEX, 40),
            sha=draw(random, HEX, 64),
            md5=draw(random, HEX, 32),
            uuid=uuid(random),
            b64=draw(random, ALNUM + "+/", 120),
            short=draw(random, HEX, 7),
            id=draw(random, ALNUM, 24),
            n=random.randint(2, 60_000),
            place=random.choice(PLACES),
            system=random.choice(SYSTEMS),
            word=random.choice(WORDS),
            Word=random.choice(WORDS).title(),
        )
        return Sample(family, f"{text}\n")

    return make


LOOKALIKES: dict[str, Callable[[Random, str], Sample]] = {
    "digest": bare(
        [
            "Fixed in commit {hex}.",
            "sha256:{sha}",
            "The image is app@sha256:{sha}",
            '"integrity": "sha512-{b64}=="',
            "md5 {md5}",
            "checksum: {sha}",
            "git show {short}..{hex}",
            'ETag: "{md5}"',
            "| {word}.zip | {sha} |",
            "fingerprint SHA256:{id}",
        ]
    ),
    "uuid": bare(
        [
            "originSessionId: {uuid}",
            "request {uuid} failed",
            "session {uuid}",
            "tenant_id = {uuid}",
            "/api/items/{uuid}",
            "uuid: {uuid}",
            "idempotency_key: {uuid}",
            "See trace {uuid} in the {system}.",
            "client_id={uuid}",
            "- id: {uuid}",
        ]
    ),
    "id": bare(
        [
            "Notion page {id}",
            "https://docs.{word}.net/d/{id}/edit",
            "toolu_{id}",
            "req_{id}",
            "msg_{id}",
            "Build {n} of {word}-{place}-{n}",
            "order_{id} was refunded",
            "pk_live_{id}",
            "cursor: {id}",
            "next_page_token: {id}",
            "arn:aws:iam::{n}00000:role/{word}",
        ]
    ),
    "data and public keys": bare(
        [
            "![x](data:image/png;base64,{b64}{b64})",
            "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{id}{id} ana@{word}",
            "-----BEGIN CERTIFICATE-----\nMIID{b64}\n-----END CERTIFICATE-----",
            "-----BEGIN PUBLIC KEY-----\nMIIB{b64}\n-----END PUBLIC KEY-----",
            "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQ{b64} {word}",
            "public_key: {b64}=",
        ]
    ),
    "variable": bare(
        [
            "DB_PASSWORD=${{DB_PASSWORD}}",
            "password: $DB_PASS",
            "api_key: {{{{ secrets.API_KEY }}}}",
            "token = process.env.{Word}_TOKEN",
            'secret = os.environ["APP_SECRET"]',
            "password=$(pass show {word})",
            "key = settings.SECRET_KEY",
            "API_KEY: ${{{{ secrets.X }}}}",
            "Authorization: Bearer $TOKEN",
            "Authorization: Bearer ${{TOKEN}}",
            "postgres://app:${{PGPASSWORD}}@db/x",
            "curl -u $USER:$PASS x",
            "password: !vault {word}",
            "token: op://{word}/item/field",
            "mysql -u root -p$PW",
            "password = getpass.getpass()",
            "const token = await getToken({word})",
            "api_key=os.getenv('API_KEY2')",
            "secret: config.get('{word}.secret')",
        ]
    ),
    "placeholder": bare(
        [
            "API_KEY=YOUR_API_KEY",
            "api_key: <your-key>",
            "password: changeme",
            "token: xxxxxxxxxxxxxxxxxxxx",
            "password: ********",
            "SECRET_KEY=replace-me-with-32-chars",
            "Bearer <token>",
            "export TOKEN=your-token-here-1234",
            "password: [REDACTED]",
            "https://user:password@{word}.net",
            "postgres://user:pass@localhost/db",
            "AWS_SECRET_ACCESS_KEY=EXAMPLE-KEY-0123456789",
            "sk-...",
            "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "Password: [secret: password]",
            'api_key = "..."',
            "sk-ant-…",
        ]
    ),
    "prose about passwords": bare(
        [
            "The password is stored in 1Password.",
            "Password policy: at least {n} characters.",
            "token: the JWT from login",
            "STRIPE_SECRET_KEY is registered in doppler",
            "Passwords are hashed with bcrypt, cost 12.",
            "The secret is to rest the dough.",
            "Reset the password on the {system} page.",
            "password hashing: argon2id, see ADR-0{n}",
            "The API key is in the vault, ask Ana.",
            "Passwords must have 12 characters, one digit and one sign.",
            "The password field is called `password_hash`.",
            "Das Passwort steht im Tresor.",
            "Le mot de passe est dans Bitwarden.",
            "La contraseña está en 1Password.",
            "密码保存在 1Password 中。",
            "비밀번호는 1Password에 저장합니다.",
            "パスワードは1Passwordに保存する。",
            "A senha fica no cofre.",
            "La password è nel vault.",
            "Password rotation: every 90 days",
            "The token budget is {n}k per run",
            "max_tokens: {n}",
            "key insight: {word} beats {system}",
            "auth uses OAuth2 with PKCE",
            "The password is required.",
            "password: required",
            "password: string",
            "token: refresh in 15min",
            "Login: admin/users page",
            "The secret key: never commit it",
            "tokens: 128000",
            "Password reset: PR-{n}",
            "PIN entry is on screen {n}",
            "The seed phrase is written on paper and kept at the bank, not on a computer.",
            "password changed on 2026-01-02",
        ]
    ),
    "code": bare(
        [
            "def login(user: str, password: str) -> Token:",
            "password = models.CharField(max_length=128)",
            'type="password" name="pw"',
            "if token is None: raise AuthError401()",
            "const [password, setPassword] = useState('')",
            "password=password, token=token",
            "interface Auth {{ token: string; secret?: string }}",
            "primary_key: user_id",
            "key={{item.id}}",
            "sort_key: created_at2",
            "docker run -p 8080:80 {word}",
            "mkdir -p src/{word}/v2",
            "ssh -p 2222 ana@{word}",
            "psql -p 5432 -U ana",
            "mysql -P 3306 -h {word}",
            "self.secret_key = secret_key",
            "z.object({{ password: z.string().min(8) }})",
            "PASSWORD_MIN_LENGTH = 12",
            "token_count = 4096",
            "from auth import password_v2",
            "getUserByAccessTokenV2Handler()",
            "useOAuth2TokenRefreshCallback",
            "docker run -u 1000:1000 {word}",
            "PasswordResetTokenGenerator2Factory",
            "`test_password_is_hashed_with_argon2`",
            "key: users/{n}/avatar.png",
            "cache_key = f'{word}:v2:{n}'",
        ]
    ),
    "paths and addresses": bare(
        [
            "/home/ana/src/{word}/app2/secrets.py",
            "https://github.com/{word}/{system}/pull/{n}",
            "src/components/{Word}Password2Field.tsx",
            "`~/.ssh/id_ed25519`",
            "password file: /run/secrets/db_password_1",
            "see https://{word}.net:8443/login?next=/v2",
            "mailto:ana@{word}.net",
            "https://{word}.net/@ana:matrix",
            "192.168.0.{n}:5432",
            "key: ~/.config/{word}/key2.pem",
            "docs/adr/0{n}-token-rotation-2026-01-02.md",
        ]
    ),
}
