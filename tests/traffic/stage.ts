/**
 * Records sessions in every state that they should not show: one relay, one process of agents that is watched, and one that
 * gives them something to do over the other transport, which is not. States take turns in random order, so that whatever else
 * the machine does falls on all of them.
 */
import type { CoverOptions } from "../../sdk/mod.ts";
import { grantedToken } from "../../relay/testing/open_relay.ts";
import { createProject } from "../runtime/bundle.ts";
import type { Random } from "../support/mod.ts";
import type { AgentsCommand, AgentsOptions, Invite } from "./agents.ts";
import { startForwarder } from "./forwarder.ts";
import { LineProcess } from "./line_process.ts";
import type { Observation, WireTransport } from "./observation.ts";
import { packetCapture, startPacketCapture } from "./packet_capture.ts";

export const states = ["idle", "busy", "second", "joining"] as const;
export type State = typeof states[number];

export interface RecordingOptions {
  readonly transport: WireTransport;
  readonly cover: CoverOptions;
  readonly sessions: number;
  readonly rounds: number;
  /** How long a state lasts in each round. */
  readonly stateMs: number;
  readonly states: readonly State[];
  readonly random: Random;
}

/** A stretch of time in which all watched sessions were in one state. */
export interface Stretch {
  readonly state: State;
  readonly round: number;
  readonly fromMs: number;
  readonly untilMs: number;
}

export interface Recording {
  readonly observations: readonly Observation[];
  readonly stretches: readonly Stretch[];
  /** Messages sent and channels joined, to be sure that busy was busy. */
  readonly work: Readonly<Record<State, number>>;
}

const token = grantedToken("00000000-0000-4000-8000-000000000001");
/** At least: request, answer, Welcome, acknowledgement, with what goes on between. */
const ticksToJoin = 6;
/** What a state leaves behind is gone after this. */
const settleMs = 300;

interface Relay {
  readonly quicPort: number;
  readonly grpcPort: number;
  readonly cert: string;
}

export async function record(options: RecordingOptions): Promise<Recording> {
  const { transport, sessions, cover } = options;
  await using opened = new AsyncDisposableStack();
  const folder = await Deno.makeTempDir({ prefix: "static-traffic-" });
  opened.defer(() => Deno.remove(folder, { recursive: true }));
  const forwarder = packetCapture.met ? undefined : startForwarder(transport);
  const scheme = transport === "quic" ? "quic" : "https";
  const relayProcess = LineProcess.deno(
    "relay_process.ts",
    forwarder ? [`${scheme}://localhost:${forwarder.port}`] : [],
  );
  opened.defer(() => relayProcess.end());
  const relay = await relayProcess.next<Relay>();
  const port = transport === "quic" ? relay.quicPort : relay.grpcPort;
  forwarder?.connectTo(port);
  const keyLogFile = `${folder}/keys`;
  const capture = forwarder ?? await startPacketCapture({ transport, port, keyLogFile, folder });
  const usual = { cert: relay.cert, token, folder };
  const peer = LineProcess.deno("agents.ts", [JSON.stringify({
    ...usual,
    ...(transport === "quic"
      ? { endpoint: `https://localhost:${relay.grpcPort}`, transport: "grpc" }
      : { endpoint: `quic://localhost:${relay.quicPort}`, transport: "quic" }),
    cover: { mode: "off" },
    label: "peer",
    sessions: 1,
  })]);
  opened.defer(() => peer.end());
  await peer.next();
  const endpoint = `${scheme}://localhost:${capture.port}`;
  const watched = await startWatched(
    { ...usual, endpoint, transport, cover, label: "watched", sessions },
    opened,
    keyLogFile,
  );
  const { stretches, work } = await play(options, { peer, watched });
  await watched.ask({ do: "close" });
  return { observations: await capture.stop(), stretches, work };
}

/** In Deno over QUIC; in Node over gRPC, whose stream `Session` Deno does not have. */
async function startWatched(
  options: AgentsOptions,
  opened: AsyncDisposableStack,
  keyLogFile: string,
): Promise<LineProcess> {
  const start = async (): Promise<LineProcess> => {
    const argument = JSON.stringify(options);
    if (options.transport === "quic") return LineProcess.deno("agents.ts", [argument], { SSLKEYLOGFILE: keyLogFile });
    const project = opened.use(await createProject());
    return new LineProcess("node", [await project.bundle(new URL("agents.ts", import.meta.url), "node"), argument]);
  };
  const agents = await start();
  opened.defer(() => agents.end());
  await agents.next();
  return agents;
}

interface Actors {
  readonly peer: LineProcess;
  readonly watched: LineProcess;
}

async function play(options: RecordingOptions, actors: Actors): Promise<Omit<Recording, "observations">> {
  const { peer, watched } = actors;
  const names = Array.from({ length: options.sessions }, (_, i) => `acme/traffic/main-${i}`);
  const invites = await command<Invite[]>(peer, { do: "create", names });
  await command(watched, { do: "join", invites });
  await command(peer, { do: "answer", names });
  const stretches: Stretch[] = [];
  const work = { idle: 0, busy: 0, second: 0, joining: 0 };
  for (let round = 0; round < options.rounds; round++) {
    for (const state of shuffled(options.states, options.random)) {
      const invited = state === "joining" ? await prepareJoining(options, peer, round) : [];
      await pause(settleMs);
      const fromMs = Date.now();
      const untilMs = fromMs + options.stateMs;
      const done = await enter(state, { watched, names, invited, untilMs });
      work[state] += done;
      stretches.push({ state, round, fromMs, untilMs });
    }
  }
  return { stretches, work };
}

/** Channels to join: more than there is time for. */
async function prepareJoining(
  { sessions, stateMs, cover }: RecordingOptions,
  peer: LineProcess,
  round: number,
): Promise<Invite[]> {
  const each = Math.ceil(stateMs / (ticksToJoin * (cover.intervalMs ?? stateMs)));
  const names = Array.from({ length: each * sessions }, (_, i) => `acme/traffic/join-${round}-${i}`);
  return await command<Invite[]>(peer, { do: "create", names });
}

async function enter(
  state: State,
  { watched, names, invited, untilMs }: { watched: LineProcess; names: string[]; invited: Invite[]; untilMs: number },
): Promise<number> {
  switch (state) {
    case "idle":
      await pause(untilMs - Date.now());
      return 0;
    case "busy":
    case "second": {
      const everyMs = state === "busy" ? 0 : 1_000;
      return (await command<{ sent: number }>(watched, { do: "talk", names, untilMs, everyMs })).sent;
    }
    case "joining":
      return (await command<{ joined: number }>(watched, { do: "joinAll", invites: invited, untilMs })).joined;
  }
}

async function command<Answer>(to: LineProcess, what: AgentsCommand): Promise<Answer> {
  return await to.ask<Answer>(what);
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  return items.map((item) => ({ item, key: random.uint32() })).sort((a, b) => a.key - b.key).map(({ item }) => item);
}

function pause(ms: number): Promise<void> {
  // wait: a state lasts as long as it is recorded
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
}
