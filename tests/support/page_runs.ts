/** How often in a row a page's program runs. */
import { inCampaign } from "./campaign.ts";

export function runsOf(page: string): 1 | 2 {
  // A reader's first page: its programs go on where they were when they run again.
  return inCampaign || page === "README.md" ? 2 : 1;
}
