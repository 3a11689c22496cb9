/** A page in headless Chromium that a test drives and photographs, through the browser's own debugging protocol. */
import { startChromium } from "../support/runtime/chromium.ts";

export interface Tab extends AsyncDisposable {
  open(url: string): Promise<void>;
  /** The value of an expression in the page. */
  evaluate(expression: string): Promise<unknown>;
  /** Until the expression is true in the page; throws with the page's text when it does not become so. */
  until(expression: string): Promise<void>;
  /** PNG. */
  screenshot(path: string): Promise<void>;
}

const untilMs = 30_000;

export async function openTab(): Promise<Tab> {
  await using opened = new AsyncDisposableStack();
  const { process } = opened.use(
    await startChromium(["--window-size=1100,900", "--remote-debugging-port=0", "about:blank"], "piped"),
  );
  const port = /DevTools listening on ws:\/\/[^:]+:(\d+)\//.exec(
    await readUntil(process.stderr, "DevTools listening on"),
  )?.[1];
  const targets: { type: string; webSocketDebuggerUrl: string }[] = await (await fetch(`http://127.0.0.1:${port}/json`))
    .json();
  const faults: string[] = [];
  const { webSocketDebuggerUrl = "" } = targets.find(({ type }) => type === "page") ?? {};
  const call = await connect(webSocketDebuggerUrl, faults, opened);
  await call("Runtime.enable", {});
  const evaluate = async (expression: string): Promise<unknown> => {
    const { result } = await call("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    return (result as { value?: unknown }).value;
  };
  const moved = opened.move();
  return {
    open: async (url) => void await call("Page.navigate", { url }),
    evaluate,
    until: async (expression) => {
      const deadlineMs = performance.now() + untilMs;
      while (await evaluate(expression) !== true) {
        if (performance.now() > deadlineMs) {
          const text = await evaluate("document.body.innerText");
          throw new Error(`${expression} is not true; faults: ${faults.join("; ")}; the page: ${text}`);
        }
        // wait: for the page, which tells nobody when it changes
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    },
    screenshot: async (path) => {
      const { data } = await call("Page.captureScreenshot", { format: "png" });
      await Deno.writeFile(path, Uint8Array.fromBase64(String(data)));
    },
    [Symbol.asyncDispose]: () => moved.disposeAsync(),
  };
}

type Call = (method: string, params: Readonly<Record<string, unknown>>) => Promise<Readonly<Record<string, unknown>>>;

async function connect(url: string, faults: string[], opened: AsyncDisposableStack): Promise<Call> {
  const socket = new WebSocket(url);
  const pending = new Map<number, (answer: Readonly<Record<string, unknown>>) => void>();
  socket.onmessage = ({ data }) => {
    const { id, result = {}, error, method, params } = JSON.parse(data);
    if (method === "Runtime.exceptionThrown") faults.push(JSON.stringify(params.exceptionDetails));
    pending.get(id)?.(error === undefined ? result : { result: { value: JSON.stringify(error) } });
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
  return (method, params) =>
    new Promise((resolve) => {
      const id = ++calls;
      pending.set(id, resolve);
      socket.send(JSON.stringify({ id, method, params }));
    });
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
