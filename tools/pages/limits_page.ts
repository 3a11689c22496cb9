/**
 * Renders the limits of `docs/capacity.md` from the limits of API and relay, as they are when no
 * variable is set.
 */
import { apiLimits, type PlanMessages, readConfig as readApiConfig } from "../../api/mod.ts";
import { readConfig as readRelayConfig, relayLimits } from "../../relay/mod.ts";
import { type Limit, limitTopics } from "../../server/limits/mod.ts";

type ReadApiVariable = Parameters<typeof readApiConfig>[0];
type ReadPage = (path: string) => string;

/** The migration that says how many messages each plan has. */
const plansFile = "migrations/0001_first.sql";

/** All limits by topic, with these variables. */
export function limitsWith(
  variable: ReadApiVariable,
  read: ReadPage,
): ReadonlyMap<string, readonly Limit[]> {
  const parts = [
    apiLimits(readApiConfig(variable), planMessages(read)),
    relayLimits(readRelayConfig(variable)),
  ];
  return new Map(
    limitTopics.map((topic) => [topic, parts.flatMap((limits) => limits[topic] ?? [])]),
  );
}

/** Returns the whole page as Markdown, not yet formatted. `read` returns the text of a file. */
export function renderLimits(read: ReadPage): string {
  let page = read("docs/capacity.md");
  for (const [topic, limits] of limitsWith(() => undefined, read)) {
    const [begins, ends] = [`<!-- limits: ${topic} -->\n`, "<!-- end of limits -->"];
    const [before = "", rest] = page.split(begins);
    if (rest === undefined) {
      throw new Error(`docs/capacity.md has no place for the limits of ${topic}: ${begins}`);
    }
    page = `${before}${begins}\n${listOf(limits)}\n\n${rest.slice(rest.indexOf(ends))}`;
  }
  return page;
}

function listOf(limits: readonly Limit[]): string {
  return limits.map(([name, value, of, above, ...setBy]) => {
    const by = setBy.map((each) => `\`${each}\``).join(", ");
    return `- ${name} (${of}): **${value}**${by === "" ? "" : `, ${by}`}; ${above}`;
  }).join("\n");
}

function planMessages(read: ReadPage): PlanMessages {
  const [, inserted = ""] = read(plansFile).split("INSERT INTO plans (name, message_limit) VALUES");
  const [values = ""] = inserted.split(";");
  const plans = Array.from(
    values.matchAll(/\('(\w+)', (\w+)\)/g),
    ([, plan = "", messages = ""]) => {
      return [plan, messages === "NULL" ? null : Number(messages)] as const;
    },
  );
  if (plans.length === 0) throw new Error(`${plansFile} names no plans`);
  return plans;
}
