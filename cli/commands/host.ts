/**
 * The process that holds an agent for all commands: `host`, `host status`, `host stop`, `host
 * readers list`, `host readers delete`.
 */
import { shown } from "../../proto/mod.ts";
import type { HostConnection } from "../../sdk/host/hosted.ts";
import { agentFlag, withAgent } from "../agent.ts";
import { agentName } from "../agent_record.ts";
import type { Command, Context } from "../command.ts";
import { badInput, Failure } from "../failure.ts";
import { findRunning, usesHost } from "../agent_access.ts";
import { table } from "../output.ts";
import { grouped, span } from "../texts/amounts.ts";
import { nameArgument, nameOf } from "./channel.ts";

export const startHost: Command = {
  path: "host",
  summary: "start this agent's host, a process that lets several programs use the agent",
  details: [
    "Commands start it automatically. Start it by hand if a passphrase protects the agent, with STATIC_PASSPHRASE set for",
    "this command. It ends after 10 minutes without use.",
  ],
  flags: [agentFlag],
  examples: [{ command: "host", what: "" }],
  run: (context) => {
    if (!usesHost(context)) throw badInput("STATIC_HOST is off", "Unset it to use a host");
    return withAgent(context, () => showStatus(context));
  },
};

export const hostStatus: Command = {
  path: "host status",
  summary: "show whether this agent's host runs, and which programs use it",
  flags: [agentFlag],
  examples: [{ command: "host status", what: "" }],
  run: showStatus,
};

export const stopHost: Command = {
  path: "host stop",
  summary: "stop this agent's host",
  details: [
    "Programs that use it are notified; the next command starts a new host. Only messages that are queued for the next",
    "connection are lost; the command prints their number.",
  ],
  flags: [agentFlag],
  examples: [{ command: "host stop", what: "" }],
  run: async (context) => {
    const { output } = context;
    const running = await findRunning(context);
    const unsent = running === undefined
      ? 0
      : (await running.call("stop")).fields.optionalNumber("unsent") ?? 0;
    if (running !== undefined) await output.progress("ending the host", running.over);
    if (unsent > 0) {
      await output.warn(`${unsent === 1 ? "One message was" : `${unsent} messages were`} not sent`);
    }
    const text = running === undefined
      ? "No host was running"
      : `${output.paint("green", "✓")} The host has ended`;
    await output.result({ stopped: running !== undefined, unsent }, [text]);
  },
};

export const listReaders: Command = {
  path: "host readers list",
  summary: "list the readers of this agent's channels and their positions",
  details: [
    "Each reader has its own position and gets every message. channel listen --as NAME creates one.",
  ],
  arguments: [{ ...nameArgument, optional: true }],
  flags: [agentFlag],
  examples: [{ command: "host readers list", what: "" }],
  run: (context) =>
    atHost(context, async (host) => {
      const name = context.given.value("NAME");
      const { fields } = await host.call("readers", name === undefined ? {} : { channel: name });
      const readers = (fields.optionalObjects("readers") ?? []).map((each) => ({
        channel: each.text("channel"),
        reader: each.text("name"),
        programs: each.number("programs"),
        behind: each.number("behind"),
      }));
      const rows = readers.map(({ channel, reader, programs, behind }) => [
        channel,
        shown(reader),
        grouped(behind),
        String(programs),
      ]);
      await context.output.result(
        { readers },
        table([["CHANNEL", "READER", "BEHIND", "PROGRAMS"], ...rows]),
      );
    }),
};

export const deleteReader: Command = {
  path: "host readers delete",
  summary: "delete a reader and its position",
  arguments: [nameArgument, {
    name: "READER",
    summary: "name of the reader, as shown by host readers list",
  }],
  flags: [agentFlag],
  examples: [{ command: "host readers delete acme/ops/deploy audit", what: "" }],
  run: (context) =>
    atHost(context, async (host) => {
      const { output } = context;
      const [channel, reader] = [nameOf(context), context.given.value("READER") ?? ""];
      await host.call("deleteReader", { channel, reader });
      await output.result({ channel, reader, deleted: true }, [
        `${output.paint("green", "✓")} ${shown(reader)} is deleted`,
      ]);
    }),
};

async function showStatus(context: Context): Promise<void> {
  const { output, platform } = context;
  const host = await findRunning(context);
  if (host === undefined) {
    const advice = "No host runs for this agent; the next channel command starts one";
    return await output.result({ running: false }, [advice]);
  }
  const { fields } = await host.call("status");
  host.end();
  const status = {
    running: true,
    agent: agentName(context),
    agent_id: fields.text("agentId"),
    pid: fields.number("pid"),
    version: fields.text("sdk"),
    runtime: fields.text("runtime"),
    // Without the one that asks.
    programs: fields.number("programs") - 1,
    channels: fields.texts("channels"),
  };
  const forMs = platform.nowMs() - fields.number("startedAtMs");
  await output.result(status, [
    `${output.paint("green", "✓")} The host of agent "${status.agent}" has been running for ${
      span(forMs)
    }`,
    ...table([
      ["  process", `${status.pid}, ${status.runtime}, version ${status.version}`],
      ["  programs", String(status.programs)],
      ["  channels", String(status.channels.length)],
    ]),
  ]);
}

/** For commands that need the agent's files to themselves: a host that nobody uses goes. */
export async function endIdleHost(context: Context): Promise<void> {
  const host = await findRunning(context);
  if (host === undefined) return;
  const { fields } = await host.call("stop", { whenIdle: true });
  if (!fields.flag("stopping")) {
    host.end();
    const name = agentName(context);
    throw new Failure("store_locked", `Programs use agent "${name}" through its host`, {
      advice: `End them, or end the host with: {} host stop --agent ${name}`,
    });
  }
  await host.over;
}

/** At the host, which is started if need be. */
async function atHost(
  context: Context,
  act: (host: HostConnection) => Promise<void>,
): Promise<void> {
  if (!usesHost(context)) throw badInput("STATIC_HOST is off", "Unset it to use a host");
  await withAgent(context, async () => {
    const host = await findRunning(context);
    if (host === undefined) {
      throw new Failure("listener_died", "The host has just ended", { advice: "Try again" });
    }
    try {
      await act(host);
    } finally {
      host.end();
    }
  });
}
