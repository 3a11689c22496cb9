/** A person in the same channel, in a browser: joins by the invitation, sees what the agents say, and may speak. */
// deno-lint-ignore-file explicit-function-return-type
import { ChannelManager } from "static-sdk";

const room = "acme/incidents/triage";
const [state, join, invitation, list, say, text] = [
  "state",
  "join",
  "invitation",
  "said",
  "say",
  "text",
]
  .map((id) => document.getElementById(id));

function wordsOf(envelope) {
  if (envelope.kind === "request") return `please look at: ${envelope.json().incident}`;
  if (envelope.contentType === "application/json") {
    return `all ${envelope.json().decided.length} incidents are decided`;
  }
  return envelope.text();
}

function show(name, words) {
  const item = document.createElement("li");
  const who = document.createElement("b");
  who.textContent = name;
  item.append(who, words);
  list.append(item);
}

async function enter(token) {
  state.textContent = "Joining …";
  // What the little server of this page knows of the service; a real application has accounts of its own.
  const settings = await (await fetch("/settings.json")).json();
  const manager = await ChannelManager.connect({
    ...settings,
    dataDir: "person",
    identity: "person",
  });
  const channel = await manager.joinOrOpen(room, token);
  join.hidden = true;
  say.hidden = false;
  say.onsubmit = (event) => {
    event.preventDefault();
    void speak(channel, text.value);
    text.value = "";
  };
  await Promise.all([describe(channel, manager.client.transport), listen(channel)]);
}

/** Members and fingerprint, again whenever somebody joins or leaves. */
async function describe(channel, transport) {
  const events = channel.events();
  do {
    const names = channel.members().map(({ identity }) => identity);
    state.textContent = `${
      names.join(", ")
    } are in ${room}, over ${transport}. Safety number: ${channel.fingerprint()}`;
  } while ((await events.next()).done !== true);
}

/** Everything, also what the agents ask each other. */
async function listen(channel) {
  for await (const envelope of channel.envelopes({ all: true })) {
    show(envelope.sender.identity, wordsOf(envelope));
  }
}

async function speak(channel, note) {
  await channel.send(note);
  show("you", note);
}

join.onsubmit = (event) => {
  event.preventDefault();
  enter(invitation.value.trim()).catch((error) => state.textContent = error.message);
};
