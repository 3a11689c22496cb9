/**
 * Records sessions in every state that they should not show. Sessions in all states are recorded at
 * the same time, against one relay, and which session is in which state is drawn anew in every
 * round: whatever else the machine does falls on all states, and how much a session differs by
 * itself is told by drawing the states again, on paper (`separation.ts`).
 */
import { grantedToken } from "../../relay/testing/open_relay.ts";
import type { Random } from "../support/mod.ts";
import type { AgentCommand, AgentOptions, Invite } from "./agent.ts";
import { startForwarders } from "./forwarder_process.ts";
import { LineProcess } from "./line_process.ts";
import type { Observation } from "./observation.ts";
import type { RelayPorts } from "./relay_process.ts";
import {
  createWatched,
  isForwarded,
  originsOf,
  startAgents,
  startWatch,
  type WatchedAgent,
  type WatchedOptions,
} from "./watched.ts";

export const states = ["idle", "busy", "second", "joining"] as const;
export type State = typeof states[number];

/** Sessions that are compared with each other: one for each of these states. */
export interface Group extends WatchedOptions {
  readonly states: readonly State[];
}

export interface RecordingOptions {
  readonly groups: readonly Group[];
  readonly rounds: number;
  /** How long a state lasts in each round. */
  readonly stateMs: number;
  /**
   * All states of a round at once, or all sessions through the same states, one after the other.
   */
  readonly arrangement: "at once" | "in turns";
  readonly random: Random;
}

/** A stretch of time in which one session was in one state. */
export interface Stretch {
  readonly state: State;
  readonly session: number;
  readonly round: number;
  /**
   * The slot that the state was drawn for in this round: stretches with the same slot have the same
   * state.
   */
  readonly slot: number;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** The observations of one group. */
export interface Recording {
  /** By session. */
  readonly observations: readonly (readonly Observation[])[];
  readonly stretches: readonly Stretch[];
  /** Messages sent and channels joined, to be sure that busy was busy. */
  readonly work: Readonly<Record<State, number>>;
}

const token = grantedToken("00000000-0000-4000-8000-000000000001");
/** At least: request, answer, Welcome, acknowledgement, with what goes on between. */
const ticksToJoin = 6;
/** The traces of a state are gone after this. */
const settleMs = 300;

export async function record(options: RecordingOptions): Promise<Recording[]> {
  await using opened = new AsyncDisposableStack();
  const folder = await Deno.makeTempDir({ prefix: "static-traffic-" });
  opened.defer(() => Deno.remove(folder, { recursive: true }));
  const members = options.groups.flatMap((group) => group.states.map(() => group));
  const watched = members.map((group, number) => createWatched(group, number));
  const byForwarder = watched.filter(isForwarded).map(({ transport }) => transport);
  const forwarders = await startForwarders(byForwarder, folder, opened);
  const names = {
    addresses: watched.map(({ address }) => address),
    origins: originsOf(watched, forwarders),
  };
  const relayProcess = LineProcess.deno("relay_process.ts", [JSON.stringify(names)]);
  opened.defer(() => relayProcess.end());
  const relay = await relayProcess.next<RelayPorts>();
  const around = { relay, forwarders, folder };
  const watch = await startWatch(watched, around);
  const [peer, agents] = await Promise.all([
    startPeer({ token, folder, relay }, opened),
    startAgents(watched, { ...around, token }, opened),
  ]);
  let next = 0;
  const casts = options.groups.map((group) =>
    new Cast(group, agents.slice(next, next += group.states.length))
  );
  await gather(peer, agents);
  await playAll({ ...options, casts, peer });
  await Promise.all(agents.map(({ process }) => command(process, { do: "close" })));
  const seen = await watch.stop();
  return casts.map((cast) => cast.recording((agent) => seen.get(agent.watched) ?? []));
}

/**
 * Gives the watched ones something to do, and is not watched itself: it dials an address of its
 * own.
 */
async function startPeer(
  { token, folder, relay }: Pick<AgentOptions, "token" | "folder"> & { readonly relay: RelayPorts },
  opened: AsyncDisposableStack,
): Promise<LineProcess> {
  const endpoint = `quic://localhost:${relay.quicPort}`;
  const cover = { mode: "off" } as const;
  const options: AgentOptions = {
    endpoint,
    transport: "quic",
    cover,
    identity: "peer",
    token,
    folder,
    cert: relay.cert,
  };
  const peer = LineProcess.deno("agent.ts", [JSON.stringify(options)]);
  opened.defer(() => peer.end());
  await peer.next();
  return peer;
}

/** Each watched session gets a channel with the peer, who answers. */
async function gather(peer: LineProcess, agents: readonly WatchedAgent[]): Promise<void> {
  const names = agents.map(({ watched }) => channelOf(watched.identity));
  const invites = await command<Invite[]>(peer, { do: "create", names });
  await Promise.all(invites.map((invite, i) => {
    const agent = agents[i];
    return agent && command(agent.process, { do: "join", invite });
  }));
  await command(peer, { do: "answer", names });
}

function channelOf(identity: string): string {
  return `acme/traffic/${identity}`;
}

/** The sessions of one group, and what they did. */
class Cast {
  readonly stretches: Stretch[] = [];
  readonly work = { idle: 0, busy: 0, second: 0, joining: 0 };

  constructor(readonly group: Group, readonly agents: readonly WatchedAgent[]) {}

  recording(observationsOf: (agent: WatchedAgent) => readonly Observation[]): Recording {
    return {
      observations: this.agents.map(observationsOf),
      stretches: this.stretches,
      work: this.work,
    };
  }
}

interface Scene extends RecordingOptions {
  readonly casts: readonly Cast[];
  readonly peer: LineProcess;
}

/** The actions of every session for a while. */
type Turn = readonly Part[];

interface Part extends Omit<Stretch, "fromMs" | "untilMs"> {
  readonly cast: Cast;
  readonly agent: WatchedAgent;
}

async function playAll(scene: Scene): Promise<void> {
  const turns = Array.from({ length: scene.rounds }, (_, round) => turnsOf(round, scene)).flat();
  let invites = prepareJoining(scene, turns, 0);
  for (const [i, turn] of turns.entries()) {
    const prepared = await invites;
    await pause(settleMs);
    // Those of the next turn are made meanwhile: what it costs falls on all states.
    invites = prepareJoining(scene, turns, i + 1);
    await play(turn, prepared, scene.stateMs);
  }
}

function turnsOf(round: number, { arrangement, casts, random }: Scene): Turn[] {
  const order = casts.map(({ group }) => shuffled(group.states, random));
  const turns = arrangement === "at once" ? 1 : Math.max(...order.map(({ length }) => length));
  return Array.from(
    { length: turns },
    (_, turn) =>
      casts.flatMap((cast, c) =>
        cast.agents.map((agent, session): Part => {
          const slot = arrangement === "at once" ? session : turn;
          return { cast, agent, session, round, slot, state: order[c]?.[slot] ?? "idle" };
        })
      ),
  );
}

async function play(turn: Turn, invites: readonly Invite[][], stateMs: number): Promise<void> {
  const fromMs = Date.now();
  const untilMs = fromMs + stateMs;
  await Promise.all(turn.map(async ({ cast, agent, ...part }, i) => {
    cast.work[part.state] += await enter(part.state, { agent, invites: invites[i] ?? [], untilMs });
    cast.stretches.push({ ...part, fromMs, untilMs });
  }));
}

/** Channels to join, for all players that will: more than there is time for. */
async function prepareJoining(
  { stateMs, peer }: Scene,
  turns: readonly Turn[],
  number: number,
): Promise<Invite[][]> {
  const names = (turns[number] ?? []).map(({ cast, state }, i) => {
    const each = Math.ceil(stateMs / (ticksToJoin * (cast.group.cover.intervalMs ?? stateMs)));
    return state === "joining"
      ? Array.from({ length: each }, (_, n) => `acme/traffic/join-${number}-${i}-${n}`)
      : [];
  });
  const invites = await command<Invite[]>(peer, { do: "create", names: names.flat() });
  return names.map(({ length }) => invites.splice(0, length));
}

async function enter(
  state: State,
  { agent, invites, untilMs }: { agent: WatchedAgent; invites: Invite[]; untilMs: number },
): Promise<number> {
  const name = channelOf(agent.watched.identity);
  switch (state) {
    case "idle":
      await pause(untilMs - Date.now());
      return 0;
    case "busy":
    case "second": {
      const everyMs = state === "busy" ? 0 : 1_000;
      return (await command<{ done: number }>(agent.process, {
        do: "talk",
        name,
        untilMs,
        everyMs,
      })).done;
    }
    case "joining":
      return (await command<{ done: number }>(agent.process, { do: "joinAll", invites, untilMs }))
        .done;
  }
}

async function command<Answer>(to: LineProcess, what: AgentCommand): Promise<Answer> {
  return await to.ask<Answer>(what);
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  return items.map((item) => ({ item, key: random.uint32() })).sort((a, b) => a.key - b.key).map((
    { item },
  ) => item);
}

function pause(ms: number): Promise<void> {
  // wait: a state lasts as long as it is recorded
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
}
