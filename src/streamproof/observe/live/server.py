"""The server of the live page, in a thread of its own: one page, the stream of its pictures, and the picture of now. It only reads.

Server-sent events are written here, without sse-starlette: one is three lines, and that library changes uvicorn for the whole process, in
which the user's own job runs.
"""

import asyncio
import base64
import hashlib
import logging
import socket
import threading
from contextlib import suppress
from importlib.resources import files
from typing import Any
from urllib.parse import urlencode

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from streamproof.observe.addresses import LIVE_PORT, NO_PATIENCE, Patience, Wanted, listening, parsed, url
from streamproof.observe.live.access import PARAMETER, Access, cookie_at
from streamproof.observe.live.board import Board
from streamproof.observe.live.readers import Readers

WANTED = Wanted("live page", "--live {}", LIVE_PORT, "lets other machines look at it, with a token")
SEND_SECONDS = 10.0
"""A browser that takes nothing for so long is dropped: it comes again by itself, and gets the present picture."""
LAST_SECONDS = 1.0
"""How long the end of a run waits until open pages have the last picture."""
_START_SECONDS = 10.0
_LOG = logging.getLogger("streamproof.live")
_LOG.addHandler(logging.NullHandler())
_LOG.propagate = False
_HEADERS = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff"}


class TooSlow(Exception):
    """A browser has taken nothing for too long."""


class _Quiet(H11Protocol):
    """Says nothing of its own: a line a request would fill the screen of the run."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.logger, self.access_log = _LOG, False


def bound(address: str, wanted: Wanted = WANTED, patience: Patience = NO_PATIENCE) -> socket.socket:
    """A socket that listens at an address: a port, or HOST:PORT; `wanted` is how it was asked for.

    Raises
    ------
    ConfigurationError
        If it is no address.
    PortTaken
        If the port is taken, and still is once the patience is at its end.
    """
    return listening(*parsed(address, wanted), wanted, patience)


class LivePage:
    """A page in a browser, for as long as what its board shows goes on.

    Parameters
    ----------
    board
        What there is to show.
    listens
        The socket that it is reached at.
    access
        Who may look.
    """

    def __init__(self, board: Board, listens: socket.socket, access: Access) -> None:
        self._board, self._access, self._listens = board, access, listens
        self._shared = listens.dup()
        self.url = url(listens.getsockname()[:2], "/")
        self._loop: asyncio.AbstractEventLoop | None = None
        self._readers: Readers | None = None
        self._server: uvicorn.Server | None = None
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="streamproof-live", daemon=True)

    def __enter__(self) -> "LivePage":
        self._thread.start()
        self._ready.wait(_START_SECONDS)
        self._board.tell(self._changed)
        return self

    def __exit__(self, kind: object, problem: BaseException | None, trace: object) -> None:
        self._board.close(problem)
        if self._loop is not None:
            with suppress(RuntimeError):  # its loop is over already
                asyncio.run_coroutine_threadsafe(self._finish(), self._loop)
        self._thread.join(LAST_SECONDS + 5)
        with (
            suppress(OSError),
            self._shared,
        ):  # a process that was forked meanwhile has the socket too, and would leave browsers waiting
            self._shared.shutdown(socket.SHUT_RDWR)

    def _changed(self) -> None:
        """Called in the threads of the run: it wakes the server, and waits for nothing."""
        if self._loop is not None and self._readers is not None:
            with suppress(RuntimeError):  # its loop is over already
                self._loop.call_soon_threadsafe(self._readers.changed)

    async def _serve(self) -> None:
        self._loop, self._readers = asyncio.get_running_loop(), Readers(self._board.now)
        telling = asyncio.create_task(self._readers.tell())
        self._server = uvicorn.Server(
            uvicorn.Config(
                _app(self._board, self._readers, self._access),
                log_config=None,
                access_log=False,
                lifespan="off",
                http=_Quiet,
                ws="none",
                loop="none",
                proxy_headers=False,
                server_header=False,
                timeout_graceful_shutdown=1,
            )
        )
        self._ready.set()
        try:
            await self._server.serve(sockets=[self._listens])
        finally:
            telling.cancel()

    async def _finish(self) -> None:
        assert self._readers is not None
        assert self._server is not None
        await self._readers.end(LAST_SECONDS)
        for connection in list(self._server.server_state.connections):
            if connection.transport.get_write_buffer_size():  # who has not taken the last picture by now is not waited for
                connection.transport.abort()
        self._server.should_exit = True


def _app(board: Board, readers: Readers, access: Access) -> ASGIApp:
    page, denied = _asset("page.html"), _asset("denied.html")
    headers = {**_HEADERS, "Content-Security-Policy": _policy(page)}

    async def show(_request: Request) -> Response:
        return HTMLResponse(page, headers=headers)

    async def pictures(request: Request) -> Response:
        if request.method == "HEAD":  # a stream of nothing would never end
            return Response(headers=_HEADERS, media_type="text/event-stream")
        if readers.full:
            return PlainTextResponse("As many pages are open as may be. Close one.\n", 503, {**_HEADERS, "Retry-After": "10"})
        return StreamingResponse(
            readers.pictures(), headers={**_HEADERS, "X-Accel-Buffering": "no"}, media_type="text/event-stream"
        )

    async def picture(_request: Request) -> Response:
        return JSONResponse(board.now(), headers=_HEADERS)

    routes = [Route("/", show), Route("/pictures", pictures), Route("/picture.json", picture)]
    return _Dropping(_Guarded(Starlette(routes=routes), access, denied))


class _Guarded:
    """Answers those who may look; tells the others what to do."""

    def __init__(self, app: ASGIApp, access: Access, denied: str) -> None:
        self._app, self._access, self._denied = app, access, denied

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        await (self._refused(request) or self._app)(scope, receive, send)

    def _refused(self, request: Request) -> Response | None:
        access = self._access
        if not access.is_at(request.headers):
            return PlainTextResponse("This page is for this machine alone: open it as http://127.0.0.1.\n", 421, _HEADERS)
        given = request.query_params.get(PARAMETER)
        if given is not None and access.knows(given):  # out of the address bar, and so out of history and logs
            rest = [(key, value) for key, value in request.query_params.multi_items() if key != PARAMETER]
            answer = RedirectResponse(f"{request.url.path}{'?' if rest else ''}{urlencode(rest)}", 303, _HEADERS)
            answer.set_cookie(cookie_at(request.headers), given, httponly=True, samesite="strict")
            return answer
        if access.admits(request.headers):
            return None
        where = access.where
        if "text/html" in request.headers.get("accept", ""):
            policy = {"Content-Security-Policy": _policy(self._denied)}
            return HTMLResponse(self._denied.replace("{{where}}", where), 401, {**_HEADERS, **policy})
        said = f"This page needs its token, which is {where} where the job runs. Send it as: Authorization: Bearer TOKEN\n"
        return PlainTextResponse(said, 401, {**_HEADERS, "WWW-Authenticate": "Bearer"})


class _Dropping:
    """Ends the answer to a browser that takes nothing."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_in_time(message: Message) -> None:
            try:
                await asyncio.wait_for(send(message), SEND_SECONDS)
            except TimeoutError:
                raise TooSlow from None

        await self._app(scope, receive, send_in_time)


def _asset(name: str) -> str:
    return (files("streamproof.observe.live") / name).read_text(encoding="utf-8")


def _policy(page: str) -> str:
    """Nothing from anywhere else: the page's own script, and the stream of its pictures."""
    _, _, rest = page.partition("<script>")
    script, there, _ = rest.partition("</script>")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    allowed = f"script-src 'sha256-{digest}'; connect-src 'self'; " if there else ""
    return f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; {allowed}base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
