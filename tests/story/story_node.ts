/**
 * The story in Node, with the npm package: what to play is the argument, in JSON, and the results
 * are its output.
 */
import process from "node:process";
import { ChannelManager } from "static-sdk";
import { runTests } from "../support/runtime/suite.ts";
import { beGuest, createStory } from "./story.ts";

const { target, guest } = JSON.parse(process.argv[2] ?? "");
const connect = ChannelManager.connect;
const results = guest === undefined
  ? await runTests(createStory(connect, target))
  : await runTests([{
    name: "guest",
    run: () => beGuest(connect, target, guest.link, guest.name),
  }]);
process.stdout.write(JSON.stringify(results));
