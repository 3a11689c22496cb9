/**
 * A relay's engine as a process, without a relay around it: appends to shared channels until it is
 * killed, several callers at once, and prints every accepted entry as `<channel> <sequence> <key>`.
 * A caller that is not answered asks again with the same key, as an agent does. Arguments: the way
 * to the nodes as JSON, the prefix, the relay's id, the name of this life; then, if wanted, the
 * number of replicas, the file of the copy, and how long a caller waits between two entries.
 */
import { openTestCluster } from "../../relay/cluster/testing/open_test_cluster.ts";
import {
  commit,
  message,
  sampleChannelId,
  sampleLease,
} from "../../relay/engine/testing/sample.ts";
import type { NatsAccess } from "../support/nats.ts";
import { campaignCopyEvery, writerChannels } from "./engine_writer_channels.ts";

const [nodes = "", prefix = "", relay = "", life = ""] = Deno.args;
const [, , , , replicas = "3", path = ":memory:", pauseMs = "0"] = Deno.args;
/** A long campaign has smaller entries, or its log would not fit the machine. */
const mostBytes = pauseMs === "0" ? 3_000 : 300;

/**
 * Synchronously, so that what was accepted is out of the process before the next moment in which it
 * may be killed.
 */
function report(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

/** For the test to show when something went wrong. */
function trace(what: unknown): void {
  console.error(`${new Date().toISOString()} ${life} ${JSON.stringify(what)}`);
}

trace("starts");
const access: NatsAccess = JSON.parse(nodes);
const { engine, stats } = await openTestCluster({
  ...access,
  prefix,
  relay,
  replicas: Number(replicas),
  path,
  ...(path !== ":memory:" && { copyEvery: campaignCopyEvery }),
  log: (level, event, fields) => {
    trace({ level, event, ...fields });
    if (level === "error") report(`fault ${event} ${JSON.stringify(fields)}`);
  },
  onFailed: (error) => {
    trace(error.message);
    report(`failed ${error.message}`);
    Deno.exit(3);
  },
});
const leaseId = `lease-${life}`;
await engine.leases.open(sampleLease({ leaseId, granted: 1_000_000_000 }));

async function appendForEver(number: number, caller: number): Promise<never> {
  const channelId = sampleChannelId(number);
  const charge = { leaseId, fence: 7, messages: 1, payloadBytes: 10 };
  for (let i = 0;; i++) {
    const key = `${life}/${caller}/${i}`;
    for (;;) {
      const epoch = (await engine.findChannel(channelId))?.epoch ?? 0;
      const body = new TextEncoder().encode(
        `${leaseId} ${key} ${"x".repeat((i * 7919) % mostBytes)}`,
      );
      // Every tenth is a commit, so that epochs have to survive as well.
      const entry = i % 10 === 9
        ? commit(key, epoch, { body })
        : message(key, { epoch, body, charge });
      const outcome = await engine.append(channelId, entry).catch(() => undefined);
      if (outcome?.kind === "appended" || outcome?.kind === "duplicate") {
        report(`${number} ${outcome.sequence} ${key}`);
        break;
      }
    }
    // wait: as agents do between two messages
    if (pauseMs !== "0") await new Promise((resolve) => setTimeout(resolve, Number(pauseMs)));
  }
}

report("ready");
setInterval(() => trace(stats()), 10_000);
await Promise.all(
  Array.from({ length: 12 }, (_, caller) => appendForEver(writerChannels[caller % 2] ?? 1, caller)),
);
