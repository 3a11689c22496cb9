/**
 * Prints the paths that the API or the relay may read or write, for their tasks: `main.ts api|relay
 * read|write`.
 */
import { readableBy, writableBy } from "../permitted_paths.ts";

const [part, access] = Deno.args;
const variable = (name: string): string | undefined => Deno.env.get(name);
console.log(
  access === "write"
    ? writableBy(variable)
    : readableBy(part === "api" ? "api" : "relay", variable),
);
