#!/usr/bin/env python3
"""Opens a report, or the page of a trace, in headless Chromium, uses it as a reader would, and takes screenshots.

usage: browser.py REPORT.html PREFIX

Speaks the DevTools protocol over a pipe, so that it needs nothing but Python and Chromium. Fails where the page logs an error,
asks for anything but itself, is wider than its window, or does not do what a click should do.
"""

import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import sys
import tempfile
import time

WAIT_S = 60
# Sections with a picture of their own: those of reports, then those of traces.
PARTS = ("results", "heat", "domains", "published",
         "names", "wakeups", "conservation", "moves", "levels", "wakers", "residency", "judged")


class Browser:
    """Chromium at the other end of two pipes; messages end in NUL."""

    def __init__(self, profile):
        names = ("chromium", "chromium-browser", "google-chrome")
        program = next((p for p in map(shutil.which, names) if p), None)
        if program is None:
            sys.exit("browser: found no chromium, expected one in PATH")
        to_browser, self.out = os.pipe()
        self.inbox, from_browser = os.pipe()

        def pipes():
            # The browser reads from 3 and writes to 4.
            kept = os.dup(from_browser)
            os.dup2(to_browser, 3)
            os.dup2(kept, 4)
            # A descriptor that is in its place already is not made to be inherited by that.
            os.set_inheritable(3, True)

        options = ["--headless=new", "--remote-debugging-pipe", "--disable-gpu", "--hide-scrollbars",
                   "--no-first-run", "--disable-dev-shm-usage", f"--user-data-dir={profile}", "about:blank"]
        if os.getuid() == 0:
            options.insert(0, "--no-sandbox")
        self.process = subprocess.Popen(
            [program, *options], preexec_fn=pipes, close_fds=False, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.number, self.rest, self.events, self.session = 0, b"", [], None

    def read(self):
        deadline = time.monotonic() + WAIT_S
        while b"\0" not in self.rest:
            if not select.select([self.inbox], [], [], max(0, deadline - time.monotonic()))[0]:
                sys.exit(f"browser: no answer for {WAIT_S} s")
            part = os.read(self.inbox, 1 << 20)
            if not part:
                sys.exit("browser: the browser has gone")
            self.rest += part
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def ask(self, method, **params):
        self.number += 1
        request = {"id": self.number, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        data = json.dumps(request).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data):]
        while True:
            message = self.read()
            if message.get("id") == self.number:
                if "error" in message:
                    sys.exit(f"browser: {method}: {message['error']['message']}")
                return message["result"]
            self.events.append(message)

    def wait(self, event):
        while not any(e.get("method") == event for e in self.events):
            self.events.append(self.read())

    def run(self, script):
        result = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            sys.exit(f"browser: {script}: {result['exceptionDetails']['text']}")
        return result["result"].get("value")

    def close(self):
        self.session = None
        self.ask("Browser.close")
        self.process.wait(WAIT_S)


class Page:
    """A report in the browser."""

    def __init__(self, browser, url, prefix):
        self.browser, self.url, self.prefix = browser, url, prefix
        target = browser.ask("Target.createTarget", url="about:blank")["targetId"]
        browser.session = browser.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            browser.ask(f"{domain}.enable")

    def fail(self, what):
        sys.exit(f"browser: {self.url}: {what}")

    def open(self, width, height, scheme):
        self.browser.ask("Emulation.setDeviceMetricsOverride", width=width, height=height,
                         deviceScaleFactor=1, mobile=False)
        self.browser.ask("Emulation.setEmulatedMedia", media="",
                         features=[{"name": "prefers-color-scheme", "value": scheme}])
        # What the last page said is kept for `check`, that it was loaded is not.
        self.browser.events = [e for e in self.browser.events if e.get("method") != "Page.loadEventFired"]
        self.browser.ask("Page.navigate", url=self.url)
        self.browser.wait("Page.loadEventFired")

    def check(self):
        """No error, no request but for the page and what is in it."""
        for event in self.browser.events:
            method, params = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                self.fail(f"exception: {params['exceptionDetails'].get('exception', {}).get('description')}")
            if method == "Log.entryAdded" and params["entry"]["level"] == "error":
                self.fail(f"error: {params['entry']['text']}")
            if method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
                self.fail(f"console: {params['args']}")
            if method == "Network.requestWillBeSent":
                url = params["request"]["url"]
                if url.split("#")[0] != self.url and not url.startswith("data:"):
                    self.fail(f"asked for {url}")

    def fits(self):
        wide = self.browser.run("document.documentElement.scrollWidth - innerWidth")
        if wide > 0:
            self.fail(f"{wide} pixels wider than its window")

    def shoot(self, name, selector=None, most=2600):
        box = {"x": 0, "y": 0, "width": self.browser.run("innerWidth"), "height": most}
        if selector:
            box = self.browser.run(
                "(() => { const b = document.querySelector(%s).getBoundingClientRect();"
                "return {x: Math.max(0, b.x - 8), y: b.y + scrollY, width: b.width + 16, height: b.height}; })()"
                % json.dumps(selector))
        whole = self.browser.run("document.documentElement.scrollHeight")
        box["height"] = max(1, min(box["height"], most, whole - box["y"]))
        shot = self.browser.ask("Page.captureScreenshot", format="png", captureBeyondViewport=True,
                                clip={**box, "scale": 1})
        pathlib.Path(f"{self.prefix}-{name}.png").write_bytes(base64.b64decode(shot["data"]))

    def must(self, what, script):
        if not self.browser.run(script):
            self.fail(f"expected {what}")

    def click(self, selector):
        box = self.browser.run(
            "(() => { const e = document.querySelector(%s); e.scrollIntoView({block: 'center', behavior: 'instant'});"
            "const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()"
            % json.dumps(selector))
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.browser.ask("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1],
                             button="none" if kind == "mouseMoved" else "left", clickCount=1)

    def key(self, key):
        for kind in ("keyDown", "keyUp"):
            self.browser.ask("Input.dispatchKeyEvent", type=kind, key=key, code=key)

    def use(self):
        """Everything that can be used, as a reader uses it."""
        variants = self.browser.run("document.querySelectorAll('.choose input').length")
        is_trace = self.browser.run("!!document.getElementById('trace')")
        if (variants == 0) != is_trace:
            self.fail("expected variants to choose from in a report, and none on the page of a trace")
        for at in range(variants):
            shown = ("[...document.querySelectorAll('.v%d')].filter(e => e.checkVisibility()).length" % at)
            before = self.browser.run(shown)
            self.click(f"#show-{at}")
            self.must(f"variant {at} to go", f"!document.querySelector('#show-{at}').checked && {shown} === 0")
            self.click(f"#show-{at}")
            self.must(f"variant {at} to come back", f"{shown} === {before}")
        self.browser.run("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        self.must("pictures", "document.querySelectorAll('.chart svg').length > 1")
        self.click(".chart .zoom")
        self.must("a picture to grow", "document.querySelector('.chart .frame').classList.contains('zoomed')")
        self.fits()
        # The first map of each unit: shares and, where something governs clocks, GHz.
        maps = self.browser.run("[...document.querySelectorAll('image.heat')].map(m => m.dataset.unit)")
        for unit in sorted(set(maps)):
            map_of = f'image.heat[data-unit="{unit}"]'
            self.click(map_of)
            read = "document.querySelector('#readout').textContent"
            figure = rf"/^CPU \d+, .* ms: (\d+(\.\d+)? {unit}|ran no task)$/.test({read})"
            self.must(f"a figure in {unit} where one points", figure)
            self.browser.run(f"document.querySelector({json.dumps(map_of)}).focus({{preventScroll: true}})")
            before = self.browser.run(read)
            self.key("ArrowRight")
            self.must("a share by keyboard", f"{figure} ? {read} !== {json.dumps(before)} : false")
        tips = ".tip" if is_trace else "#results .tip"
        if self.browser.run(f"document.querySelectorAll('{tips}').length"):
            self.must("texts of marks", f"document.querySelector('{tips}').getAttribute('aria-label').length > 3")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.strip())
    report, prefix = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(profile)
        page = Page(browser, report.as_uri(), prefix)
        for name, width, scheme in (
                ("light", 1280, "light"), ("dark", 1280, "dark"), ("narrow", 390, "light"), ("narrow-dark", 390, "dark")):
            page.open(width, 900, scheme)
            page.fits()
            page.shoot(name)
            for part in PARTS:
                if browser.run(f"!!document.getElementById('{part}')"):
                    page.shoot(f"{name}-{part}", f"#{part}", 3200)
            page.check()
        page.open(1280, 900, "light")
        page.use()
        page.check()
        browser.ask("Emulation.setScriptExecutionDisabled", value=True)
        page.open(1280, 900, "light")
        page.shoot("without-scripts", most=900)
        printed = browser.ask("Page.printToPDF", paperWidth=8.27, paperHeight=11.69)
        if len(printed["data"]) < 10000:
            page.fail("expected pages when printed")
        page.check()
        browser.close()
    print(f"browser: {report.name}: nothing to complain of")


if __name__ == "__main__":
    main()
