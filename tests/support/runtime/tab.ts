/**
 * Pages in headless Chromium that a test drives and photographs, through the browser's own
 * debugging protocol. Tabs of one person share cookies and storage; another person has a context of
 * their own.
 */
import { startChromium } from "./chromium.ts";

export interface Tab extends AsyncDisposable {
  open(url: string): Promise<void>;
  /** The value of an expression in the page. Throws when it throws. */
  evaluate(expression: string): Promise<unknown>;
  /**
   * Until the expression is true in the page; throws with the page's text when it does not become
   * so.
   */
  until(expression: string): Promise<void>;
  /** Presses the first button, link or label that shows this text, when there is one. */
  press(text: string): Promise<void>;
  /** Fills the field with this label as a user does. */
  fill(label: string, text: string): Promise<void>;
  /** As if the window had this size. */
  resize(size: { width: number; height: number; isDark?: boolean; scale?: number }): Promise<void>;
  /** PNG, of the whole page when told. */
  screenshot(path: string, isWhole?: boolean): Promise<void>;
  /** Asks the browser something about this tab. */
  call: Call;
  /** Runs before every page's own scripts. */
  runFirst(script: string): Promise<void>;
  /** Errors nobody caught. */
  readonly faults: readonly string[];
  /** Requests that the policy of a page or of a worker refused, as the browser reports them. */
  readonly violations: readonly string[];
  /** Every request that left the tab or its workers. */
  readonly requests: readonly TabRequest[];
  /** Every worker that the tab has started, also those that have ended. */
  readonly workers: readonly TabWorker[];
}

interface TabRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface TabWorker {
  readonly url: string;
  /** Asks the browser something about this worker. */
  readonly call: Call;
}

export interface Person {
  openTab(): Promise<Tab>;
}

export interface TabBrowser extends AsyncDisposable, Person {
  /** Somebody else, with cookies and storage of their own. */
  newPerson(): Promise<Person>;
}

export type Answer = Readonly<Record<string, unknown>>;
export type Call = (method: string, params?: Readonly<Record<string, unknown>>) => Promise<Answer>;

const untilMs = 60_000;

export async function openTab(): Promise<Tab> {
  await using opened = new AsyncDisposableStack();
  const browser = opened.use(await openBrowser());
  const tab = opened.use(await browser.openTab());
  const moved = opened.move();
  return Object.assign(tab, { [Symbol.asyncDispose]: () => moved.disposeAsync() });
}

export async function openBrowser(...flags: readonly string[]): Promise<TabBrowser> {
  await using opened = new AsyncDisposableStack();
  const { process } = opened.use(
    await startChromium([
      "--window-size=1100,900",
      "--remote-debugging-port=0",
      ...flags,
      "about:blank",
    ], "piped"),
  );
  const url =
    /DevTools listening on (ws:\S+)/.exec(await readUntil(process.stderr, "DevTools listening on"))
      ?.[1] ??
      "";
  const wire = await connect(url, opened);
  const moved = opened.move();
  const open = (context?: string): Promise<Tab> => attach(wire, context);
  return {
    openTab: () => open(),
    newPerson: async () => {
      const { browserContextId } = await wire.call("Target.createBrowserContext");
      return { openTab: () => open(String(browserContextId)) };
    },
    [Symbol.asyncDispose]: () => moved.disposeAsync(),
  };
}

interface Wire {
  call(method: string, params?: Answer, session?: string): Promise<Answer>;
  /** Events of one tab. */
  listen(session: string, receive: (method: string, params: Answer) => void): void;
}

async function connect(url: string, opened: AsyncDisposableStack): Promise<Wire> {
  const socket = new WebSocket(url);
  const pending = new Map<
    number,
    { resolve: (answer: Answer) => void; reject: (error: Error) => void }
  >();
  const listeners = new Map<string, (method: string, params: Answer) => void>();
  socket.onmessage = ({ data }) => {
    const { id, result = {}, error, method, params, sessionId } = JSON.parse(data);
    if (id === undefined) return listeners.get(sessionId)?.(method, params);
    if (error === undefined) pending.get(id)?.resolve(result);
    else pending.get(id)?.reject(new Error(JSON.stringify(error)));
    pending.delete(id);
  };
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = reject;
  });
  opened.defer(async () => {
    const closed = new Promise((resolve) => socket.onclose = resolve);
    socket.close();
    await closed;
  });
  let calls = 0;
  return {
    call: (method, params, sessionId) =>
      new Promise((resolve, reject) => {
        const id = ++calls;
        pending.set(id, { resolve, reject });
        socket.send(
          JSON.stringify({
            id,
            method,
            params: params ?? {},
            ...(sessionId !== undefined && { sessionId }),
          }),
        );
      }),
    listen: (session, receive) => void listeners.set(session, receive),
  };
}

async function attach(wire: Wire, browserContextId: string | undefined): Promise<Tab> {
  const { targetId } = await wire.call("Target.createTarget", {
    url: "about:blank",
    ...(browserContextId !== undefined && { browserContextId }),
  });
  const session = String(
    (await wire.call("Target.attachToTarget", { targetId, flatten: true }))["sessionId"],
  );
  const call: Call = (method, params = {}) => wire.call(method, params, session);
  const seen: Seen = { faults: [], violations: [], requests: [], workers: [] };
  wire.listen(session, (method, params) => {
    if (method === "Target.attachedToTarget") void watchWorker(wire, seen, params);
    else note(seen, method, params);
  });
  for (const domain of ["Runtime", "Page", "Network", "Audits"]) await call(`${domain}.enable`);
  const filter = [{ type: "worker" }];
  await call("Target.setAutoAttach", {
    autoAttach: true,
    waitForDebuggerOnStart: true,
    flatten: true,
    filter,
  });
  const evaluate = async (expression: string): Promise<unknown> => {
    const { result, exceptionDetails } = await call("Runtime.evaluate", {
      expression,
      awaitPromise: true,
      returnByValue: true,
      userGesture: true,
    });
    if (exceptionDetails !== undefined) {
      throw new Error(`${expression}: ${JSON.stringify(exceptionDetails)}`);
    }
    return (result as { value?: unknown }).value;
  };
  const until = async (expression: string): Promise<void> => {
    const deadlineMs = performance.now() + untilMs;
    // A page that is being left has no answer.
    while (await evaluate(expression).catch(() => false) !== true) {
      if (performance.now() > deadlineMs) {
        const text = await evaluate("document.body.innerText");
        throw new Error(
          `${expression} is not true; faults: ${seen.faults.join("; ")}; the page: ${text}`,
        );
      }
      // wait: for the page, which tells nobody when it changes
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  };
  return {
    ...seen,
    call,
    evaluate,
    until,
    open: async (url) => void await call("Page.navigate", { url }),
    press: async (text) => {
      await until(`${findPressable(text)} !== undefined`);
      await evaluate(`${findPressable(text)}.click()`);
    },
    fill: async (label, text) => {
      // A field of a dialog that is about to open takes no focus yet.
      await until(`(${findField(label)}?.focus(), document.activeElement === ${findField(label)})`);
      await evaluate(`document.activeElement.select?.()`);
      await call("Input.insertText", { text });
      await until(`${findField(label)}?.value === ${JSON.stringify(text)}`);
    },
    resize: async ({ width, height, isDark = false, scale = 1 }) => {
      await call("Emulation.setDeviceMetricsOverride", {
        width,
        height,
        deviceScaleFactor: scale,
        mobile: false,
      });
      const features = [{ name: "prefers-color-scheme", value: isDark ? "dark" : "light" }];
      await call("Emulation.setEmulatedMedia", { features });
    },
    screenshot: async (path, isWhole = false) => {
      const { data } = await call("Page.captureScreenshot", {
        format: "png",
        captureBeyondViewport: isWhole,
      });
      await Deno.writeFile(path, Uint8Array.fromBase64(String(data)));
    },
    runFirst: async (source) =>
      void await call("Page.addScriptToEvaluateOnNewDocument", { source }),
    [Symbol.asyncDispose]: async () => void await wire.call("Target.closeTarget", { targetId }),
  };
}

interface Seen {
  readonly faults: string[];
  readonly violations: string[];
  readonly requests: TabRequest[];
  readonly workers: TabWorker[];
}

/**
 * The browser holds a new worker back until it is watched. Rejects never: a worker may end at any
 * time.
 */
async function watchWorker(wire: Wire, seen: Seen, params: Answer): Promise<void> {
  // cast: the shape of the debugging protocol
  const { sessionId, targetInfo } = params as { sessionId: string; targetInfo: { url: string } };
  const call: Call = (method, params = {}) => wire.call(method, params, sessionId);
  wire.listen(sessionId, (method, params) => note(seen, method, params));
  seen.workers.push({ url: targetInfo.url, call });
  const enabled = ["Runtime", "Network", "Audits"].map((domain) => call(`${domain}.enable`));
  await Promise.allSettled([...enabled, call("Runtime.runIfWaitingForDebugger")]);
}

function note(seen: Seen, method: string, params: Answer): void {
  // cast: the shapes of the debugging protocol
  const { exceptionDetails, issue, request } = params as {
    exceptionDetails?: unknown;
    issue?: { code: string; details: unknown };
    request?: TabRequest;
  };
  if (method === "Runtime.exceptionThrown") seen.faults.push(JSON.stringify(exceptionDetails));
  if (method === "Network.requestWillBeSent" && request !== undefined) seen.requests.push(request);
  if (method === "Audits.issueAdded" && issue?.code === "ContentSecurityPolicyIssue") {
    seen.violations.push(JSON.stringify(issue.details));
  }
}

/** An open dialog comes first: what is below it cannot be pressed. */
function findPressable(text: string): string {
  const exact = JSON.stringify(text);
  return `[...(document.querySelector("dialog[open]") ?? document).querySelectorAll("button,a,summary,label,[role=tab]")]
    .find((each) => !each.disabled && (each.innerText.trim() === ${exact} || each.ariaLabel === ${exact}))`;
}

function findField(label: string): string {
  return `[...(document.querySelector("dialog[open]") ?? document).querySelectorAll("label")]
    .find((each) => each.innerText.trim() === ${JSON.stringify(label)})?.control`;
}

/** Reads on in the background afterwards, so that the browser never waits for a reader. */
function readUntil(stream: ReadableStream<Uint8Array<ArrayBuffer>>, text: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  void (async () => {
    let seen = "";
    for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
      seen += chunk;
      if (seen.includes(text) && seen.slice(seen.indexOf(text)).includes("\n")) resolve(seen);
    }
    reject(new Error(`"${text}" did not appear in: ${seen}`));
  })();
  return promise;
}
