/** `token` for the relay, and `usage` against the plan. */
import { ApiClient, type Usage } from "../service/api_client.ts";
import type { Command } from "../command.ts";
import { type Output, table } from "../output.ts";
import { readSettings, requireKey } from "../service/settings.ts";
import { byteSize, grouped } from "../texts/amounts.ts";
import { span, utc } from "../texts/times.ts";
import { readClaims } from "../service/token_claims.ts";

const barWidth = 30;
/** From here on the bar warns. */
const nearlyFull = 0.9;

export const token: Command = {
  path: "token",
  summary: "exchange the API key for a token (JWT) and print it",
  details: ["A token is good for one hour at the relay. Agents of the SDK get theirs by themselves."],
  examples: [
    { command: "token", what: "" },
    { command: "token --json", what: "with account, plan and expiry" },
  ],
  run: async (context) => {
    const { platform, output } = context;
    const settings = await readSettings(context);
    const api = new ApiClient(platform, settings);
    const text = await output.progress("asking the API", api.createToken(requireKey(settings)));
    const { accountId, plan, expiresAtMs } = readClaims(text);
    const expires = new Date(expiresAtMs).toISOString();
    await output.result({ token: text, account_id: accountId, plan, expires_at: expires }, [text]);
    if (platform.stdout.isTerminal) await output.note(`Good until ${utc(expiresAtMs)}; whoever has it can use it`);
  },
};

export const usage: Command = {
  path: "usage",
  summary: "show this month's messages against the plan's limit, and when it resets",
  examples: [{ command: "usage", what: "" }],
  run: async (context) => {
    const { platform, output } = context;
    const settings = await readSettings(context);
    const api = new ApiClient(platform, settings);
    const read = await output.progress("asking the API", api.readUsage(requireKey(settings)));
    await output.result({ ...read }, usageLines(read, output, platform.nowMs()));
  },
};

function usageLines({ plan, period, messages, bytes }: Usage, output: Output, nowMs: number): string[] {
  const { used, limit, remaining } = messages;
  const endMs = Date.parse(period.end);
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
      ["Resets", `${utc(endMs)}, in ${span(endMs - nowMs)}`],
      ["Bytes", parts.join(", ")],
    ]),
  ];
}

function bar(share: number, output: Output): string {
  const full = Math.min(barWidth, Math.round(share * barWidth));
  const text = "█".repeat(full) + "░".repeat(barWidth - full);
  return `${output.paint(share >= nearlyFull ? "red" : "green", text)} ${Math.round(share * 100)}%`;
}
