/**
 * The way from an agent's directory to its host: connect to the one that runs, or start one.
 * Programs that start one at once take turns; the lock of the agent's store decides in the end, so
 * none of this can bring about two.
 */
import { version } from "../../proto/mod.ts";
import { isBadgeFile } from "../base/badge_option.ts";

import { createError, isCode, StaticError } from "../base/errors.ts";
import { pause, type Runtime } from "../base/runtime.ts";
import type { HostPlace, HostPlatform } from "../platform/platform.ts";
import { type ConnectionParts, HostConnection } from "./connection.ts";
import { HeaderFields } from "./fields.ts";
import { encodeFrame, type FrameHeader, protocolVersion } from "./frames.ts";

/** The options that a host is started with. */
export interface HostOptions {
  readonly fields: FrameHeader;
  readonly identity: Uint8Array;
}

export interface HostSearch {
  readonly hosts: HostPlatform;
  readonly runtime: Runtime;
  readonly dataDir: string;
  /** The mark of what a host should have been started with; undefined when any will do. */
  readonly settings?: string | undefined;
  /** Asked for only when a host has to be started. */
  readonly options: () => Promise<HostOptions>;
  readonly onEvent: (connection: HostConnection, name: string, fields: HeaderFields) => void;
}

/**
 * How long to wait for a host that is being started by another program, and for one that goes:
 * twice as long as a host tries at a busy service.
 */
const [patienceMs, lookMs] = [120_000, 20];
/** How long to wait for the first word of a host that runs. */
const silenceMs = 20_000;
/** A directory that something else than a host holds is not waited for longer. */
const lockedMs = 1_500;
/**
 * A host that was killed before it could say a word is started again; one that always ends so is
 * not.
 */
const maxDeaths = 3;

/** Throws `StaticError`. */
export async function findHost(finding: HostSearch, signal?: AbortSignal): Promise<HostConnection> {
  const { hosts, runtime } = finding;
  const place = await hosts.place(finding.dataDir);
  let waitingSinceMs = runtime.nowMs();
  let lockedSinceMs: number | undefined;
  let [starts, deaths] = [0, 0];
  for (;;) {
    signal?.throwIfAborted();
    const running = await connectTo(place, finding);
    if (running !== undefined && await isOurs(running, place, finding)) return running;
    const turn = running === undefined ? await startInTurn(place, finding) : "none";
    const nowMs = runtime.nowMs();
    // The host is there, however long that took; one that always goes again is not started for
    // ever.
    if (turn === "started" && starts++ < maxDeaths) waitingSinceMs = nowMs;
    const failure = turn instanceof StaticError ? turn : undefined;
    if (failure?.code === "store_locked") {
      // A host that was killed a moment ago lets go when the system has ended it.
      lockedSinceMs ??= nowMs;
      if (nowMs - lockedSinceMs > lockedMs) throw heldAlone(failure, place);
    } else if (failure !== undefined && (!isDeath(failure) || ++deaths >= maxDeaths)) {
      throw failure;
    }
    if (nowMs - waitingSinceMs > patienceMs) {
      throw createError("connection_error", `No host came up for ${place.dataDir}; try again`);
    }
    await pause(runtime, lookMs, signal);
  }
}

/** The host that runs, whatever its version; undefined when there is none. */
export async function connectTo(
  place: HostPlace,
  { hosts, onEvent }: Pick<HostSearch, "hosts" | "onEvent">,
): Promise<HostConnection | undefined> {
  const early: Uint8Array[] = [];
  const opened: { connection?: HostConnection; isOver?: boolean } = {};
  const wire = await hosts.connect(place, {
    onData: (bytes) =>
      opened.connection === undefined ? void early.push(bytes) : opened.connection.receive(bytes),
    onEnd: () => {
      opened.isOver = true;
      opened.connection?.end();
    },
  });
  if (wire === undefined) return undefined;
  const parts: ConnectionParts = {
    write: (bytes) => wire.write(bytes),
    close: () => wire.close(),
    onEvent: (name, fields) => opened.connection && onEvent(opened.connection, name, fields),
  };
  const connection = new HostConnection(parts);
  opened.connection = connection;
  for (const bytes of early) connection.receive(bytes);
  if (opened.isOver === true) connection.end();
  return connection;
}

/**
 * False when the host was another one and goes. Throws when one of another version stays, because
 * others use it.
 */
async function isOurs(
  connection: HostConnection,
  { dataDir }: HostPlace,
  { settings, runtime }: Pick<HostSearch, "settings" | "runtime">,
): Promise<boolean> {
  let hello: HeaderFields;
  // The system lets programs connect to a process that stands still.
  const giveUp = runtime.after(silenceMs, () => {
    const text =
      `The host of ${dataDir} does not say anything; end its process, which may be stopped, and try again`;
    connection.end(createError("connection_error", text));
  });
  try {
    hello = await connection.hello.finally(giveUp);
  } catch (error) {
    // One that ends just now is as good as none; one that refuses says why.
    if (isCode(error, "listener_died")) return false;
    throw error;
  }
  const [protocol, sdk] = [hello.number("protocol"), hello.text("sdk")];
  const isOfVersion = protocol === protocolVersion && sdk === version;
  if (isOfVersion && (settings === undefined || settings === hello.optionalText("settings"))) {
    return true;
  }
  const stopping = await connection.call("stop", { whenIdle: true }).then(
    ({ fields }) => fields.flag("stopping"),
    goneIsTrue,
  );
  if (stopping) {
    await connection.over;
    return false;
  }
  // With other settings it is still the same agent.
  if (isOfVersion) return true;
  connection.end();
  const text =
    `A host of version ${sdk} holds ${dataDir} and other programs use it; this program is version ${version}. ` +
    "End them, or stop the host with: static host stop";
  throw createError("unsupported_version", text);
}

/** `started`: it runs now. `none`: another program starts one. Otherwise why it does not run. */
async function startInTurn(
  place: HostPlace,
  finding: HostSearch,
): Promise<StaticError | "started" | "none"> {
  const endTurn = await finding.hosts.takeTurn(place);
  if (endTurn === undefined) return "none";
  try {
    const running = await connectTo(place, { ...finding, onEvent: () => {} });
    running?.end();
    if (running === undefined) await start(place, finding);
    return "started";
  } catch (error) {
    if (error instanceof StaticError) return error;
    throw error;
  } finally {
    await endTurn();
  }
}

function goneIsTrue(error: unknown): boolean {
  if (isCode(error, "listener_died")) return true;
  throw error;
}

/** Resolves when it can be connected to; rejects with why it ended. */
async function start(place: HostPlace, { hosts, options }: HostSearch): Promise<void> {
  const { fields, identity } = await options();
  const frame = encodeFrame({ ...fields, dataDir: place.dataDir, socket: place.socket }, identity);
  const { trustFile, badge } = fields;
  const badgeFile = typeof badge === "string" && isBadgeFile(badge) ? badge : undefined;
  const readable = [trustFile, badgeFile].filter((path) => typeof path === "string");
  const died = `The host did not start; ${place.folder}/log may say why`;
  // The process prints one answer, which is read like any other.
  const reading = new HostConnection({ write: () => {}, close: () => {} });
  const answered = reading.call("start");
  answered.catch(() => {});
  let letGo: () => void;
  try {
    letGo = hosts.start(place, { frame, readable }, {
      onData: (bytes) => reading.receive(bytes),
      onEnd: () => reading.end(createError("internal", died, { retryable: true })),
    });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const text =
      `Cannot start a host: ${why}; let this program run others, or start the host with: static host`;
    throw createError("not_allowed", text, { cause });
  }
  try {
    await answered;
  } finally {
    letGo();
  }
}

/** Returns whether a host ended before it said why. */
function isDeath({ code, retryable }: StaticError): boolean {
  return code === "internal" && retryable;
}

/** Something else than a host holds the directory. */
function heldAlone(error: StaticError, { dataDir }: HostPlace): StaticError {
  const text =
    `${dataDir} is held by a program that shares it with nobody; end it, or let it connect with host: "auto", ` +
    "so that both can work";
  return createError("store_locked", text, { cause: error });
}
