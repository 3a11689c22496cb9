/** How often in a row a page's program runs. */
import { inCampaign } from "./campaign.ts";

/** A reader's first pages: their programs go on where they were when they run again. */
const first = ["README.md", "docs/tutorial.md"];

export function runsOf(page: string): 1 | 2 {
  return inCampaign || first.includes(page) ? 2 : 1;
}
