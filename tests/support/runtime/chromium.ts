/** Runs a bundle in a page of headless Chromium, served from loopback, and waits for what the page reports. */
import type { Requirement } from "../mod.ts";

const executable = "/usr/bin/chromium";
const timeoutMs = 120_000;
const flags = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
const page = '<!doctype html><meta charset="utf-8"><script type="module" src="/bundle.mjs"></script>';

export const chromium: Requirement = {
  met: await isFile(executable),
  reason: `${executable} is not on this machine`,
};

/** The page must POST its results to `/results`; a script that fails to load reports its error there too. */
export async function runInChromium(bundle: string, ...moreFlags: readonly string[]): Promise<string> {
  const code = await Deno.readFile(bundle);
  const reported = Promise.withResolvers<string>();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/bundle.mjs") return new Response(code, { headers: { "content-type": "text/javascript" } });
    if (pathname === "/results") reported.resolve(await request.text());
    return new Response(pathname === "/" ? page : "", { headers: { "content-type": "text/html" } });
  });
  const profile = await Deno.makeTempDir({ prefix: "static-chromium-" });
  const browser = new Deno.Command(executable, {
    args: [...flags, ...moreFlags, `--user-data-dir=${profile}`, `http://127.0.0.1:${server.addr.port}/`],
    stdout: "null",
    stderr: "null",
  }).spawn();
  const timer = setTimeout(() => reported.reject(new Error(`Chromium reported nothing in ${timeoutMs} ms`)), timeoutMs);
  const exit = browser.status.then(({ code }) => reported.reject(new Error(`Chromium ended with code ${code}`)));
  try {
    return await reported.promise;
  } finally {
    clearTimeout(timer);
    browser.kill("SIGTERM");
    await exit;
    await server.shutdown();
    await removeProfile(profile);
  }
}

/** Helper processes of the browser may still be writing when it has ended. */
async function removeProfile(profile: string): Promise<void> {
  for (let attempt = 0;; attempt++) {
    try {
      return await Deno.remove(profile, { recursive: true });
    } catch (error) {
      if (attempt === 20) throw error;
      // wait: for the helpers to end; there is no handle on them
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await Deno.stat(path)).isFile;
  } catch {
    return false;
  }
}
