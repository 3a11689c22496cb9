/** Reads an OpenAPI document and prints, as JSON, the faults that it has. */
import { Validator } from "@seriousme/openapi-schema-validator";

const { valid, errors } = await new Validator().validate(
  await new Response(Deno.stdin.readable).json(),
);
console.log(JSON.stringify(valid ? [] : [errors].flat()));
