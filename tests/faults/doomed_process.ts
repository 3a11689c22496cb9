/** A relay's members in this process, and one in a process of its own that is going to die. */
import { grantedToken, type TestRelay } from "../../relay/testing/open_relay.ts";
import { ChannelManager, type ConnectOptions } from "../../sdk/mod.ts";
import { platform } from "../../sdk/platform/deno.ts";
import { type Agent, connectAgent } from "../../sdk/testing/agents.ts";
import type { DoomedSettings } from "./doomed_member.ts";

const program = new URL("doomed_member.ts", import.meta.url).pathname;
export const account = crypto.randomUUID();

type Options = Omit<ConnectOptions, "token">;

export interface Member {
  readonly agent: Agent;
  readonly manager: ChannelManager;
  readonly options: Options;
  /** How far its clock is ahead. */
  readonly clock: { aheadMs: number };
}

export async function connect(
  identity: string,
  folder: string,
  relay: TestRelay,
  cert: string,
): Promise<Member> {
  const options: Options = {
    identity,
    dataDir: `${folder}/${identity}`,
    endpoint: `quic://localhost:${relay.quicPort}`,
    tls: { caCerts: [cert] },
    cover: { mode: "off" },
  };
  const clock = { aheadMs: 0 };
  const agent = await connectAgent({
    ...options,
    token: () => Promise.resolve(grantedToken(account)),
  }, {
    ...platform,
    nowMs: () => platform.nowMs() + clock.aheadMs,
  });
  return { agent, manager: await ChannelManager.over(agent), options, clock };
}

/** Lines of its output as they come; undefined when it has ended. */
export function start(
  settings: DoomedSettings,
): { child: Deno.ChildProcess; next: () => Promise<string | undefined> } {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "--unstable-net", program, JSON.stringify(settings)],
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let buffered = "";
  const next = async (): Promise<string | undefined> => {
    for (;;) {
      const end = buffered.indexOf("\n");
      const line = buffered.slice(0, end);
      buffered = buffered.slice(end + 1);
      if (end >= 0) return line;
      const { value, done } = await reader.read();
      if (done) return undefined;
      buffered += value;
    }
  };
  return { child, next };
}
