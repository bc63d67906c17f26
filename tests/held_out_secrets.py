"""Families of credentials that the rules have never been bettered by.

What is missed in them is counted and not looked at. Whoever looks, moves the family to
`tests/secret_families.py` and writes another one.
"""

from __future__ import annotations

import base64
from random import Random

from secret_corpus import PLACES, WORDS, Sample, aws_secret, password, pem_body, token, uuid, vendor
from secret_families import Make, mixed, pasted, plain


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


HELD_OUT: dict[str, Make] = {
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
