/** The API as its own process, started the way an operator starts it: `api/main.ts` with the task's permissions. */
import { type PartProcess, readMetrics, type SpawnOptions, spawnPart, untilListening } from "../part_process.ts";
import { createCall, type TestApi, testEnvironment } from "./harness.ts";

export interface ApiProcess extends PartProcess {
  readonly url: string;
  /** For relays. */
  readonly internalUrl: string;
  readonly adminUrl: string;
  readonly call: TestApi["call"];
  metrics(): Promise<string>;
}

export async function startProcess(
  environment: Readonly<Record<string, string>>,
  options: SpawnOptions = {},
): Promise<ApiProcess> {
  const { tasks } = JSON.parse(await Deno.readTextFile(new URL("../../../deno.json", import.meta.url)));
  const [, ...args] = String(tasks.api).split(" ");
  const part = spawnPart(args, { ...testEnvironment, ...environment }, options);
  const listening = await untilListening(part);
  const { url = "", internal_url: internalUrl = "" } = listening;
  const { admin_url: adminUrl = "" } = listening;
  return {
    ...part,
    url,
    internalUrl,
    adminUrl,
    call: createCall(url, { internalUrl }),
    metrics: () => readMetrics(listening),
  };
}
