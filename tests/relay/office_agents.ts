/**
 * The agents of an office, in one process. Each connects with the SDK as its users have it, again
 * if it is refused, and stays. Prints how many are in and how often one was refused; ends when its
 * input does.
 */
import { type ConnectOptions, StaticClient } from "../../sdk/mod.ts";

export interface OfficeOrder {
  readonly agents: number;
  readonly options: Omit<ConnectOptions, "identity" | "dataDir">;
  readonly folder: string;
  readonly giveUpMs: number;
}

export interface OfficeReport {
  readonly in: number;
  readonly refusals: Readonly<Record<string, number>>;
  readonly ms: number;
}

const { agents, options, folder, giveUpMs }: OfficeOrder = JSON.parse(Deno.args[0] ?? "");
const startedMs = performance.now();
const clients: StaticClient[] = [];
const refusals: Record<string, number> = {};

async function comeIn(name: string): Promise<void> {
  while (performance.now() - startedMs < giveUpMs) {
    try {
      clients.push(
        await StaticClient.connect({ ...options, identity: name, dataDir: `${folder}/${name}` }),
      );
      return;
    } catch (error) {
      const code = String(Reflect.get(Object(error), "code") ?? error);
      refusals[code] = (refusals[code] ?? 0) + 1;
    }
  }
}

await Promise.all(Array.from({ length: agents }, (_, i) => comeIn(`agent-${i}`)));
const report: OfficeReport = {
  in: clients.length,
  refusals,
  ms: Math.round(performance.now() - startedMs),
};
console.log(JSON.stringify(report));
await Deno.stdin.readable.pipeTo(new WritableStream());
await Promise.allSettled(clients.map((client) => client.close()));
Deno.exit(0);
