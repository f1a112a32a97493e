"""A real mail server, aiosmtpd, that is in whatever mood a test wants it to be.

Moods come in at the standard input, a JSON object a line: what it `does` (takes, refuses, hangs, drops or holds), `at`
which step, and whom it has `refused`. What happens goes out at the standard output, a JSON object a line too. It ends
with its input, and so with the test.
"""

import argparse
import asyncio
import json
import pathlib
import ssl
import sys
import warnings

import trustme
from aiosmtpd.smtp import SMTP, AuthResult

NO = "554 5.7.1 not from you"


def tell(what, value=True):
    print(json.dumps({what: value}), flush=True)


class Handler:
    """What it says at each step of a conversation."""

    def __init__(self):
        self.mood = {"does": "takes"}
        self.change = asyncio.Event()

    def changes_to(self, mood):
        self.mood = mood
        self.change.set()
        self.change = asyncio.Event()

    async def refuses(self, step):
        """Hangs at this step until the mood changes, or says whether to refuse."""
        if self.mood.get("at", step) != step:
            return False
        while self.mood["does"] == "hangs":
            await self.change.wait()
        return self.mood["does"] == "refuses"

    async def handle_EHLO(self, server, session, envelope, hostname, responses):
        session.host_name = hostname
        return [NO] if await self.refuses("EHLO") else responses

    async def handle_MAIL(self, server, session, envelope, address, options):
        if await self.refuses("MAIL"):
            return NO
        envelope.mail_from = address
        return "250 fine"

    async def handle_RCPT(self, server, session, envelope, address, options):
        if address in self.mood.get("refused", []) or await self.refuses("RCPT"):
            return "550 5.1.1 nobody of that name"
        envelope.rcpt_tos.append(address)
        return "250 fine"

    async def handle_DATA(self, server, session, envelope):
        if await self.refuses("DATA"):
            return NO
        tell("mail", {"to": envelope.rcpt_tos, "raw": envelope.content.decode()})
        if self.mood["does"] == "drops":
            server.transport.abort()
        while self.mood["does"] == "holds":
            await self.change.wait()
        return "250 taken"

    async def handle_QUIT(self, server, session, envelope):
        tell("farewell")
        return "221 bye"


class Server(SMTP):
    """One conversation."""

    async def _handle_client(self):
        tell("visit")
        if not await self.event_handler.refuses("banner"):
            await super()._handle_client()


def certificate(folder):
    """One from an authority of its own, whose certificate it leaves in the folder."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(folder / "authority.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    return context


async def main(options):
    handler = Handler()
    context = certificate(options.folder) if options.tls else None

    def authenticate(server, session, envelope, mechanism, given):
        tell("login", given.login.decode())
        success = given.password.decode() == options.password
        return AuthResult(success=success, handled=False)

    def converse():
        return Server(
            handler,
            tls_context=context if options.tls == "starttls" else None,
            require_starttls=options.tls == "starttls",
            auth_required=options.password is not None,
            auth_require_tls=options.tls == "starttls",
            authenticator=authenticate,
        )

    listener = await asyncio.get_running_loop().create_server(
        converse, "127.0.0.1", 0, ssl=context if options.tls == "implicit" else None
    )
    tell("port", listener.sockets[0].getsockname()[1])
    while line := await asyncio.to_thread(sys.stdin.readline):
        handler.changes_to(json.loads(line))
        tell("changed")


if __name__ == "__main__":
    # That a password without STARTTLS is a risk: here the TLS is there from the first byte.
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--tls", choices=["implicit", "starttls"])
    parser.add_argument("--password")
    asyncio.run(main(parser.parse_args()))
