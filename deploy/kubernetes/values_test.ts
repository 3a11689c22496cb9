import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { ConfigError } from "../../server/mod.ts";
import { readValues } from "./values.ts";

const file = await Deno.readTextFile(new URL("../kubernetes.env", import.meta.url));

Deno.test("the sample file has every value, and an empty storage class is the cluster's usual one", () => {
  const values = readValues(file);
  assertEquals([values.namespace, values.relayDisk, values.storageClass], [
    "static",
    "20Gi",
    undefined,
  ]);
});

for (
  const [what, from, to, fault] of [
    ["an image without a tag", "/static-api:0.1.0", "/static-api", "API_IMAGE must be an image"],
    ["an API without TLS", "https://api.", "http://api.", "API_URL must be the public address"],
    ["an address in place of a name", "=relay.example.com", "=https://relay", "RELAY_HOST must be"],
    ["a size without a unit", "RELAY_DISK=20Gi", "RELAY_DISK=20", "RELAY_DISK must be a size"],
    ["a name that is misspelt", "RELAY_DISK=", "RELAY_DISKS=", "RELAY_DISKS must be left out"],
    ["a name with a line of YAML", "=static\n", '="static\nx: y"\n', "NAMESPACE must be a name"],
    [
      "a collector with a password",
      "TRACES_URL=",
      "TRACES_URL=http://a:b@otel/v1",
      "TRACES_URL must",
    ],
    [
      "a collector without a path",
      "TRACES_URL=",
      "TRACES_URL=http://otel:4318",
      "TRACES_URL must be",
    ],
    ["an unknown header", "=X-Forwarded-For", "=X-Real-IP", "TRUSTED_HEADER must be"],
  ] as const
) {
  Deno.test(`${what} is refused, and named`, () => {
    const { message } = assertThrows(() => readValues(file.replace(from, to)), ConfigError);
    assertStringIncludes(message, fault);
  });
}
