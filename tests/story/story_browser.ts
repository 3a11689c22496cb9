/** The story in a page. The server of the page puts what to play before this bundle. */
import { ChannelManager } from "../../sdk/mod.ts";
import { runTests, type RuntimeResult } from "../support/runtime/suite.ts";
import { beGuest, createStory, type StoryTarget } from "./story.ts";

interface Play {
  readonly target: StoryTarget;
  readonly guest?: { readonly link: string; readonly name: string };
}

const { plays } = globalThis as unknown as { readonly plays: readonly Play[] };
const connect = ChannelManager.connect;
const results: RuntimeResult[] = [];
for (const { target, guest } of plays) {
  const tests = guest === undefined
    ? createStory(connect, target)
    : [{ name: "guest", run: () => beGuest(connect, target, guest.link, guest.name) }];
  results.push(...await runTests(tests));
}
await fetch("/results", { method: "POST", body: JSON.stringify(results) });
