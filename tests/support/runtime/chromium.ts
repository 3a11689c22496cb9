/**
 * Headless Chromium, and a bundle in a page of it: served from loopback, until the page reports.
 */
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
const page =
  '<!doctype html><meta charset="utf-8"><script type="module" src="/bundle.mjs"></script>';

export const chromium: Requirement = {
  met: await isFile(executable),
  reason: `${executable} is not on this machine`,
};

export interface Browser extends AsyncDisposable {
  readonly process: Deno.ChildProcess;
  /** The folder of all that it writes. */
  readonly profile: string;
}

/**
 * Everything that it writes is in one folder, which goes with it. `args` are more flags and the
 * page to open.
 */
export async function startChromium(
  args: readonly string[],
  stderr: "null" | "piped" = "null",
): Promise<Browser> {
  // A short name: the browser makes a socket two folders further down, and a socket's path is
  // bounded.
  const profile = await Deno.makeTempDir({ prefix: "page-" });
  const process = new Deno.Command(executable, {
    args: [...flags, `--user-data-dir=${profile}`, ...args],
    env: { TMPDIR: profile },
    stdout: "null",
    stderr,
  }).spawn();
  return {
    process,
    profile,
    [Symbol.asyncDispose]: async () => {
      // It may have ended by itself.
      if (await Promise.race([process.status, undefined]) === undefined) process.kill("SIGTERM");
      await process.status;
      await removeProfile(profile);
    },
  };
}

/**
 * The page must POST its results to `/results`; a script that fails to load reports its error there
 * too.
 */
export async function runInChromium(
  bundle: string,
  ...moreFlags: readonly string[]
): Promise<string> {
  const code = await Deno.readFile(bundle);
  const reported = Promise.withResolvers<string>();
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const { pathname } = new URL(request.url);
      if (pathname === "/bundle.mjs") {
        return new Response(code, {
          headers: { "content-type": "text/javascript" },
        });
      }
      if (pathname === "/results") reported.resolve(await request.text());
      return new Response(pathname === "/" ? page : "", {
        headers: { "content-type": "text/html" },
      });
    },
  );
  await using browser = await startChromium([
    ...moreFlags,
    `http://127.0.0.1:${server.addr.port}/`,
  ]);
  const timer = setTimeout(
    () => reported.reject(new Error(`Chromium reported nothing in ${timeoutMs} ms`)),
    timeoutMs,
  );
  void browser.process.status.then(({ code }) =>
    reported.reject(new Error(`Chromium ended with code ${code}`))
  );
  try {
    return await reported.promise;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Helper processes of the browser outlive it by a moment, and one that still writes makes the
 * folder again.
 */
async function removeProfile(profile: string): Promise<void> {
  for (let attempt = 0;; attempt++) {
    const isLast = attempt === 50;
    if (isLast || !await isUsed(profile)) {
      try {
        return await Deno.remove(profile, { recursive: true });
      } catch (error) {
        if (isLast) throw error;
      }
    }
    // wait: for the helpers to end; they are nobody's children that we know
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Whether a process was started with this folder among its arguments. */
async function isUsed(folder: string): Promise<boolean> {
  for await (const { name } of Deno.readDir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const command = await Deno.readTextFile(`/proc/${name}/cmdline`).catch(() => "");
    if (command.includes(folder)) return true;
  }
  return false;
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await Deno.stat(path)).isFile;
  } catch {
    return false;
  }
}
