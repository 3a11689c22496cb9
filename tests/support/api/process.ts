/**
 * The API as its own process, with no more permissions than `deno task start` gives it, or as its
 * own task.
 */
import { apiPermissions } from "../../../deploy/local/commands.ts";
import {
  type PartProcess,
  readMetrics,
  type SpawnOptions,
  spawnPart,
  untilListening,
} from "../part_process.ts";
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
  { how = "permitted", ...options }: SpawnOptions & { readonly how?: "permitted" | "as task" } = {},
): Promise<ApiProcess> {
  const variables: Record<string, string> = { ...testEnvironment, ...environment };
  const part = spawnPart(
    how === "as task" ? ["task", "--quiet", "api"] : permitted(variables),
    variables,
    options,
  );
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

function permitted(variables: Readonly<Record<string, string>>): string[] {
  return [
    "run",
    "--no-check",
    "--no-prompt",
    ...apiPermissions((name) => variables[name]),
    "api/main.ts",
  ];
}
