/** Tests that are longer in a campaign (`deno task stress`) than in the test command. */

/** Whether a campaign runs. */
export const inCampaign: boolean = Deno.env.get("STATIC_STRESS") === "1";

/** For the campaign's closing line: how much of what was tried, for example "10,000 schedules". */
export function tried(what: string): void {
  const list = Deno.env.get("STATIC_TRIED");
  if (list !== undefined) Deno.writeTextFileSync(list, `${what}\n`, { append: true });
}
