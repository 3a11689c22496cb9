import { assertEquals } from "@std/assert";
import { renderMetrics } from "./metrics.ts";

Deno.test("metrics are the text format, and what is not known is left out", () => {
  assertEquals(
    renderMetrics([
      { name: "a_total", type: "counter", help: "As.", value: 3 },
      { name: "b", type: "gauge", help: "Bs.", value: undefined },
      { name: "c", type: "gauge", help: "Cs.", value: 0.5 },
    ]),
    "# HELP a_total As.\n# TYPE a_total counter\na_total 3\n# HELP c Cs.\n# TYPE c gauge\nc 0.5\n",
  );
});

Deno.test("a metric with several samples has a line for each, under one head", () => {
  const value = [
    { suffix: "_bucket", labels: { route: "/v1", le: 0.5 }, value: 1 },
    { suffix: "_bucket", labels: { route: "/v1", le: "+Inf" }, value: 2 },
    { suffix: "_count", labels: { route: "/v1" }, value: 2 },
  ];
  assertEquals(
    renderMetrics([{ name: "d", type: "histogram", help: "Ds.", value }]),
    '# HELP d Ds.\n# TYPE d histogram\nd_bucket{route="/v1",le="0.5"} 1\nd_bucket{route="/v1",le="+Inf"} 2\nd_count{route="/v1"} 2\n',
  );
});
