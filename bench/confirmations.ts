/**
 * The cost of an epoch's statements for a member of a channel: told by the relay in pages of ten,
 * in epochs that nobody asks about, with the share that is verified because it waited; and of a
 * question about all members. Beside an agent that verifies each page when it comes. In turns;
 * processor time.
 * `deno run -A bench/confirmations.ts 1000`.
 */
import process from "node:process";
import { ManyMembers } from "../sdk/channel/testing/many_members.ts";
import { reportRatio } from "./ratio.ts";

const members = Number(Deno.args[0] ?? 1000);
/** Twice as many as wait of a member. */
const epochs = 16;
/** An epoch must not take more of a member's processor. */
const promisedMs = 40;

function cpuMs(act: () => void): number {
  const before = process.cpuUsage();
  act();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const mean = (times: readonly number[]): number =>
  times.reduce((sum, each) => sum + each, 0) / times.length;

const createMembers = (): ManyMembers => new ManyMembers(members - 1);
const [waiting, asking, eager] = [createMembers(), createMembers(), createMembers()];
const ours: number[] = [];
const asked: number[] = [];
const theirs: number[] = [];
for (const each of [waiting, asking, eager]) each.hearAll();
for (let epoch = 0; epoch < epochs; epoch++) {
  for (const each of [waiting, asking, eager]) each.enter();
  const pages = waiting.pages();
  ours.push(cpuMs(() => pages.forEach((page) => waiting.runner.told(page))));
  theirs.push(cpuMs(() => {
    for (const page of pages) {
      eager.runner.told(page);
      eager.runner.verifyAll();
    }
  }));
  pages.forEach((page) => asking.runner.told(page));
  asked.push(cpuMs(() => asking.runner.verifyAll()));
}
console.log(
  `${members} members, an epoch: ${mean(ours).toFixed(1)} ms (with its share of what is verified ` +
    `because eight wait; least ${Math.min(...ours).toFixed(1)}, most ${
      Math.max(...ours).toFixed(1)
    }); a question about all: ${mean(asked).toFixed(1)} ms; each page verified when it comes: ` +
    `${mean(theirs).toFixed(1)} ms`,
);
reportRatio({
  bench: "confirmations",
  what: `an epoch's statements, ${members} members`,
  unit: "ms",
  ours: mean(ours),
  peer: "each verified when it comes",
  theirs: mean(theirs),
  ratio: mean(theirs) / mean(ours),
  target: mean(theirs) / promisedMs,
});
