/** Makes the keys of a cluster's nodes and relays: `deno task nats:keys FOLDER NODE…`. */
import { type NodeNames, writeNatsKeys } from "./keys.ts";

const usage = `Usage: deno task nats:keys FOLDER NODE...

Makes FOLDER with a folder for each node and one, relay, for every relay. NODE is a host name or an IPv4 address. A node
that others reach by several has all of them, with commas, and its folder has the first.`;

const [folder, ...nodes] = Deno.args.filter((argument) => argument !== "--help");
const names = nodes.map((node): NodeNames => {
  const [first = "", ...others] = node.split(",");
  return [first, ...others];
});
const wrong = names.flat().find((name) => !/^[A-Za-z\d]([A-Za-z\d.-]{0,251}[A-Za-z\d])?$/.test(name));
if (folder === undefined || names.length === 0) {
  console.error(usage);
  Deno.exit(2);
}
if (wrong !== undefined || names.some(([first]) => first === "relay")) {
  console.error(`"${wrong ?? "relay"}" cannot be the name of a node: give a host name or an IPv4 address\n\n${usage}`);
  Deno.exit(2);
}
try {
  await writeNatsKeys(folder, names, Date.now());
} catch (error) {
  if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
  console.error(
    `Cannot make keys: ${folder} is there already, and running nodes may use its keys. Name another folder`,
  );
  Deno.exit(1);
}
console.log(
  `${folder}/<node> is for each node, ${folder}/relay for every relay. Remove ${folder} from here afterwards.`,
);
