/** Prints the manifests of a file of values: `deno task deploy:kubernetes FILE > static.yaml`. */
import { explain } from "../../server/mod.ts";
import { manifestsFor } from "./manifests.ts";
import { readValues } from "./values.ts";
import { writeYaml } from "./yaml.ts";

const [path, ...others] = Deno.args;
if (path === undefined || others.length > 0) {
  console.error("Usage: deno task deploy:kubernetes FILE\n\nFILE is like deploy/kubernetes.env.");
  Deno.exit(2);
}
try {
  console.log(writeYaml(manifestsFor(readValues(await Deno.readTextFile(path)))).trimEnd());
} catch (error) {
  console.error(
    error instanceof Deno.errors.NotFound ? `There is no file ${path}` : explain(error),
  );
  Deno.exit(1);
}
