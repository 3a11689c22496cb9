/**
 * Makes the keys of a cluster's nodes and relays: `deno task nats:keys FOLDER NODE…`, and more of
 * them later.
 */
import { parseArgs } from "node:util";
import { addNatsKeys, type NodeNames, problemWith, writeNatsKeys } from "./keys.ts";

const usage = `Usage: deno task nats:keys FOLDER NODE...
       deno task nats:keys --authority AUTHORITY [--revoke] FOLDER [NODE...]

Makes FOLDER with a folder for each node and one, relay, for every relay. NODE is a host name or an IPv4 address. A node
that others reach by several has all of them, with commas, and its folder has the first.

The first form is for a new cluster, whose log is empty, and makes the folder authority, too. Keep it where no machine
of the service is. With it the second form makes more keys of the same cluster. With --revoke, nodes that have their new
folder refuse relays with earlier keys: name all nodes.`;

function end(code: number, why: string): never {
  console.error(why);
  Deno.exit(code);
}

function readArguments(): {
  values: { authority?: string; revoke?: boolean; help?: boolean };
  positionals: string[];
} {
  const options = {
    authority: { type: "string" },
    revoke: { type: "boolean" },
    help: { type: "boolean" },
  } as const;
  try {
    return parseArgs({ args: Deno.args, options, allowPositionals: true });
  } catch (error) {
    return end(2, `${error instanceof Error ? error.message : error}\n\n${usage}`);
  }
}

const { values: { authority, revoke = false, help = false }, positionals: [folder, ...nodes] } =
  readArguments();
const names = nodes.map((node): NodeNames => {
  const [first = "", ...others] = node.split(",");
  return [first, ...others];
});
if (help || folder === undefined || (authority === undefined && (names.length === 0 || revoke))) {
  end(2, usage);
}
const problem = problemWith(names);
if (problem !== undefined) end(2, `${problem}\n\n${usage}`);
try {
  if (authority === undefined) await writeNatsKeys(folder, names, Date.now());
  else await addNatsKeys(folder, names, { authority, revoke }, Date.now());
} catch (error) {
  if (error instanceof Deno.errors.AlreadyExists) {
    end(
      1,
      `Cannot make keys: ${folder} is there already, and running nodes may use its keys. Name another folder`,
    );
  }
  if (!(error instanceof Deno.errors.NotFound) || authority === undefined) throw error;
  end(
    1,
    `Cannot make keys: ${authority} is no folder authority that deno task nats:keys has made: ${error.message}`,
  );
}
console.log(`${folder}/<node> is for each node, ${folder}/relay for every relay.`);
if (authority === undefined) {
  console.log(
    `Keep ${folder}/authority offline: only with it can a lost node be replaced. Remove the rest from here.`,
  );
}
