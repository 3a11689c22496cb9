// One process of SLIM, in Node: its server, the receiver, or the sender, which prints what it measured as one line of JSON. All
// messages are encrypted with MLS and acknowledged by the receiver. It runs in a folder where the package is installed.
// deno-lint-ignore-file explicit-function-return-type -- JavaScript has no types
import process from "node:process";
import slim from "@agntcy/slim-bindings";

const [role, port, count = "0", bytes = "0"] = process.argv.slice(2);
const secret = "a secret of at least thirty-two characters";
const [underWay, warmUp, pings, pingMark] = [64, 1_000, 200, 2];
slim.initializeWithDefaults();
const service = slim.getGlobalService();
const nameOf = (who) => new slim.Name("bench", "e2e", who);

if (role === "server") {
  service.runServer(slim.newInsecureServerConfig(`127.0.0.1:${port}`));
  console.log("ready");
  setInterval(() => {}, 60_000);
} else {
  const app = service.createAppWithSecret(nameOf(role), secret);
  const connection = await service.connectAsync(slim.newInsecureClientConfig(`http://127.0.0.1:${port}`));
  await app.subscribeAsync(nameOf(role), connection);
  if (role === "receiver") await receive(app);
  else console.log(JSON.stringify(await send(app, connection)));
  process.exit(0);
}

async function receive(app) {
  console.log("ready");
  const session = await app.listenForSessionAsync(undefined);
  for (;;) {
    const { context, payload } = await session.getMessageAsync(undefined);
    if (new Uint8Array(payload)[0] === pingMark) await session.publishToAsync(context, payload, undefined, undefined);
  }
}

async function send(app, connection) {
  await app.setRouteAsync(nameOf("receiver"), connection);
  const session = await app.createSessionAndWaitAsync({
    sessionType: slim.SessionType.PointToPoint,
    maxRetries: 5,
    interval: 1000,
    metadata: new Map(),
    mlsSettings: slim.MlsSettings.create({}),
  }, nameOf("receiver"));
  const payload = new Uint8Array(Number(bytes)).fill(1);
  const flood = async (messages) => {
    let left = messages;
    const one = async () => {
      while (left-- > 0) await (await session.publishAsync(payload.buffer, undefined, undefined)).waitAsync();
    };
    const started = performance.now();
    await Promise.all(Array.from({ length: underWay }, one));
    return messages / (performance.now() - started) * 1000;
  };
  await flood(warmUp);
  const perSecond = await flood(Number(count));
  payload.fill(pingMark);
  const times = [];
  for (let i = 0; i < pings; i++) {
    const begun = performance.now();
    await session.publishAsync(payload.buffer, undefined, undefined);
    await session.getMessageAsync(undefined);
    times.push(performance.now() - begun);
  }
  times.sort((a, b) => a - b);
  return { perSecond, roundTripMs: times[pings / 2] };
}
