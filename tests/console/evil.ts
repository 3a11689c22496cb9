/** A page of another origin that tries to frame a page of ours, and to act in its name. */
import { assertEquals } from "@std/assert";
import type { Tab } from "../support/runtime/tab.ts";

export interface Attack {
  /** Where the page is: another port of this machine's address, or another site. */
  readonly hostname: string;
  readonly target: string;
  /** To be framed. */
  readonly page: string;
  /** Method, path, body. */
  readonly attempts: readonly (readonly string[])[];
  /** For those that a browser asks about first. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Returns what became of each attempt. Framing must fail, and no policy but that of frames may have
 * been needed.
 */
export async function attackFrom(tab: Tab, attack: Attack): Promise<unknown> {
  await using evil = serveEvil(attack);
  await tab.open(`http://${attack.hostname}:${evil.addr.port}/`);
  await tab.until(`window.finished === true`);
  const results = await tab.evaluate(`window.results`);
  // A frame that was refused shows the browser's own page, whose document is nobody's.
  assertEquals(await tab.evaluate(`document.querySelector("iframe").contentDocument`), null);
  await tab.open(`${attack.target}${attack.page}`);
  await tab.until(`document.querySelector("h1") !== null`);
  assertEquals(tab.violations.some((issue) => !issue.includes("frame-ancestors")), false);
  (tab.violations as string[]).length = 0;
  return results;
}

function serveEvil(attack: Attack): Deno.HttpServer<Deno.NetAddr> {
  const page = `<!doctype html><title>evil</title><script type="module">${
    scriptOf(attack)
  }</script>`;
  return Deno.serve(
    { hostname: attack.hostname, port: 0, onListen: () => {} },
    () => new Response(page, { headers: { "content-type": "text/html" } }),
  );
}

function scriptOf({ target, page, attempts, headers = {} }: Attack): string {
  const form = attempts.find(([method]) => method === "POST")?.[1] ?? "";
  return `
    const target = ${JSON.stringify(target)};
    const frame = document.createElement("iframe");
    frame.src = target + ${JSON.stringify(page)};
    const loaded = new Promise((resolve) => frame.onload = resolve);
    document.body.append(frame);
    await loaded;
    window.results = await Promise.all(${
    JSON.stringify(attempts)
  }.map(async ([method, path, body]) => {
      const headers = { ...${
    JSON.stringify(headers)
  }, ...(body && { "content-type": "application/json" }) };
      for (const mode of ["cors", "no-cors"]) {
        try {
          const init = { method, mode, credentials: "include", ...(body && { body }) };
          const response = await fetch(target + path, { ...init, ...(mode === "cors" && { headers }) });
          if (response.type !== "opaque" && response.ok) return "done";
        } catch {}
      }
      return "refused";
    }));
    const form = Object.assign(document.createElement("form"), { method: "post", action: target + "${form}", target: "f" });
    document.body.append(Object.assign(document.createElement("iframe"), { name: "f" }), form);
    form.submit();
    window.finished = true;
  `;
}
