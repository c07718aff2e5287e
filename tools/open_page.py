"""Opens pages in headless Chromium as their readers do: light, dark, and on a narrow screen.

    python tools/open_page.py FOLDER PAGE ...

A page fails if it writes anything to the console, asks for anything but itself, or has text that
does not fit its box. Its pictures are saved in FOLDER, for people to look at. Before the first
page, pages that break each of these rules are opened, and have to be found out.

Chromium and its driver are Debian's (`chromium`, `chromium-driver`). The driver is spoken to over
plain HTTP, as https://www.w3.org/TR/webdriver2 has it, with logs and screens as Chromium adds them.
"""

import base64
import json
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# Name, width in pixels, colour scheme.
VIEWS = [("light", 1120, "light"), ("dark", 1120, "dark"), ("narrow", 390, "light")]
TIMEOUT_S = 60
# Boxes that scroll sideways on purpose have the class `scroll`; drawings clip what they draw.
OVERFLOWING = """
const wide = [...document.querySelectorAll("body *")].filter(element =>
  element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0
  && !element.closest("svg") && !element.classList.contains("scroll")
  && getComputedStyle(element).display !== "inline");
const root = document.documentElement;
const found = wide.map(element => `${element.tagName} ${element.textContent.slice(0, 60)}`);
if (root.scrollWidth > root.clientWidth) found.push("the page is wider than its window");
return found;
"""
# Pages that have to be refused, and a word of why.
BROKEN = {
    "console": "<script>console.error('something went wrong')</script>",
    "asks for": "<img src='http://127.0.0.1:9/elsewhere.png' alt=''>",
    "fit": "<div style='width:40px;white-space:nowrap'>a text far too wide for its box</div>",
}


# Whatever proxy this machine has is not for its own driver.
HTTP = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Browser:
    """A session of the driver."""

    def __init__(self, port: int) -> None:
        self.root = f"http://127.0.0.1:{port}"
        options = {
            "binary": shutil.which("chromium"),
            # In a container nobody may make the namespaces of the sandbox.
            "args": ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"],
        }
        logs = {"browser": "ALL", "performance": "ALL"}
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": logs}
        session = self.call("/session", {"capabilities": {"alwaysMatch": wanted}})
        self.root += f"/session/{session['sessionId']}"

    def call(self, path: str, body: dict[str, Any]) -> Any:
        """The value of an answer."""
        data = json.dumps(body).encode()
        head = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.root + path, data, head)
        with HTTP.open(request, timeout=TIMEOUT_S) as answer:
            return json.load(answer)["value"]

    def devtools(self, command: str, **parameters: Any) -> Any:
        """Asks Chromium itself."""
        return self.call("/goog/cdp/execute", {"cmd": command, "params": parameters})

    def script(self, text: str) -> Any:
        """Result of a function with this body in the page."""
        return self.call("/execute/sync", {"script": text, "args": []})

    def logs(self, kind: str) -> list[dict[str, Any]]:
        """Log entries since the last call."""
        entries: list[dict[str, Any]] = self.call("/se/log", {"type": kind})
        return entries

    def view(self, url: str, width: int, scheme: str) -> list[str]:
        """Opens a page; says what is wrong with it."""
        screen = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.devtools("Emulation.setDeviceMetricsOverride", **screen)
        media = {"name": "prefers-color-scheme", "value": scheme}
        self.devtools("Emulation.setEmulatedMedia", features=[media])
        self.call("/url", {"url": "about:blank"})
        self.logs("browser"), self.logs("performance")
        self.call("/url", {"url": url})
        wrong = [f"does not fit: {what}" for what in self.script(OVERFLOWING)]
        wrong += [f"console: {entry['message']}" for entry in self.logs("browser")]
        for entry in self.logs("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                asked = message["params"]["request"]["url"]
                if asked != url:
                    wrong.append(f"asks for {asked}")
        return wrong

    def picture(self) -> bytes:
        """The whole page as PNG."""
        height = self.script("return document.documentElement.scrollHeight")
        size = self.script("return document.documentElement.clientWidth")
        area = {"x": 0, "y": 0, "width": size, "height": height, "scale": 1}
        shot = self.devtools("Page.captureScreenshot", clip=area, captureBeyondViewport=True)
        return base64.b64decode(shot["data"])


@contextmanager
def browser() -> Iterator[Browser]:
    """A browser that ends with the block."""
    for program, package in [("chromium", "chromium"), ("chromedriver", "chromium-driver")]:
        if shutil.which(program) is None:
            sys.exit(f"{program} is missing; on Debian: apt-get install {package}")
    driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True)
    try:
        assert driver.stdout is not None
        ports = (re.search(r"started successfully on port (\d+)", line) for line in driver.stdout)
        port = next((found for found in ports if found), None)
        if port is None:
            sys.exit("chromedriver has ended and said no port")
        session = Browser(int(port[1]))
        try:
            yield session
        finally:
            request = urllib.request.Request(session.root, method="DELETE")
            HTTP.open(request, timeout=TIMEOUT_S).close()
    finally:
        driver.terminate()
        driver.wait()


def refuses(session: Browser) -> list[str]:
    """Rules whose breach is not found."""
    unseen = []
    with tempfile.TemporaryDirectory() as folder:
        for rule, body in BROKEN.items():
            page = Path(folder) / "page.html"
            page.write_text(f"<!DOCTYPE html><title>broken</title>{body}", encoding="utf-8")
            wrong = session.view(page.as_uri(), 1120, "light")
            if not any(rule in finding for finding in wrong):
                unseen.append(f"a page that breaks the rule `{rule}` is not found out: {wrong}")
    return unseen


def main() -> int:
    """Opens all pages; the exit status says whether all are well."""
    folder, *pages = map(Path, sys.argv[1:])
    folder.mkdir(parents=True, exist_ok=True)
    with browser() as session:
        wrong = refuses(session)
        for page in pages:
            # Pages of runs are all called the same; their folders tell them apart.
            name = "-".join(page.resolve().parent.parts[-2:])
            for view, width, scheme in VIEWS:
                found = session.view(page.resolve().as_uri(), width, scheme)
                wrong += [f"{page}, {view}: {what}" for what in found]
                (folder / f"{name}-{view}.png").write_bytes(session.picture())
    for what in wrong:
        print(what, file=sys.stderr)
    if not wrong:
        print(f"{len(pages)} pages are well, {len(VIEWS)} views each; pictures in {folder}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
