/** `token` for the relay, and `usage` against the plan. */
import { readUsage, type Usage } from "../../proto/mod.ts";
import { issueToken, openApi } from "../service/api.ts";
import type { Command } from "../command.ts";
import { type Output, table } from "../output.ts";
import { readSettings, requireKey } from "../service/settings.ts";
import { byteSize, grouped, isoTime, span, utc } from "../texts/amounts.ts";

const barWidth = 30;
/** From here on the bar warns. */
const nearlyFull = 0.9;

export const token: Command = {
  path: "token",
  summary: "exchange the API key for a token (JWT) and print it",
  details: ["The relay accepts a token for one hour. The SDK gets tokens automatically."],
  examples: [
    { command: "token", what: "" },
    { command: "token --json", what: "with account, plan and expiry" },
  ],
  run: async (context) => {
    const { platform, output } = context;
    const settings = await readSettings(context);
    const issued = issueToken(openApi(platform, settings), requireKey(settings));
    const { token, accountId, plan, expiresAtMs } = await output.progress("asking the API", issued);
    await output.result({ token, account_id: accountId, plan, expires_at: isoTime(expiresAtMs) }, [
      token,
    ]);
    if (platform.stdout.isTerminal) {
      await output.note(`Valid until ${utc(expiresAtMs)}; anyone who has it can use it`);
    }
  },
};

export const usage: Command = {
  path: "usage",
  summary: "show this month's messages against the plan's limit, and when it resets",
  examples: [{ command: "usage", what: "" }],
  run: async (context) => {
    const { platform, output } = context;
    const settings = await readSettings(context);
    const apiKey = requireKey(settings);
    const ask = openApi(platform, settings);
    const read = await output.progress("asking the API", ask((api) => readUsage(api, apiKey)));
    const period = { start: isoTime(read.period.startMs), end: isoTime(read.period.endMs) };
    await output.result({ ...read, period }, usageLines(read, output, platform.nowMs()));
  },
};

function usageLines(
  { plan, period, messages, bytes }: Usage,
  output: Output,
  nowMs: number,
): string[] {
  const { used, limit, remaining } = messages;
  const amount = limit === null
    ? `${grouped(used)}, no limit`
    : `${grouped(used)} of ${grouped(limit)}, ${grouped(remaining ?? 0)} left`;
  const parts = [
    `${byteSize(bytes.payload)} of ciphertext`,
    `${byteSize(bytes.padding)} of padding`,
    `${byteSize(bytes.cover)} of cover`,
  ];
  return [
    ...(limit === null ? [] : [bar(used / Math.max(1, limit), output)]),
    ...table([
      ["Messages", amount],
      ["Plan", plan],
      ["Resets", `${utc(period.endMs)}, in ${span(period.endMs - nowMs)}`],
      ["Bytes", parts.join(", ")],
    ]),
  ];
}

function bar(share: number, output: Output): string {
  const full = Math.min(barWidth, Math.round(share * barWidth));
  const text = "█".repeat(full) + "░".repeat(barWidth - full);
  return `${output.paint(share >= nearlyFull ? "red" : "green", text)} ${Math.round(share * 100)}%`;
}
