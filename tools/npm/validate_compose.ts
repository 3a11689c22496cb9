/** Reads a compose file and prints, as JSON, the faults that it has, and what it says. */
import { Ajv } from "ajv";
import { parse } from "yaml";

// The specification's own, which no package exports.
const schema = JSON.parse(
  await Deno.readTextFile(new URL("../schemas/compose.schema.json", import.meta.resolve("dclint"))),
);
// A name of the draft that the validator does not know.
delete schema.$schema;
const said = parse(await new Response(Deno.stdin.readable).text());
const validate = new Ajv({ strict: false, allErrors: true, validateFormats: false }).compile(
  schema,
);
validate(said);
const faults = (validate.errors ?? []).map(({ instancePath, message, params }) =>
  `${instancePath} ${message} ${JSON.stringify(params)}`
);
console.log(JSON.stringify({ faults, said }));
