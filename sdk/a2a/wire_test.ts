import { assertEquals, assertThrows } from "@std/assert";
import { agentUrl, channelInterface, parseAgentUrl } from "./address.ts";
import { formatPlace, parseEnd, parsePlace } from "./wire.ts";

const place = { channel: "acme/ops/deploy", agentId: "3q2-7wAAAAAAAAAAAAAAAA" };

Deno.test("parseAgentUrl() reads what agentUrl() writes, and nothing else", () => {
  assertEquals(agentUrl(place), "static://channel/acme/ops/deploy?agent=3q2-7wAAAAAAAAAAAAAAAA");
  const { channel, agentId } = parseAgentUrl(channelInterface(place).url);
  assertEquals<Record<string, string>>({ channel, agentId }, place);
  const wrong = [
    "",
    "static://channel/",
    "https://channel/acme/ops/deploy?agent=x",
    "static://channel/acme/ops/deploy",
  ];
  const more = [
    "static://channel/acme/ops?agent=3q2-7wAAAAAAAAAAAAAAAA",
    `${agentUrl(place)}&x=1`,
    `${agentUrl(place)}#x`,
  ];
  for (const url of [...wrong, ...more]) assertThrows(() => parseAgentUrl(url), Error);
  assertThrows(() => agentUrl({ ...place, channel: "Acme/ops" }), Error);
});

Deno.test("parsePlace() reads attempts and numbers from 1, and nothing else", () => {
  assertEquals(parsePlace(formatPlace({ attempt: 2, number: 31 })), { attempt: 2, number: 31 });
  for (
    const text of [
      undefined,
      "",
      "1",
      "0.1",
      "1.0",
      "-1.1",
      "1.1.1",
      "1e3.1",
      " 1.1",
      "1.01x",
      "9999999999.1",
    ]
  ) {
    assertEquals(parsePlace(text), undefined, text);
  }
});

Deno.test("parseEnd() reads the end of a stream, and takes nothing else for one", () => {
  assertEquals(parseEnd({ result: null, stream: { attempt: 1, events: 0 } }), {
    attempt: 1,
    events: 0,
  });
  const wrong = [null, 1, "x", [], {}, { stream: null }, { stream: { attempt: 1 } }, {
    stream: { attempt: "1", events: 2 },
  }];
  for (
    const body of [...wrong, { stream: { attempt: 1.5, events: 1 } }, {
      stream: { attempt: 1, events: -1 },
    }]
  ) {
    assertEquals(parseEnd(body), undefined, JSON.stringify(body));
  }
});
