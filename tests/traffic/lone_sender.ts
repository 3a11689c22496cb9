/**
 * A sender by itself, idle and busy in turns, over a socket that shows how it writes its cells: for
 * the control without fill.
 */
import { CellSender, limits } from "../../proto/mod.ts";
import type { Random } from "../support/mod.ts";
import type { Observation } from "./observation.ts";
import type { Recording, State, Stretch } from "./stage.ts";

export const loneIntervalMs = 10;
const rounds = 12;
const turnMs = 150;

/** `write` may change what leaves. */
export async function recordSender(
  random: Random,
  write: (cell: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer>,
): Promise<Recording> {
  const observations: Observation[] = [];
  const from = Deno.listenDatagram({ transport: "udp", hostname: "127.0.0.1", port: 0 });
  const to = Deno.listenDatagram({ transport: "udp", hostname: "127.0.0.1", port: 0 });
  const watched = watch(to, observations);
  const sender = new CellSender({
    cellBytes: limits.cellBytes,
    write: async (cells) => void await from.send(write(cells), to.addr),
    after: (ms, run) => {
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    },
    nowMs: () => performance.now(),
    random: () => random.uint32() / 2 ** 32,
  });
  sender.configure("constant", loneIntervalMs);
  const stretches: Stretch[] = [];
  for (let round = 0; round < rounds; round++) {
    const order: State[] = random.chance(0.5) ? ["idle", "busy"] : ["busy", "idle"];
    for (const [slot, state] of order.entries()) {
      const fromMs = now();
      const untilMs = fromMs + turnMs;
      while (now() < untilMs) {
        if (state === "busy") sender.push("data", random.bytes(1 + random.below(3_000)));
        // wait: the rate of a talkative agent; a state lasts as long as it is recorded
        await new Promise((resolve) => setTimeout(resolve, loneIntervalMs));
      }
      await sender.flush(1_000);
      stretches.push({ state, session: 0, round, slot, fromMs, untilMs });
    }
  }
  sender.stop();
  to.close();
  await watched;
  from.close();
  return {
    observations: [observations],
    stretches,
    work: { idle: 0, busy: 0, second: 0, joining: 0 },
  };
}

async function watch(to: Deno.DatagramConn, observations: Observation[]): Promise<void> {
  for await (const [{ length }] of to) {
    // Something comes from the other side too, as in a session.
    observations.push({ atMs: now(), fromClient: false, wireBytes: 1, streamBytes: 1 });
    observations.push({ atMs: now(), fromClient: true, wireBytes: length, streamBytes: length });
  }
}

function now(): number {
  return performance.timeOrigin + performance.now();
}
