/**
 * How far a campaign of faults is. Every fault is a line of `STATIC_CAMPAIGN_FILE`, if there is one; only those count that an
 * audit came after. A campaign that was interrupted does what is missing; give each test a file of its own. `STATIC_UNTIL`
 * (milliseconds since 1970) ends it early, with an audit.
 */
const path = Deno.env.get("STATIC_CAMPAIGN_FILE");
const untilMs = Number(Deno.env.get("STATIC_UNTIL") ?? Infinity);

/** Faults between two audits. */
export const auditEvery = 50;

/** A line of the file after an audit. */
interface AuditedLine {
  readonly audited: number;
  /** Recovery times in milliseconds, by the names of the faults. */
  readonly recoveries?: Recoveries;
}

export type Recoveries = Readonly<Record<string, readonly number[]>>;

/** Of this process. */
const told: Readonly<Record<string, unknown>>[] = [];

/** Whether no further fault is wanted. */
export function isTimeOver(): boolean {
  return Date.now() > untilMs;
}

/** Of so many faults, those that no audit has come after. */
export async function missingFaults(wanted: number): Promise<number> {
  return Math.max(0, wanted - (await readAudited()).reduce((sum, { audited }) => sum + audited, 0));
}

/** Of all faults that an audit came after. */
export async function recoveriesSoFar(): Promise<Recoveries> {
  const all: Record<string, readonly number[]> = {};
  for (const { recoveries = {} } of await readAudited()) {
    for (const [name, times] of Object.entries(recoveries)) all[name] = [...all[name] ?? [], ...times];
  }
  return all;
}

export async function tellProgress(what: Readonly<Record<string, unknown>>): Promise<void> {
  const line = JSON.stringify({ time: new Date().toISOString(), ...what });
  console.log(line);
  told.push(what);
  if (path !== undefined) await Deno.writeTextFile(path, `${line}\n`, { append: true });
}

async function readAudited(): Promise<AuditedLine[]> {
  const lines: readonly Partial<AuditedLine>[] = path === undefined ? told : await readLines(path);
  return lines.flatMap(({ audited, ...rest }) => audited === undefined ? [] : [{ audited, ...rest }]);
}

async function readLines(path: string): Promise<Partial<AuditedLine>[]> {
  const text = await Deno.readTextFile(path).catch((error: unknown) => {
    if (error instanceof Deno.errors.NotFound) return "";
    throw error;
  });
  return text.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
}
