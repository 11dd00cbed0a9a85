"""A headless Chromium, asked over its DevTools protocol through a pipe: Python's own library is enough."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ["chromium", "chromium-headless-shell", "chromium-browser", "google-chrome", "chrome"]


def find():
    """Returns the path of a browser, or None. GRAPHGATE_CHROMIUM names one."""
    named = os.environ.get("GRAPHGATE_CHROMIUM")
    return named or next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    """One page of a browser. `trouble` holds what its console and its log said of errors, and every address of
    the network that was asked for."""

    def __init__(self, path):
        self.trouble = []
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()

        def take_pipes():  # the protocol is on descriptors 3 and 4
            ours = [os.dup(to_browser), os.dup(from_browser)]
            os.dup2(ours[0], 3)
            os.dup2(ours[1], 4)

        flags = ["--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--no-first-run",
                 "--hide-scrollbars", "--disable-dev-shm-usage", "--disable-background-networking",
                 "--disable-component-update", "--user-data-dir=" + self.profile.name, "about:blank"]
        self.process = subprocess.Popen([path, *flags], preexec_fn=take_pipes, close_fds=False,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.rest = b""
        self.count = 0
        self.session = None
        targets = self.ask("Target.getTargets")["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        self.session = self.ask("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ["Runtime", "Log", "Page", "Network"]:
            self.ask(domain + ".enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.write_end)
        os.close(self.read_end)
        self.profile.cleanup()

    def read(self, seconds):
        """Returns the next message, or None."""
        end = time.monotonic() + seconds
        while b"\0" not in self.rest:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.read_end], [], [], left)[0]:
                return None
            chunk = os.read(self.read_end, 1 << 20)
            if not chunk:
                raise RuntimeError("the browser ended")
            self.rest += chunk
        line, self.rest = self.rest.split(b"\0", 1)
        return json.loads(line)

    def note(self, message):
        method, params = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.trouble.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.trouble.append(" ".join(str(arg.get("value", arg.get("description"))) for arg in params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.trouble.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            url = params["request"]["url"]
            if not url.startswith(("file:", "about:", "data:")):
                self.trouble.append("asked for " + url)

    def ask(self, method, **params):
        self.count += 1
        message = {"id": self.count, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        text = json.dumps(message).encode() + b"\0"
        while text:
            text = text[os.write(self.write_end, text):]
        while True:
            answer = self.read(60)
            if answer is None:
                raise RuntimeError(method + " was not answered in a minute")
            self.note(answer)
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise RuntimeError(method + ": " + answer["error"]["message"])
                return answer["result"]

    def run(self, script):
        """Returns what an expression of the page comes to."""
        result = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(script + ": " + str(result["exceptionDetails"]["exception"].get("description")))
        return result["result"].get("value")

    def size(self, width, height, scale=1):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False)

    def theme(self, name):
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def open(self, path, view=""):
        """Opens a file and waits until it is drawn. Returns the seconds from the start of loading."""
        self.ask("Page.navigate", url="about:blank")
        begin = time.monotonic()
        self.ask("Page.navigate", url="file://" + os.path.abspath(path) + ("#" + view if view else ""))
        while not self.run("Boolean(document.body && document.body.dataset.ready)"):
            if time.monotonic() - begin > 60 or self.trouble:
                raise RuntimeError(f"{path} was not drawn: {self.trouble}")
        self.settle()
        return time.monotonic() - begin

    def settle(self):
        """Waits until two frames are drawn."""
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def press(self, key, count=1):
        for _ in range(count):
            for kind in ["keyDown", "keyUp"]:
                text = {"text": key} if len(key) == 1 and kind == "keyDown" else {}
                self.ask("Input.dispatchKeyEvent", type=kind, key=key, code=key, **text)
        self.settle()

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"]))
