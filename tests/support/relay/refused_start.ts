/**
 * A start of a relay that is expected to fail, in this process: one of its own takes a second of
 * processor for nothing more.
 */
import { assertRejects } from "@std/assert";
import { readConfig, startRelay } from "../../../relay/mod.ts";
import { StartFailed } from "../../../server/mod.ts";
import { ephemeral } from "./process.ts";

export interface RefusedStart {
  /** As `relay/main.ts` prints it. */
  readonly message: string;
  /** The lines before it. */
  readonly log: string;
}

/** Fails when the relay starts, and when it does not for a reason that is told with a stack. */
export async function refusedStart(
  environment: Readonly<Record<string, string>>,
): Promise<RefusedStart> {
  const variables: Readonly<Record<string, string>> = { ...ephemeral, ...environment };
  const lines: string[] = [];
  const config = readConfig((name) => variables[name]);
  const start = (): Promise<unknown> =>
    startRelay(config, { writeLog: (line) => void lines.push(line) });
  const { message } = await assertRejects(start, StartFailed);
  return { message, log: lines.join("\n") };
}
