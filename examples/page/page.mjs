/** A person in the same channel, in a browser: joins by the invitation, sees what the agents say, and may speak. */
// deno-lint-ignore-file explicit-function-return-type
import { ChannelManager } from "static-sdk";

const room = "acme/incidents/triage";
const decoder = new TextDecoder();
const [state, join, invitation, list, say, text] = ["state", "join", "invitation", "said", "say", "text"]
  .map((id) => document.getElementById(id));

function show(name, payload) {
  const said = JSON.parse(decoder.decode(payload));
  const words = {
    ready: () => "is ready",
    task: () => `please look at: ${said.incident}`,
    done: () => `${said.incident} → ${said.advice}`,
    note: () => said.text,
    summary: () => `all ${said.decided.length} incidents are decided`,
  };
  const item = document.createElement("li");
  const who = document.createElement("b");
  who.textContent = name;
  item.append(who, words[said.kind]());
  list.append(item);
}

async function enter(token) {
  state.textContent = "Joining …";
  // What the little server of this page knows of the service; a real application has accounts of its own.
  const settings = await (await fetch("/settings.json")).json();
  const manager = await ChannelManager.connect({ ...settings, dataDir: "person", identity: "person" });
  const channel = manager.channels.includes(room)
    ? await manager.channel(room)
    : await manager.joinWithToken(room, token);
  // Both change whenever somebody joins or leaves.
  const describe = () => {
    const names = channel.members().map(({ identity }) => decoder.decode(identity));
    state.textContent = `${names.join(", ")} are in ${room}, over ${manager.client.transport}. ` +
      `Safety number: ${channel.fingerprint()}`;
  };
  describe();
  join.hidden = true;
  say.hidden = false;
  say.onsubmit = (event) => {
    event.preventDefault();
    void speak(channel, JSON.stringify({ kind: "note", text: text.value }));
    text.value = "";
  };
  for await (const { sender, payload } of channel.envelopes()) {
    show(decoder.decode(sender.identity), payload);
    describe();
  }
}

async function speak(channel, note) {
  await channel.send(note);
  show("you", new TextEncoder().encode(note));
}

join.onsubmit = (event) => {
  event.preventDefault();
  enter(invitation.value.trim()).catch((error) => state.textContent = error.message);
};
