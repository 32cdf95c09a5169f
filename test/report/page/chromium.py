"""Chromium without a window, driven over the DevTools protocol through pipes: no port, no network, no further package."""
import base64
import json
import os
import shutil
import subprocess
import tempfile
import time


def find():
    """The browser's path, or None where there is none."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Chromium:
    def __init__(self, path, width=1440, height=900):
        self.home = tempfile.mkdtemp()
        to_child, self.to = os.pipe()
        self.back, from_child = os.pipe()

        def pipes():
            # The protocol's are descriptors 3 and 4. Both are out of the way before either is put there.
            read, write = os.dup(to_child), os.dup(from_child)
            high = 50
            os.dup2(read, high), os.dup2(write, high + 1)
            os.dup2(high, 3), os.dup2(high + 1, 4)

        self.process = subprocess.Popen(
            [path, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe",
             "--no-first-run", "--disable-extensions", f"--user-data-dir={self.home}", f"--window-size={width},{height}",
             "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, close_fds=False, preexec_fn=pipes,
            env={**os.environ, "HOME": self.home})
        os.close(to_child), os.close(from_child)
        self.number, self.buffer = 0, b""
        self.console, self.requests = [], []
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = None
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.to), os.close(self.back)
        shutil.rmtree(self.home, ignore_errors=True)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if getattr(self, "session", None):
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self._noted(answer)

    def _message(self):
        while b"\0" not in self.buffer:
            more = os.read(self.back, 1 << 20)
            if not more:
                raise RuntimeError("the browser ended")
            self.buffer += more
        one, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(one)

    def _noted(self, event):
        """What pages say and ask for without being asked."""
        name, about = event.get("method"), event.get("params", {})
        if name == "Runtime.consoleAPICalled":
            self.console.append(" ".join(str(a.get("value", a.get("description"))) for a in about["args"]))
        elif name == "Runtime.exceptionThrown":
            details = about["exceptionDetails"]
            self.console.append(details.get("exception", {}).get("description", details["text"]))
        elif name == "Log.entryAdded":
            self.console.append(about["entry"]["text"])
        elif name == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"])
        self.seen = name

    def open(self, file, hash=""):
        """The page, when it has loaded. A page that is open already only gets another address."""
        url = f"file://{os.path.abspath(file)}#{hash}"
        self.seen = None
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=url)
        end = time.time() + 60
        while self.value("document.readyState + location.href") != "complete" + self.value(f"new URL({json.dumps(url)}).href"):
            if time.time() > end:
                raise RuntimeError("the page does not load")
            time.sleep(0.02)

    def value(self, expression):
        """Of an expression in the page; a promise is waited for."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"].get("exception", {}).get("description", "an exception"))
        return result["result"].get("value")

    def go(self, hash):
        """To another address within the page; waits until it is drawn."""
        self.value(f"new Promise(done => {{ whittle.go({json.dumps(hash)}); "
                   "requestAnimationFrame(() => requestAnimationFrame(done)); })")

    def key(self, key, code=None):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=code or key,
                      **({"text": key} if kind == "keyDown" and len(key) == 1 else {}),
                      **({"windowsVirtualKeyCode": 27} if key == "Escape" else {}))  # else it closes no dialog

    def click(self, selector):
        box = self.value(f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: 'center'}});"
                         " const r = e.getBoundingClientRect(); return [r.x + Math.min(40, r.width / 2), r.y + r.height / 2]; })()")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)

    def theme(self, scheme):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def picture(self, file):
        with open(file, "wb") as out:
            out.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def pdf(self):
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])
