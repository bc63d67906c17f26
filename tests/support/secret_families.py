"""More families of credentials, and of what only looks like one, built as those of the corpus.

Each was measured before anybody looked at what was missed in it, and the rules were bettered by it
since. Families that were not used for that stand in `tests/support/held_out_secrets.py`.
"""

from __future__ import annotations

import base64
import string
from collections.abc import Callable
from random import Random
from urllib.parse import quote

from tests.support.secret_corpus import (
    ALNUM,
    HEX,
    PLACES,
    SYSTEMS,
    URLSAFE,
    WORDS,
    Sample,
    aws_secret,
    draw,
    password,
    pem_body,
    token,
    uuid,
    vendor,
)

BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"

Make = Callable[[Random, str], Sample]


def plain(random: Random) -> str:
    """A password without signs that a shell or an address would have to escape."""
    return draw(random, ALNUM, random.randint(8, 16)) + random.choice("37") + "kQ"


def pasted(templates: list[str], make: Callable[[Random], str] = password) -> Make:
    """As `templated`, for templates that are full of braces: `<v>` is the value."""

    def sample(random: Random, family: str) -> Sample:
        value = make(random)
        text = random.choice(templates)
        for name, drawn in (
            ("<v>", value),
            ("<word>", random.choice(WORDS)),
            ("<place>", random.choice(PLACES)),
            ("<system>", random.choice(SYSTEMS)),
            ("<id>", draw(random, HEX, 12)),
        ):
            text = text.replace(name, drawn)
        return Sample(family, f"{text}\n", (value,))

    return sample


def kubernetes(random: Random, family: str) -> Sample:
    value = base64.b64encode(password(random).encode()).decode().rstrip("=")
    text = f"apiVersion: v1\nkind: Secret\ndata:\n  password: {value}\n  user: YXBw\n"
    return Sample(family, text, (value,))


def netrc(random: Random, family: str) -> Sample:
    value = plain(random)
    text = random.choice(
        [
            f"$ cat ~/.netrc\nmachine git.{random.choice(WORDS)}.net login ana password {value}",
            f"machine api.{random.choice(WORDS)}.io\n  login ana\n  password {value}",
            f"$ cat ~/.pgpass\ndb.{random.choice(WORDS)}.net:5432:shop:app:{value}",
            f"//registry.{random.choice(WORDS)}.net/:_authToken={value}{value}",
            f"[pypi]\nusername = __token__\npassword = {value}",
        ]
    )
    values = (value + value,) if "_authToken" in text else (value,)
    return Sample(family, f"{text}\n", values)


def docker_auth(random: Random, family: str) -> Sample:
    value = base64.b64encode(f"ana:{plain(random)}".encode()).decode()
    text = f'{{"auths": {{"registry.{random.choice(WORDS)}.net": {{"auth": "{value}"}}}}}}'
    return Sample(family, f"{text}\n", (value.rstrip("="),))


def mixed(*makers: Make) -> Make:
    return lambda random, family: random.choice(makers)(random, family)


def pem_elsewhere(random: Random, family: str) -> Sample:
    """A key as it stands in a quotation, in YAML, in a variable, or with its head cut off."""
    kind = random.choice(["RSA ", "EC ", ""])
    begin, end = (f"-----{word} {kind}PRIVATE" + " KEY-----" for word in ("BEGIN", "END"))
    body = pem_body(random)
    lines = [begin, *body, end]
    text = random.choice(
        [
            "\n".join(f"> {line}" for line in lines),
            "key: |\n" + "\n".join(f"    {line}" for line in lines),
            'TLS_KEY="' + "\\n".join(lines) + '"',
            "TLS_KEY='" + " ".join(lines) + "'",
            "\n".join(f"+{line}" for line in lines),
            "... (cut)\n" + "\n".join([*body, end]),
            "\r\n".join(lines),
        ]
    )
    return Sample(family, f"{text}\n", tuple(body))


def folded_base64(random: Random, family: str) -> Sample:
    inner = (
        f"postgres://app:{plain(random)}@db.{random.choice(WORDS)}.net:5432/shop?sslmode=require"
    )
    value = base64.b64encode(f"DATABASE_URL={inner}\nMODE=ro\n".encode()).decode()
    at = random.choice([60, 64, 76])
    lines = [value[i : i + at] for i in range(0, len(value), at)]
    return Sample(family, "$ base64 .env\n" + "\n".join(lines) + "\n", tuple(lines[:1]))


def escaped(random: Random, family: str) -> Sample:
    """A value that is written in escapes: of addresses twice, of HTML, of JSON, of mail."""
    value = plain(random)
    url = f"postgres://app:{value}@db.{random.choice(WORDS)}.net/x"
    key = vendor(random)
    text, shown = random.choice(
        [
            (f"?next={quote(quote(url, safe=''), safe='')}", value),
            (f"&quot;password&quot;: &quot;{value}&quot;", value),
            (f"password&#61;{value}", value),
            (f'{{\\\\\\"password\\\\\\": \\\\\\"{value}\\\\\\"}}', value),
            (f"password%3D{value}%26mode%3Dro", value),
            (f"the \u00adkey {key[:9]}\u00ad{key[9:]} works", f"{key[:9]}\u00ad{key[9:]}"),
        ]
    )
    return Sample(family, f"{text}\n", (shown,))


def joined(random: Random, family: str) -> Sample:
    """A token that a program, a mail or a terminal has broken into two."""
    key = "gh" + "p_" + draw(random, ALNUM, 36)
    at = random.randint(12, 28)
    gap = random.choice(['" +\n    "', '" + "', "' '", '"\n  "', "=\n"])
    value = f"{key[:at]}{gap}{key[at:]}"
    return Sample(family, f'TOKEN = "{value}"\n', (key[:at], key[at:]))


SECRETS: dict[str, Make] = {
    "env file": pasted(
        [
            "# <place>\nSMTP_HOST=mail.<word>.net\nSMTP_PASS=<v>\nSMTP_PORT=587",
            "export REDIS_AUTH='<v>'",
            'ADMIN_PW="<v>"',
            "MAIL_PASSWORD = <v> # ask ana",
            "DB_USER=app\nDB_PASS=<v>\nDB_NAME=shop",
            "BASIC_AUTH=ana:<v>",
            "set FTP_PASSWORD=<v>",
            "$env:SQL_PASSWORD = '<v>'",
            "setenv VNC_PASSWD <v>",
            "KEYSTORE_PASSPHRASE=<v>",
        ]
    ),
    "shell session": pasted(
        [
            "$ PGPASSWORD=<v> psql -h db.<word>.net -U app shop",
            "echo '<v>' | docker login -u ana --password-stdin registry.<word>.net",
            "kubectl create secret generic db --from-literal=password=<v>",
            "wget --http-password=<v> https://<word>.net/dump.gz",
            "$ vault kv put secret/db password=<v>",
            "aws configure set aws_secret_access_key <v><v><v>",
            "htpasswd -bnBC 10 ana <v>",
            "openssl enc -aes-256-cbc -k <v> -in dump.sql",
            "git clone https://oauth2:<v>@git.<word>.net/app.git",
            "net use Z: \\\\<word>\\share /user:ana <v>",
            "ansible-playbook site.yml -e 'db_password=<v>'",
            "helm install app ./app --set auth.password=<v>",
            "az login --service-principal -u app -p <v> --tenant <word>",
            "echo 'ana:<v>' | chpasswd",
            "MYSQL_PWD=<v> mysqldump shop",
            "curl -X POST -d 'user=ana&password=<v>' https://<word>.net/login",
            'curl -d \'{"password":"<v>"}\' https://<word>.net/login',
        ],
        plain,
    ),
    "address": pasted(
        [
            "https://<word>.net/cb#access_token=<v>&state=1",
            "https://api.<word>.net/v1/items?api_key=<v>",
            "https://<word>.net/feed?auth=<v>",
            "wss://<word>.net/socket?apikey=<v>&v=2",
            "https://<word>.net/share?sig=1&access_key=<v>",
            "https://<word>.net/reset?reset_token=<v>",
            "ftp://ana:<v>@files.<word>.net/",
            "smtp://ana%40<word>.net:<v>@mail.<word>.net:587",
            "https://<v>@sentry.<word>.net/4",
            "https://x-access-token:<v>@github.com/<word>/app",
        ],
        token,
    ),
    "chat": pasted(
        [
            "the pw is <v>",
            "use <v> as the password for <place>",
            "login ana, pass <v>",
            "creds: ana:<v>",
            "<v> is the password of the <system>",
            "here is the password, please log in: <v>",
            "pwd → <v>",
            "I set the <system> password to <v> just now",
            "user is ana and password is <v>",
            "pass: <v> (only for <place>)",
            "username: ana\npassword: <v>",
            "The new root password, <v>, works",
            "the password (<v>) is the same on <place>",
            "it asked for a password so I typed <v>",
        ]
    ),
    "northern and eastern prose": pasted(
        [
            "Het wachtwoord is <v>.",
            "Wachtwoord: <v>",
            "Hasło do bazy to <v>",
            "hasło: <v>",
            "Lösenordet är <v>",
            "Lösenord: <v>",
            "Adgangskoden er <v>",
            "Passordet er <v>.",
            "Heslo je <v>",
            "Salasana on <v>",
            "A jelszó: <v>",
            "Parola: <v>",
            "Şifre: <v>",
            "sunucunun şifresi <v>",
            "Mật khẩu là <v>",
            "kata sandi: <v>",
            "Ο κωδικός είναι <v>",
            "Пароль до бази: <v>",
            "كلمة المرور: <v>",
            "पासवर्ड: <v>",
            "รหัสผ่าน: <v>",
            "הסיסמה היא <v>",
        ]
    ),
    "program text": pasted(
        [
            'conn = connect(host="db", user="app", password="<v>")',
            "define('DB_PASSWORD', '<v>');",
            "'password' => '<v>',",
            'Password: "<v>",',
            'System.setProperty("javax.net.ssl.keyStorePassword", "<v>");',
            "CREATE USER app IDENTIFIED BY '<v>';",
            "ALTER ROLE app WITH PASSWORD '<v>';",
            '<add key="DbPassword" value="<v>" />',
            'new NetworkCredential("ana", "<v>")',
            'private static final String PASSWORD = "<v>";',
            'auth=("ana", "<v>")',
            'os.environ["DB_PASSWORD"] = "<v>"',
            "password.value = '<v>'",
            'let dbPassword: String = "<v>"',
            '<property name="password" value="<v>"/>',
            'config :app, password: "<v>"',
            'requests.get(url, auth=HTTPBasicAuth("ana", "<v>"))',
        ]
    ),
    "key elsewhere": pem_elsewhere,
    "escaped": escaped,
    "broken in two": joined,
}

SECRETS |= {
    "tool output": mixed(
        kubernetes,
        netrc,
        docker_auth,
        pasted(
            [
                '"Env": ["PATH=/bin", "DB_PASSWORD=<v>", "MODE=ro"]',
                'db_password = "<v>"\nhost = "<word>.net"',
                "-  password: <word>\n+  password: <v>",
                '{"type":"tool_result","content":"HOME=/root\\nADMIN_PASSWORD=<v>\\nLANG=C"}',
                "12:DB_PASSWORD=<v>",
                "config/<place>.yml:7:  password: <v>",
                '    "SecretString": "{\\"username\\":\\"app\\",\\"password\\":\\"<v>\\"}"',
                "Generated password: <v>",
                "Your temporary password is <v>",
                " id | user | password\n----+------+---------\n  1 | ana  | <v>",
                "+ mysql -uroot -p<v> -e 'show tables'",
                "time=12:01 level=debug msg=login user=ana password=<v> ok=true",
            ],
            plain,
        ),
    ),
    "settings file": pasted(
        [
            "database:\n  host: db\n  password: <v>\n  pool: 5",
            "[smtp]\nuser = ana\npassword = <v>",
            'token = "<v>"',
            "<server><username>ana</username><password><v></password></server>",
            "spring:\n  datasource:\n    password: '<v>'",
            'variable "db_password" {\n  default = "<v>"\n}',
            "requirepass <v>",
            '- name: ADMIN_PASSWORD\n  value: "<v>"',
            "ldap.bind.password=<v>",
            '"credentials": {"user": "ana", "password": "<v>"}',
            "    - POSTGRES_PASSWORD=<v>",
            "rabbitmq.default_pass = <v>",
            "wpa_passphrase=<v>",
            'psk="<v>"',
            "auth_pass <v>",
        ],
        plain,
    ),
    "named by a vendor": pasted(
        [
            "CLOUDFLARE_API_TOKEN=<v>",
            "ALGOLIA_ADMIN_KEY=<v>",
            "mapbox_secret_token: <v>",
            "PUSHER_APP_SECRET=<v>",
            "the Datadog app key is <v>",
            "NEXTAUTH_SECRET=<v>",
            "TWILIO_AUTH_TOKEN: '<v>'",
            "vercel token: <v>",
            '"linearApiKey": "<v>"',
            "Our Airtable key: `<v>`",
            "github.token=<v>",
            'OKTA_CLIENT_TOKEN = "<v>"',
            "webhook_signing_secret: <v>",
            "session_secret = '<v>'",
            'export HF_TOKEN="<v>"',
        ],
        token,
    ),
    "folded base64": folded_base64,
    "remembered by an agent": pasted(
        [
            "- The <system> needs a login: user `ana`, password `<v>`.",
            "**DB creds**: app / <v>Z9",
            "| <place> | ana | password: <v> |",
            "User gave me the admin password (`<v>`) for the <system>.",
            "Access: ssh ana@<word>.net, password <v>",
            "Remember: sudo password = <v>",
            "The wifi at the office: network <word>, password <v>",
            "Login for <place> is ana / <v>Z9",
            "# Credentials\n- user: ana\n- password: <v>",
            "ana's password for the <system> was reset to <v> on Monday",
            "To deploy, log in as ana with `<v>` as password.",
        ]
    ),
}


def form(random: Random, family: str) -> Sample:
    """A value inside of something that is encoded as a whole."""
    value = plain(random)
    inner = f'{{"user": "ana", "password": "{value}"}}'
    packed = base64.urlsafe_b64encode(inner.encode()).decode()
    text, shown = random.choice(
        [
            (f"session={packed}", packed.rstrip("=")),
            (f"body: grant_type=password&username=ana&password={value}&scope=all", value),
            (f"body=grant_type%3Dpassword%26username%3Dana%26password%3D{value}", value),
            (f'{{\\"args\\": \\"{{\\\\\\"password\\\\\\": \\\\\\"{value}\\\\\\"}}\\"}}', value),
            (f'<input type="hidden" name="api_token" value="{value}{value}">', value + value),
            (f"The password is\n    {value}\nas of today.", value),
            (f"password = (\n    '{value}'\n)", value),
            (f"**password:** {value} ✅", value),
            (f"password: >-\n  {value}", value),
        ]
    )
    return Sample(family, f"{text}\n", (shown,))


SECRETS |= {
    "file of a program": pasted(
        [
            '{"ConnectionStrings": {"Main": "Server=<word>;Database=shop;User=sa;Password=<v>"}}',
            "spring.datasource.username=app\nspring.datasource.password=<v>",
            "nexusUsername=ana\nnexusPassword=<v>",
            "[client]\nuser=root\npassword=<v>\nhost=localhost",
            "[default]\naws_access_key_id = ABC\naws_secret_access_key = <v><v><v>",
            "https://ana:<v>@git.<word>.net",
            "[global]\nindex-url = https://ana:<v>@pypi.<word>.net/simple",
            '{"http-basic": {"repo.<word>.net": {"username": "ana", "password": "<v>"}}}',
            "<settings><servers><server><id>x</id><password><v></password></server></servers></settings>",
            "[inet_http_server]\nport=9001\nusername=ana\npassword=<v>",
            "services:\n  db:\n    environment:\n      MYSQL_ROOT_PASSWORD: <v>",
            "define( 'DB_PASSWORD', '<v>' );",
            "bind-dn: cn=admin\nbind-password: <v>",
            "smtp:\n  host: mail\n  user: ana\n  pass: <v>",
            '"auth": {"user": "ana", "pass": "<v>"}',
            "ansible_become_password: <v>",
            "  --requirepass <v>",
            "POSTGRES_PASSWORD_FILE=/run/x\nPOSTGRES_PASSWORD=<v>",
            "jdbc:postgresql://db.<word>.net/shop?user=app&password=<v>",
        ],
        plain,
    ),
    "output of a program": pasted(
        [
            "=== app Config Vars\nDATABASE_URL: postgres://u:<v>@ec2.<word>.net:5432/d",
            '"db_password": {\n    "value": "<v>",\n    "type": "string"\n  }',
            "$ printenv | grep PASS\nDB_PASS=<v>",
            "OperationalError: could not connect to postgresql://app:<v>@db.<word>.net/shop",
            "> POST /login HTTP/1.1\n> Authorization: Basic <v><v>=\n> Accept: */*",
            "Admin user created. Username: admin Password: <v>",
            "Your new API token: <v><v>",
            "Initial root password: <v>",
            "DEBUG connecting with {'user': 'app', 'password': '<v>'}",
            "export VAULT_TOKEN=<v><v>",
            "-- SET PASSWORD FOR app = '<v>';",
            "Environment:\n      DB_PASSWORD:  <v>\n      MODE:         ro",
            "2026-01-02T10:00:00Z INFO env: SMTP_PASSWORD=<v> SMTP_PORT=587",
            "+ export DB_PASSWORD=<v>",
            "secret/data/db\n====== Data ======\nKey         Value\n"
            "---         -----\npassword    <v>",
            "The generated password is: <v>",
        ],
        plain,
    ),
    "message to an agent": pasted(
        [
            "log into the <system> with user ana and password <v> and check the jobs",
            "The password changed, it's <v> now",
            "Use password <v> for the <place> <system>.",
            "try again, the password is <v> (capital first letter)",
            "for <place> take ana/<v> as login and password",
            "you need the sudo password: <v>",
            "connect to the db (user app, password <v>) and dump it",
            "please remember that the <system> password is <v>",
            "password for the wifi: <v>",
            "new password = <v>, old one is gone",
            "pass for <place>: <v>",
            "the passphrase is <v>",
            "I changed my password from kitten to <v>",
            "their admin account has the password <v>!",
            "so the creds are: user app, password <v>",
        ]
    ),
    "languages": pasted(
        [
            "Benutzer ana, Kennwort <v>",
            "Das neue Passwort heißt <v>",
            "Bitte nimm als Passwort <v>",
            "Le nouveau mot de passe : <v>",
            "utilise le mot de passe <v> pour la base",
            "La nueva contraseña es <v>",
            "usa la contraseña <v> en <place>",
            "La password nuova è <v>",
            "A nova senha é <v>",
            "usa a senha <v> no servidor",
            "Nowe hasło to <v>",
            "Het nieuwe wachtwoord is <v>",
            "Det nya lösenordet är <v>",
            "Новый пароль: <v>",
            "新密码是 <v>",
            "密码改成了 <v>",
            "新しいパスワードは <v> です",
            "새 비밀번호는 <v> 입니다",
            "Yeni şifre: <v>",
            "Nové heslo je <v>",
        ]
    ),
    "packed": form,
    "keys of services": pasted(
        [
            "STRIPE_SECRET=<v>",
            "the <word> api key: <v>",
            "OPENWEATHER_KEY=<v>",
            "apikey=<v>",
            "x-functions-key: <v>",
            "Set the token to <v> in the <system>",
            "key=<v>&q=sines",
            'headers = {"api-key": "<v>"}',
            "signing key `<v>`",
            "ROLLBAR_ACCESS_TOKEN: <v>",
            "the webhook's secret is <v>",
            "auth token for <place>: <v>",
            "CLIENT_SECRET='<v>'",
            '"private_token": "<v>"',
            "our key for the maps api is <v>",
        ],
        token,
    ),
}


def in_script(random: Random, family: str) -> Sample:
    """A key that a script writes to a file."""
    begin, end = (f"-----{word} OPENSSH PRIVATE" + " KEY-----" for word in ("BEGIN", "END"))
    body = pem_body(random)
    text = "\n".join(["cat > ~/.ssh/id <<'EOF'", begin, *body, end, "EOF", "chmod 600 ~/.ssh/id"])
    return Sample(family, f"{text}\n", tuple(body))


def service_account(random: Random, family: str) -> Sample:
    """The file that a cloud gives out for a robot."""
    begin, end = (f"-----{word} PRIVATE" + " KEY-----" for word in ("BEGIN", "END"))
    body = pem_body(random)
    joined = "\\n".join([begin, *body, end])
    text = (
        f'{{\n  "type": "service_account",\n  "project_id": "{random.choice(WORDS)}",\n'
        f'  "private_key": "{joined}\\n",\n  "client_email": "a@b.iam.example"\n}}'
    )
    return Sample(family, f"{text}\n", tuple(body))


def packed_file(random: Random, family: str) -> Sample:
    """Settings that are packed into one line."""
    inner = f"[db]\nuser = app\npassword = {plain(random)}\nplace = {random.choice(PLACES)}\n"
    value = base64.b64encode(inner.encode()).decode()
    text = random.choice([f"config: {value}", f"echo {value} | base64 -d", f'data = "{value}"'])
    return Sample(family, f"{text}\n", (value.rstrip("="),))


SECRETS |= {
    "diary of a session": pasted(
        [
            "- Ana handed over the <system> password: <v>",
            "- <place>: ssh root@10.0.0.4 (password: <v>)",
            "1. Open the <system>\n2. Sign in as ana with password <v>\n3. Export",
            "## Access\n\nUser: ana\nPassword: <v>\nHost: db.<word>.net",
            "The user wants me to use `<v>` as the password of the test account.",
            "Workaround: set PGPASSWORD=<v> before psql.",
            "> my password is <v>",
            "The shared account is team / password: <v>",
            "Password (<place>): <v>",
            "- [x] rotate the db password, now <v>",
            "NB: root pw on <place> = <v>",
            "The PDF is locked, its password is “<v>”.",
        ]
    ),
    "call in a program": pasted(
        [
            'client.login("ana@<word>.net", password="<v>")',
            "mysql.createConnection({ host: 'db', user: 'app', password: '<v>' })",
            'DriverManager.getConnection(url, "app", "<v>") // password',
            "$pdo = new PDO($dsn, 'app', '<v>'); // db password",
            'cfg.Password = "<v>"',
            "smtp.login('ana', password='<v>')",
            "sequelize = new Sequelize('shop', 'app', process.env.DB_PASS || '<v>')",
            "const DB_PASSWORD = '<v>' as const",
            'static let apiPassword = "<v>"',
            'password := "<v>"',
            'val password: String? = "<v>"',
            "spec.password('<v>')",
            "await page.fill('#password', '<v>')",
            'driver.find_element(By.ID, "password").send_keys("<v>")',
            "assert login('ana', password='<v>').ok",
        ],
        plain,
    ),
    "token of a service": pasted(
        [
            "curl -H 'Authorization: Bearer <v>' https://<word>.net",
            "curl -H 'PRIVATE-TOKEN: <v>' https://git.<word>.net/api/v4",
            "SENTRY_AUTH_TOKEN=<v>",
            "npm config set //registry.<word>.net/:_authToken <v>",
            'openai.api_key = "<v>"',
            "export GH_TOKEN=<v>",
            "The deploy token is <v>.",
            "apiKey: '<v>',",
            '"refresh_token": "<v>",',
            "const SECRET = '<v>';",
            "<word>_api_key = <v>",
            "access_token=<v>; path=/",
            'encryptionKey := "<v>"',
            "https://api.<word>.net/v2?key=<v>",
            "X-API-KEY: <v>",
        ],
        token,
    ),
    "cloud and files": mixed(
        in_script,
        service_account,
        packed_file,
        pasted(
            [
                "[prod]\naws_access_key_id = X\naws_secret_access_key = <v>",
                'AWS.config.update({secretAccessKey: "<v>"})',
                "--secret-key <v>",
            ],
            aws_secret,
        ),
        pasted(["api_key: <v>", 'TOKEN="<v>"', "X-Auth-Token: <v>", "client_secret=<v>"], uuid),
        pasted(["use this key: <v>", "`<v>`", "KEY=<v>", "| key | <v> |"], vendor),
    ),
    "said in other words": pasted(
        [
            "Das Passwort vom <system> wurde auf <v> geändert",
            "Passwort neu: <v>",
            "le mdp de <place> c'est <v>",
            "nouveau mdp = <v>",
            "la contraseña para entrar es <v>",
            "cambié la contraseña a <v>",
            "ho cambiato la password in <v>",
            "mudei a senha para <v>",
            "wachtwoord voor <place>: <v>",
            "hasło na serwer: <v>",
            "пароль теперь <v>",
            "пароль: `<v>`",
            "密码是：<v>",
            "测试环境密码 <v>",
            "パスワードを <v> に変更",
            "비밀번호를 <v> 로 변경",
            "lösenordet till servern är <v>",
            "salasana: <v>",
        ],
        password,
    ),
}


def letters(random: Random) -> str:
    """A password of letters alone, as people type it for a shell."""
    word, other = random.choice(WORDS), random.choice(WORDS)
    made = draw(random, string.ascii_lowercase, random.randint(8, 12))
    mixed_case = draw(random, string.ascii_letters, random.randint(9, 14))
    return random.choice([word, word + other, word.title() + other, made, f"q{mixed_case}Z"])


def dotted(random: Random) -> str:
    """Two words and a number, with dots between the words."""
    word, other = random.choice(WORDS), random.choice(WORDS)
    return f"{random.choice([word, word.title()])}.{other}{random.randint(10, 999)}"


def words_of_a_passphrase(random: Random) -> str:
    return " ".join(random.sample(WORDS, random.randint(4, 7)))


def codes(random: Random, family: str) -> Sample:
    """Codes that let their owner in when the second factor is lost."""
    make: Callable[[], str] = random.choice(
        [
            lambda: f"{draw(random, ALNUM.lower(), 5)}-{draw(random, ALNUM.lower(), 5)}",
            lambda: f"{draw(random, HEX, 4)}-{draw(random, HEX, 4)}",
            lambda: draw(random, string.digits, 8),
            lambda: f"{draw(random, string.digits, 4)} {draw(random, string.digits, 4)}",
            lambda: draw(random, HEX, 9) + "7",
        ]
    )
    drawn = [make() for _ in range(random.choice([1, 4, 8, 10]))]
    if len(drawn) == 1:
        start = random.choice(["The recovery code is ", "backup code: ", "2FA recovery code: `"])
        return Sample(family, f"{start}{drawn[0]}{'`' if '`' in start else ''}\n", (drawn[0],))
    start = random.choice(
        ["GitHub recovery codes", "Backup codes for the wiki", "2FA backup codes"]
    )
    between = random.choice(
        ["\n", "\n- ", ", ", " ", "\n1. "] if " " not in drawn[0] else ["\n", "\n- "]
    )
    value = between.join(drawn)
    first = between if "\n" in between else " "
    return Sample(family, f"{start}:{first}{value}\n", (value,))


SECRETS |= {
    "recovery codes": codes,
    "passphrase of gpg": pasted(
        [
            "gpg --batch --passphrase <v> -d backup.gpg",
            "gpg --pinentry-mode loopback --passphrase '<v>' --sign <word>.txt",
            'echo "<v>" | gpg --batch --passphrase-fd 0 -d <word>.gpg',
            "The gpg passphrase is `<v>`.",
            "gpg passphrase: <v>7",
            "signing.gnupg.passphrase=<v>",
            "GPG_PASSPHRASE=<v>",
        ],
        letters,
    ),
    "name set to a value": mixed(
        pasted(
            [
                "Then set `API_KEY` to `<v>`.",
                "set `<word>_TOKEN` to `<v>` in the dashboard",
                "`API_KEY` is now `<v>`",
                "Set **API_KEY** to `<v>`",
                'Set the variable "AUTH_TOKEN" to "<v>".',
            ],
            token,
        ),
        pasted(
            [
                "set `DB_PASSWORD` to `<v>` first",
                "`ADMIN_PASSWORD` was set to `<v>`",
                "Set *password* to `<v>`.",
            ],
        ),
    ),
    "letters alone on a command line": pasted(
        [
            "sshpass -p <v> ssh ana@<word>",
            "sshpass -p '<v>' scp a.txt ana@<word>:",
            'sshpass -p"<v>" rsync -a x y',
            "curl -u ana:<v> https://<word>.net",
            "curl -s --user 'ana:<v>' https://<word>.net/api",
            "machine git.<word>.net login ana password <v>",
            "machine git.<word>.net\n  login ana\n  password <v>",
            "redis-cli -h <word> -a <v> ping",
            "docker login -u ana -p <v> registry.<word>.net",
        ],
        letters,
    ),
    "words with a dot": pasted(
        [
            "The <system> password is <v>.",
            "password: <v>",
            "DB_PASSWORD=<v>",
            'password = "<v>"',
            "log in to the <system> with password <v>",
            "Passwort: <v>",
        ],
        dotted,
    ),
    "passphrase in words": pasted(
        [
            "log in with the passphrase <v>",
            "Unlock it with the passphrase <v>.",
            "The passphrase is <v>.",
            "passphrase: <v>",
            "Passphrase of the <system>: <v>",
            "use the passphrase <v> and then restart",
            "the passphrase was changed to <v>",
            "My ssh key has the passphrase “<v>”.",
        ],
        words_of_a_passphrase,
    ),
}


def lookalike(templates: list[str]) -> Make:
    """What only looks like a credential; `<…>` are drawn."""

    def sample(random: Random, family: str) -> Sample:
        text = random.choice(templates)
        for name, drawn in (
            ("<hex>", draw(random, HEX, 40)),
            ("<sha>", draw(random, HEX, 64)),
            ("<HEX>", draw(random, HEX, 40).upper()),
            ("<digest>", draw(random, HEX, 12)),
            ("<bech>", draw(random, BECH32, 58)),
            ("<short>", draw(random, HEX, 8)),
            ("<uuid>", uuid(random)),
            ("<b64>", draw(random, ALNUM + "+/", 86)),
            ("<id>", draw(random, URLSAFE, 22)),
            ("<num>", draw(random, string.digits, 12)),
            ("<n>", str(random.randint(2, 90))),
            ("<word>", random.choice(WORDS)),
            ("<system>", random.choice(SYSTEMS)),
            ("<place>", random.choice(PLACES)),
        ):
            text = text.replace(name, drawn)
        return Sample(family, f"{text}\n")

    return sample


LOOKALIKES: dict[str, Make] = {
    "lock file": lookalike(
        [
            '"integrity": "sha512-<b64>==",',
            'resolved "https://registry.yarnpkg.com/<word>/-/<word>-1.<n>.0.tgz#<hex>"',
            'checksum = "<sha>"',
            "<word>==1.<n>.0 --hash=sha256:<sha>",
            "github.com/<word>/app v1.<n>.0 h1:<b64>=",
            '    {file = "<word>-1.<n>.tar.gz", hash = "sha256:<sha>"},',
            "      tarball: https://<word>.net/-/<word>-2.<n>.tgz",
            '"_resolved": "git+ssh://git@github.com/<word>/app.git#<hex>"',
            'source = "registry+https://github.com/rust-lang/crates.io-index"\nchecksum = "<sha>"',
        ]
    ),
    "tool noise": lookalike(
        [
            "commit <hex>\nAuthor: Ana <ana@<word>.net>",
            "index <short>..<short> 100644",
            "  1 file changed, <n> insertions(+)",
            'data: {"id":"chatcmpl-<id>","object":"chat.completion.chunk"}',
            '"tool_use_id":"toolu_01<id>"',
            "x-request-id: <uuid>",
            "trace_id=<short><short><short><short> span_id=<short><short>",
            "CONTAINER ID   IMAGE\n<short>abcd   <word>:1.<n>",
            "arn:aws:secretsmanager:eu-west-1:<num>:secret:<word>-db-AbCdEf",
            "kid: <id>",
            "PASS tests/<word>.test.ts (<n> tests)",
            "Test passed: password_reset_<n>",
            "2 passed, <n> failed in 0.<n>s",
            "blob sha1 <hex> size <num>",
            'etag: W/"<short>-<id>"',
            "pod/<word>-7d9f8b6c5d-x2x<n>z   1/1   Running",
            "--boundary <short>-<uuid>",
        ]
    ),
    "talk about credentials": lookalike(
        [
            "Rotate the token every <n> days.",
            "The password is read from the environment.",
            "we never store passwords in <system>s",
            "Please ask Ana for the password to the <system>.",
            "I lost my password for <place> again",
            "Set DB_PASSWORD in the .env file before you start.",
            "the api key goes into the <system>, see README",
            "Tests use a fake token.",
            "secret santa is on the <n>th",
            "Use a passphrase of four words or more.",
            "The token has expired, log in again.",
            "password must match the one in the <system>",
            "Het wachtwoord staat in de kluis.",
            "Hasło jest w sejfie.",
            "Lösenordet finns i 1Password.",
            "Şifre kasada duruyor.",
            "The key to speed is the index.",
            "auth: basic, no tls on <place>",
            "pass the <word> to the <system> function",
            "keyboard: <word> v<n>",
        ]
    ),
    "public keys and certificates": lookalike(
        [
            "-----BEGIN CERTIFICATE-----\n<b64>\n<b64>\n-----END CERTIFICATE-----",
            "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n<b64>\n<b64>\n"
            "-----END PGP PUBLIC KEY BLOCK-----",
            "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI<id><id> ana@<word>",
            "SHA256:<id><id> ana@<word> (ED25519)",
            "Fingerprint: <short> <short> <short>",
            'ca_certificate = "<b64>=="',
            "![](data:image/png;base64,<b64><b64>)",
            'src="data:font/woff2;base64,<b64><b64>"',
            "-----BEGIN CERTIFICATE REQUEST-----\n<b64>\n-----END CERTIFICATE REQUEST-----",
            "pub   rsa4096 2024-01-<n> [SC]\n      <hex>",
        ]
    ),
    "stands for a value": lookalike(
        [
            "password: ${{ secrets.DB_PASSWORD }}",
            "token: {{ .Values.auth.token }}",
            "password = var.db_password",
            "api_key: ENV['API_KEY']",
            "DB_PASSWORD=$(cat /run/secrets/db)",
            "Authorization: Bearer {{token}}",
            "https://ana:${TOKEN}@git.<word>.net/app",
            "password: '%env(DB_PASSWORD)%'",
            '--password "$DB_PASSWORD"',
            "token: ****<n>",
            "secretKeyRef:\n  name: <word>\n  key: password",
            "password: <your password>",
            "apiKey: process.env.API_KEY!",
            "DB_PASS=",
            "api_key=REPLACE_ME",
            "password=!{vault.db}",
            'token := os.Getenv("TOKEN")',
            "client_secret: [REDACTED:api-key:<n>]",
        ]
    ),
}

LOOKALIKES |= {
    "keys that are names": lookalike(
        [
            "primary key: <uuid>",
            "the primary key is <uuid>",
            "idempotency key <uuid>",
            "Idempotency-Key: <uuid>",
            "key: <hex>",
            "| key | <hex> |",
            "foreign key <uuid>",
            "partition key: <uuid>",
            "cache key <hex>",
            "object key: <sha>",
            "row key <uuid> was not there",
            "sort key: <uuid>",
        ]
    ),
    "fingerprints and public names": lookalike(
        [
            "Key fingerprint = <HEX>",
            "gpg --recv-keys <HEX>",
            "The PGP key <HEX> signs the releases.",
            "signing key: <HEX>",
            "gpg: using RSA key <HEX>",
            "user.signingkey <HEX>",
            "my nostr key is npub1<bech>",
            "public key: npub1<bech>",
            "[verified: LICENSE is <digest>]",
            "[verified: src/auth.py is <digest>]",
            "[verified: note api_key.md is <digest>]",
            "[verified: tests/token is <digest>]",
        ]
    ),
    "words that begin as names do": lookalike(
        [
            "Image Tokenizer: DINOv2-based",
            "tokenizer: cl100k_base",
            "[Passphrase Guide](https://<word>.net/guide2#top)",
            "[Password policy](../docs/policy2.md#a1)",
            "tests pass (47.2s)",
            "All <n> checks pass (3m41s)",
            "12 tests pass (0.<n>s)",
            "The session is called `CondenseSession`.",
            "the secret is in `CondenseSession`",
            "token = CondenseSession",
            "password: `UserSession`",
            "Secretary: Ana<n>",
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


SECRETS |= {
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

LOOKALIKES |= {
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


SECRETS |= {
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
