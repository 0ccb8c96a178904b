"""Chromium, driven by its own protocol through a pipe: no package and no port."""

import base64
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
MISSING = "needs Chromium: install the package chromium, or name the program in CHROMIUM"


def program() -> str | None:
    """Where Chromium is; None where it is not installed."""
    named = os.environ.get("CHROMIUM")
    return named or next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One page. ``said`` are the messages of its console and its errors."""

    def __init__(self, folder: Path) -> None:
        self._sent = 0
        self.said: list[str] = []
        self.asked: list[str] = []
        ours, theirs = os.pipe(), os.pipe()
        command = f'exec "$0" "$@" 3<&{ours[0]} 4>&{theirs[1]}'
        options = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--no-first-run",
            "--disable-background-networking",
            f"--user-data-dir={folder}",
            "--remote-debugging-pipe",
            "about:blank",
        ]
        self._process = subprocess.Popen(
            ["bash", "-c", command, str(program()), *options],
            pass_fds=(ours[0], theirs[1]),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(ours[0])
        os.close(theirs[1])
        self._to, self._from, self._rest = ours[1], theirs[0], b""
        self._session: str | None = None
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        about = {"targetId": page["targetId"], "flatten": True}
        self._session = self.call("Target.attachToTarget", **about)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Sends a command and waits for its answer.

        Raises:
            RuntimeError: what the browser refused.
        """
        self._sent += 1
        message: dict[str, Any] = {"id": self._sent, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._sent:
                if "error" in answer:
                    raise RuntimeError(answer["error"]["message"])
                return dict(answer["result"])
            self._note(answer)

    def open(self, path: Path, width: int, height: int, scheme: str = "light") -> None:
        """Shows a file at a size, in points."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.call("Emulation.setEmulatedMedia", features=[feature])
        self.call("Page.navigate", url=path.as_uri())
        self.run("new Promise(done => document.readyState === 'complete' ? done() : onload = done)")
        self.run("new Promise(done => setTimeout(done, 400))")

    def run(self, script: str) -> Any:
        """The value of an expression in the page; a promise is waited for.

        Raises:
            RuntimeError: the script's error.
        """
        given = {"expression": script, "awaitPromise": True, "returnByValue": True}
        found = self.call("Runtime.evaluate", **given)
        if "exceptionDetails" in found:
            raise RuntimeError(json.dumps(found["exceptionDetails"])[:500])
        return found["result"].get("value")

    def press(self, key: str) -> None:
        """A key with this name, such as Enter or Escape."""
        codes = {"Tab": 9, "Enter": 13, "Escape": 27}
        about: dict[str, Any] = {"key": key, "code": key, "windowsVirtualKeyCode": codes[key]}
        if key == "Enter":
            about["text"] = "\r"
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, **about)

    def click(self, script: str) -> None:
        """A click of the mouse on the element that an expression gives."""
        place = self.run(
            f"(one => {{ one.scrollIntoView({{block: 'center', behavior: 'instant'}});"
            " const box = one.getBoundingClientRect();"
            f" return [box.left + box.width / 2, box.top + box.height / 2]; }})({script})"
        )
        at: dict[str, Any] = {"x": place[0], "y": place[1], "button": "left", "clickCount": 1}
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, **at)

    def picture(self, path: Path, **clip: float) -> None:
        """A PNG of what is seen."""
        about: dict[str, Any] = {"format": "png"}
        if clip:
            about["clip"] = {**clip, "scale": 1}
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", **about)["data"]))

    def close(self) -> None:
        self._process.terminate()
        self._process.wait(timeout=20)
        os.close(self._to)
        os.close(self._from)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            part = os.read(self._from, 2**20)
            if not part:
                raise RuntimeError("Chromium has ended")
            self._rest += part
        text, _, self._rest = self._rest.partition(b"\0")
        return dict(json.loads(text))

    def _note(self, event: dict[str, Any]) -> None:
        about = event.get("params", {})
        if event["method"] == "Runtime.consoleAPICalled":
            self.said.append(" ".join(str(one.get("value")) for one in about["args"]))
        elif event["method"] == "Runtime.exceptionThrown":
            self.said.append(json.dumps(about["exceptionDetails"])[:500])
        elif event["method"] == "Log.entryAdded":
            self.said.append(about["entry"]["text"])
        elif event["method"] == "Network.requestWillBeSent":
            self.asked.append(about["request"]["url"])
