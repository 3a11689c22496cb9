/** A user's folder with an agent for models, another agent's channel, and the program `static`. */
import { type Channel, ChannelManager } from "../../sdk/mod.ts";
import { stopHost } from "../support/hosts.ts";
import type { SharedStack } from "../support/stack.ts";
import { npmProjectFlags } from "../../tools/npm.ts";
import { program, type Result } from "./session.ts";

export const passphrase = "correct horse battery";

export interface Home extends AsyncDisposable {
  readonly folder: string;
  readonly record: string;
  readonly env: Readonly<Record<string, string>>;
}

export async function openHome(
  { api, account, quicUrl, grpcUrl, caFile }: SharedStack,
): Promise<Home> {
  const folder = await Deno.makeTempDir({ prefix: "static-mcp-" });
  const env = {
    PATH: Deno.env.get("PATH") ?? "",
    HOME: folder,
    DENO_DIR: Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`,
    XDG_DATA_HOME: `${folder}/data`,
    XDG_CONFIG_HOME: `${folder}/config`,
    STATIC_API_URL: api.url,
    STATIC_API_KEY: account.apiKey,
    STATIC_RELAY_URL: `${quicUrl},${grpcUrl}`,
    STATIC_CA_FILE: caFile,
    STATIC_PASSPHRASE: passphrase,
  };
  return {
    folder,
    env,
    record: `${folder}/record`,
    [Symbol.asyncDispose]: async () => {
      await stopHost(`${folder}/data/static/agents/bot/state`);
      await Deno.remove(folder, { recursive: true });
    },
  };
}

/** The channel of an agent of another account, and a token for it. */
export async function inviteBot(
  { api, quicUrl, caFile }: SharedStack,
  folder: string,
  name: string,
): Promise<{ readonly alice: ChannelManager; readonly token: string; readonly room: Channel }> {
  const service = {
    endpoint: quicUrl,
    apiUrl: api.url,
    apiKey: (await api.signUp()).apiKey,
    tls: { caFile },
    cover: "off" as const,
  };
  const alice = await ChannelManager.connect({
    ...service,
    dataDir: `${folder}/alice`,
    identity: "alice",
  });
  const room = await alice.create(name);
  return { alice, room, token: await alice.invite(name) };
}

export async function runStatic(
  env: Readonly<Record<string, string>>,
  words: readonly string[],
  input = "",
): Promise<string> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [...program, ...words],
    env: { ...env },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(`${input}\n`));
  await writer.close();
  const { success, stdout, stderr } = await child.output();
  const [out, errors] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  if (!success) throw new Error(`static ${words.join(" ")} failed: ${out}${errors}`);
  return out ?? "";
}

/** A command that goes on until it is interrupted. */
export function startStatic(
  env: Readonly<Record<string, string>>,
  words: readonly string[],
): AsyncDisposable {
  const child = new Deno.Command(Deno.execPath(), {
    args: [...program, ...words],
    env: { ...env },
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  return {
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGINT");
      await child.status;
    },
  };
}

/** The inspector's output for a server, `static` with these words. */
export async function inspect(
  env: Readonly<Record<string, string>>,
  words: readonly string[],
  flags: readonly string[],
): Promise<Result> {
  const script = new URL("../../tools/npm/inspect.ts", import.meta.url).pathname;
  const command = [Deno.execPath(), ...program, ...words];
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", ...npmProjectFlags, script, ...command, ...flags],
    env: { ...env },
    stdin: "null",
  }).output();
  const [out, errors] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  if (!success) throw new Error(`The inspector failed: ${out}${errors}`);
  return JSON.parse(out ?? "");
}
