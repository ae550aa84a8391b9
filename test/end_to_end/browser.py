"""A headless browser for tests of pages: Debian's chromium-headless-shell, driven through its debugging pipe.

    with Browser(1280, 900) as browser:
        browser.open("plan.html")
        browser.evaluate("document.title")
"""

import base64
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

PROGRAM = os.environ.get("TRAINC_BROWSER") or shutil.which("chromium-headless-shell") or shutil.which("chromium")


class Browser:
    """One page of a browser of its own, with a profile that goes when it ends. Files alone are loaded, without network."""

    def __init__(self, width, height, dark=False):
        self.size, self.dark = (width, height), dark

    def __enter__(self):
        self.profile = tempfile.TemporaryDirectory()
        to_browser, self.requests = os.pipe()
        self.answers, from_browser = os.pipe()
        # The pipe's ends are 3 and 4 in the browser. Its own sandbox asks for rights that containers do not give.
        command = f'exec "$0" "$@" 3<&{to_browser} 4>&{from_browser}'
        self.process = subprocess.Popen(
            ["bash", "-c", command, PROGRAM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe",
             f"--user-data-dir={self.profile.name}", "--host-resolver-rules=MAP * ~NOTFOUND", "about:blank"],
            pass_fds=(to_browser, from_browser), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.number, self.buffered, self.session, self.loaded = 0, b"", None, False
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Emulation.setDeviceMetricsOverride", width=self.size[0], height=self.size[1], deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if self.dark else "light"}])
        self.call("Page.enable")
        return self

    def __exit__(self, *_):
        self.session = None
        self.call("Browser.close")
        self.process.wait(timeout=30)
        os.close(self.requests)
        os.close(self.answers)
        self.profile.cleanup()

    def call(self, method, **params):
        """Sends a command of the DevTools protocol; returns its result."""
        self.number += 1
        request = {"id": self.number, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.requests, json.dumps(request).encode() + b"\0")
        while True:
            answer = self._read()
            self.loaded |= answer.get("method") == "Page.loadEventFired"
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def _read(self):
        while b"\0" not in self.buffered:
            part = os.read(self.answers, 1 << 20)
            if not part:
                raise AssertionError(f"{PROGRAM} ended early, with code {self.process.wait()}")
            self.buffered += part
        text, _, self.buffered = self.buffered.partition(b"\0")
        return json.loads(text)

    def open(self, path):
        """Loads a file; returns when its scripts have run."""
        self.loaded = False
        self.call("Page.navigate", url=Path(path).resolve().as_uri())
        while not self.loaded:
            self.loaded = self._read().get("method") == "Page.loadEventFired"

    def evaluate(self, expression):
        """The value of a JavaScript expression, awaited where it is a promise."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise AssertionError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def point_at(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def press(self, key, text=""):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, **({"text": text} if text and kind == "keyDown" else {}))

    def screenshot(self, path, whole=True):
        """Writes a picture (PNG) of the whole page, or of the window."""
        data = self.call("Page.captureScreenshot", captureBeyondViewport=whole, **({"clip": self._whole()} if whole else {}))["data"]
        Path(path).write_bytes(base64.b64decode(data))

    def _whole(self):
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        return {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
