/**
 * A process that appends at full speed until it is killed, several callers at once, and prints
 * every accepted entry as `<channel> <sequence> <key>`. Arguments: the database file, the name of
 * the run.
 */
import { openSqliteEngine } from "../../relay/engine/mod.ts";
import {
  commit,
  createChannel,
  message,
  sampleChannelId,
  sampleLease,
} from "../../relay/engine/testing/sample.ts";
import { writerChannels, writerLease } from "./engine_writer_channels.ts";

const [path = "", run = ""] = Deno.args;
const engine = await openSqliteEngine({ path, checkpointPages: 100 });
for (const number of writerChannels) {
  if (await engine.findChannel(sampleChannelId(number)) === undefined) {
    await createChannel(engine, number);
  }
}
await engine.leases.open(sampleLease({ leaseId: writerLease, granted: 1_000_000_000 }));

/**
 * Synchronously, so that what was accepted is out of the process before the next moment in which it
 * may be killed.
 */
function report(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

async function appendForEver(number: number, caller: number): Promise<never> {
  const channelId = sampleChannelId(number);
  const charge = { leaseId: writerLease, fence: 7, messages: 1, payloadBytes: 10 };
  for (let i = 0;; i++) {
    const key = `${run}/${caller}/${i}`;
    const epoch = (await engine.findChannel(channelId))?.epoch ?? 0;
    const body = new Uint8Array(200 + (i * 7919) % 3000).fill(i);
    // Every tenth is a commit, so that epochs have to survive as well.
    const entry = i % 10 === 9
      ? commit(key, epoch, { body })
      : message(key, { epoch, body, charge });
    const outcome = await engine.append(channelId, entry);
    if (outcome.kind === "appended") report(`${number} ${outcome.sequence} ${key}`);
  }
}

report("ready");
await Promise.all(
  Array.from({ length: 12 }, (_, caller) => appendForEver(writerChannels[caller % 2] ?? 1, caller)),
);
