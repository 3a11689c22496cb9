/**
 * How far a campaign of faults is. Every fault is a line of `STATIC_CAMPAIGN_FILE`, if there is one; only those count that an
 * audit came after. A campaign that was interrupted does what is missing; give each test a file of its own. `STATIC_UNTIL`
 * (milliseconds since 1970) ends it early, with an audit.
 */
const path = Deno.env.get("STATIC_CAMPAIGN_FILE");
const untilMs = Number(Deno.env.get("STATIC_UNTIL") ?? Infinity);

/** Faults between two audits. */
export const auditEvery = 50;

/** Whether no further fault is wanted. */
export function isTimeOver(): boolean {
  return Date.now() > untilMs;
}

/** Of so many faults, those that no audit has come after. */
export async function missingFaults(wanted: number): Promise<number> {
  if (path === undefined) return wanted;
  const text = await Deno.readTextFile(path).catch((error: unknown) => {
    if (error instanceof Deno.errors.NotFound) return "";
    throw error;
  });
  const lines: readonly { readonly audited?: number }[] = text.split("\n").filter((line) => line !== "").map((line) =>
    JSON.parse(line)
  );
  return Math.max(0, wanted - lines.reduce((sum, { audited = 0 }) => sum + audited, 0));
}

export async function tellProgress(what: Readonly<Record<string, unknown>>): Promise<void> {
  const line = JSON.stringify({ time: new Date().toISOString(), ...what });
  console.log(line);
  if (path !== undefined) await Deno.writeTextFile(path, `${line}\n`, { append: true });
}
