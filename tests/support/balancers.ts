/**
 * Debian's nginx and haproxy, with the configurations of docs/deploy.md between
 * clients and a service of the tests.
 */
import { readPages } from "../../tools/pages/markdown.ts";
import { installed } from "./command.ts";
import { eventually } from "./eventually.ts";
import type { Requirement } from "./requirement.ts";

const streamModule = "/usr/lib/nginx/modules/ngx_stream_module.so";

export const nginxInstalled: Requirement = nginxWithStreams();
export const haproxyInstalled: Requirement = installed("haproxy");

function nginxWithStreams(): Requirement {
  const { met, reason } = installed("nginx");
  try {
    return { met: met && Deno.statSync(streamModule).isFile, reason };
  } catch {
    return { met: false, reason: met ? "libnginx-mod-stream is not installed" : reason };
  }
}

/**
 * The page's blocks in this language, with each text replaced that is of the page's own network.
 */
export function blocksOfPage(
  language: "nginx" | "haproxy",
  replaced: Readonly<Record<string, string>>,
): readonly string[] {
  const page = readPages().find(({ path }) => path === "docs/deploy.md");
  const blocks =
    page?.blocks.filter((block) => block.language === language).map(({ text }) => text) ?? [];
  for (const text of Object.keys(replaced)) {
    if (!blocks.some((block) => block.includes(text))) {
      throw new Error(`the page has no "${text}" any more`);
    }
  }
  return blocks.map((block) =>
    Object.entries(replaced).reduce((text, [from, to]) => text.replaceAll(from, to), block)
  );
}

/** The settings that the page gives for many agents behind one address. */
export function variablesOfPage(): Readonly<Record<string, string>> {
  const text = Deno.readTextFileSync(new URL("../../docs/deploy.md", import.meta.url));
  const found = text.matchAll(/^\| `(STATIC_RELAY_\w+)=(\d+)`/gm).map((
    [, name = "", value = ""],
  ) => [name, value]);
  const variables: Readonly<Record<string, string>> = Object.fromEntries(found);
  if (Object.keys(variables).length === 0) {
    throw new Error("the page has no settings for many agents any more");
  }
  return variables;
}

export interface Running extends AsyncDisposable {
  readonly folder: string;
}

/**
 * The text stands at the top level of its configuration. Resolves when it accepts connections on
 * the port.
 */
export async function startNginx(
  config: { readonly port: number; readonly text: string },
): Promise<Running> {
  const folder = await Deno.makeTempDir({ prefix: "static-nginx-" });
  await Deno.writeTextFile(
    `${folder}/nginx.conf`,
    `load_module ${streamModule};
daemon off;
pid ${folder}/nginx.pid;
error_log stderr;
worker_processes 1;
worker_rlimit_nofile 8192;
events { worker_connections 4096; }
${config.text}`,
  );
  return await start("nginx", ["-p", folder, "-e", "stderr", "-c", `${folder}/nginx.conf`], {
    ...config,
    folder,
  });
}

/** Folders that nginx writes to, for a user who may not write where Debian puts them. */
export function httpBlock(servers: string): string {
  const folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) =>
    `${name}_temp_path ${name};`
  );
  return `http {\n${folders.join("\n")}\naccess_log off;\n${servers}\n}\n`;
}

export async function startHaproxy(
  config: { readonly port: number; readonly text: string },
): Promise<Running> {
  const folder = await Deno.makeTempDir({ prefix: "static-haproxy-" });
  const text = `global\n  stats socket ${folder}/control\n\n${config.text}`;
  await Deno.writeTextFile(`${folder}/haproxy.cfg`, text);
  return await start("haproxy", ["-db", "-f", `${folder}/haproxy.cfg`], { ...config, folder });
}

/** Returns the state of the one server, with status and code of its last check. */
export async function checksOfHaproxy({ folder }: Running): Promise<string> {
  using control = await Deno.connect({ transport: "unix", path: `${folder}/control` });
  await control.write(new TextEncoder().encode("show stat\n"));
  const text = await new Response(control.readable).text();
  const [head = "", ...rows] = text.replace(/^# /, "").split("\n");
  const names = head.split(",");
  const server = rows.map((row) => row.split(",")).find((fields) =>
    fields[names.indexOf("svname")] === "relay-1"
  );
  return ["status", "check_status", "check_code"].map((name) => server?.[names.indexOf(name)]).join(
    " ",
  );
}

async function start(
  program: string,
  args: readonly string[],
  { port, folder }: { readonly port: number; readonly folder: string },
): Promise<Running> {
  const child = new Deno.Command(program, {
    args: [...args],
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  let said = "";
  const reading = (async () => {
    for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) said += text;
  })();
  const state = { ended: false };
  const ended = child.status.then(() => void (state.ended = true));
  const stop = async (): Promise<void> => {
    if (!state.ended) child.kill("SIGTERM");
    await Promise.all([ended, reading]);
    await Deno.remove(folder, { recursive: true });
  };
  try {
    await eventually({ what: `${program} accepts connections` }, async () => {
      if (state.ended) throw new Error(`${program} ended: ${said}`);
      return await Deno.connect({ hostname: "127.0.0.1", port }).then(
        (conn) => conn.close() ?? true,
        () => false,
      );
    }, (isThere) => isThere);
  } catch (error) {
    await stop();
    throw error;
  }
  return { folder, [Symbol.asyncDispose]: stop };
}
