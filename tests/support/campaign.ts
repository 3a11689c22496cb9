/** Tests that are longer in a campaign (`deno task stress`) than in the test command. */

/** Whether a campaign runs. */
export const inCampaign: boolean = Deno.env.get("STATIC_STRESS") === "1";

/** For the campaign's closing line: how much of what was tried, for example "10,000 schedules". */
export function tried(what: string): void {
  const run = Deno.env.get("STATIC_TEST_RUN");
  if (inCampaign && run !== undefined) {
    Deno.writeTextFileSync(`${run}/tried`, `${what}\n`, { append: true });
  }
}
