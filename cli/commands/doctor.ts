/**
 * `doctor`: looks at everything that a channel needs, and says what to do about what is not well.
 */
import { agentFlag } from "../agent.ts";
import { type CheckResult, checks, runCheck } from "./doctor_checks.ts";
import type { Command } from "../command.ts";
import { Failure, toFailure } from "../failure.ts";
import { type Colour, framed, withCommands } from "../output.ts";
import { findRelay } from "../service/discovery.ts";
import { readSettings } from "../service/settings.ts";
import { withBlanks } from "../wrapping.ts";

const marks: Readonly<
  Record<CheckResult["state"], { readonly mark: string; readonly colour: Colour }>
> = {
  ok: { mark: "✓", colour: "green" },
  warning: { mark: "!", colour: "yellow" },
  fault: { mark: "✗", colour: "red" },
  skipped: { mark: "-", colour: "dim" },
};

export const doctor: Command = {
  path: "doctor",
  summary: "check API, relay, certificate, clock, data folder and quota, and suggest fixes",
  details: ["Exits with code 7 if something does not work."],
  flags: [agentFlag],
  examples: [{ command: "doctor", what: "" }, { command: "doctor --json", what: "for monitoring" }],
  run: async (context) => {
    const { platform, output } = context;
    const reading = readSettings(context).then((settings) => findRelay(context, settings));
    const settings = await reading.catch((error) => {
      const { message, advice } = toFailure(error);
      throw new Failure("invalid_request", message, { exit: "unhealthy", advice });
    });
    const width = Math.max(...checks.map(({ name }) => name.length));
    const findings: (CheckResult & { readonly name: string })[] = [];
    for (const check of checks) {
      const broken = findings.filter(({ state }) => state === "fault" || state === "skipped").map((
        { name },
      ) => name);
      const running = runCheck(check, { context, settings, broken });
      const finding = await output.progress(`checking: ${check.name}`, running);
      const advice = finding.advice === undefined
        ? undefined
        : withCommands(finding.advice, platform.program);
      findings.push({
        name: check.name,
        ...finding,
        ...(advice !== undefined && { advice: withBlanks(advice) }),
      });
      platform.interrupted.throwIfAborted();
      if (output.json) continue;
      const { mark, colour } = marks[finding.state];
      const lines = [
        `${output.paint(colour, mark)} ${check.name.padEnd(width)}  ${framed(finding.text)}`,
      ];
      if (advice !== undefined) {
        lines.push(`  ${" ".repeat(width)}  ${output.paint("yellow", `→ ${framed(advice)}`)}`);
      }
      await output.text({}, lines);
    }
    const faults = findings.filter(({ state }) => state === "fault").length;
    if (output.json) await output.result({ healthy: faults === 0, findings }, []);
    if (faults === 0) return;
    const what = faults === 1 ? "One thing does" : `${faults} things do`;
    throw new Failure("internal", `${what} not work`, { exit: "unhealthy" });
  },
};
