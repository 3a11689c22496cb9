/** The tests that show each promise of docs/guarantees.md, "Under faults": one or more of each. */

export interface Shown {
  /** As the page names it. */
  readonly fault: string;
  /** The test's name, as it stands in the file. */
  readonly test: string;
  readonly file: string;
}

export const promises: readonly Shown[] = [
  {
    fault: "an agent is killed (kill -9)",
    test: "kill -9 of an agent",
    file: "tests/faults/faults.ts",
  },
  { fault: "the relay is killed", test: "kill -9 of the relay", file: "tests/faults/faults.ts" },
  {
    fault: "the API or the database is killed",
    test: "kill -9 of the API; messages go on without it",
    file: "tests/faults/faults.ts",
  },
  {
    fault: "the API or the database is killed",
    test: "kill -9 of the database; messages go on without it",
    file: "tests/faults/faults.ts",
  },
  {
    fault: "the database hangs or is away",
    test: "database down: 503 within 2 s, /health ok, /ready says why, and it recovers by itself",
    file: "tests/api/fault_test.ts",
  },
  {
    fault: "a committer is killed between acceptance and reply",
    test: "kill -9 of a committer between the acceptance of its commit and the reply",
    file: "tests/faults/faults.ts",
  },
  {
    fault: "the relay is killed during a join, or between acceptance and reply",
    test: "kill -9 of the relay between the acceptance of a commit and the reply",
    file: "tests/faults/faults.ts",
  },
  {
    fault: "the relay is killed during a join, or between acceptance and reply",
    test: "kill -9 of the relay during a join",
    file: "tests/faults/faults.ts",
  },
  {
    fault: "the relay is killed under many agents",
    test: "agents talk while their relay is killed: nothing is lost, nothing comes twice",
    file: "tests/relay/exchange_test.ts",
  },
  {
    fault: "a node of several relays' log is frozen",
    test:
      "a relay whose node is frozen is not ready, says why, and is ready again when the node goes on",
    file: "tests/relay/cluster_silence_test.ts",
  },
  {
    fault: "a relay alone is deaf to the log",
    test: "a relay that alone is deaf to a log that others can read ends with the reason",
    file: "tests/relay/cluster_silence_test.ts",
  },
  {
    fault: "an agent is frozen, or cut off and comes back",
    test: "SIGSTOP of an agent; the others do not notice",
    file: "tests/faults/faults.ts",
  },
  {
    fault: "an agent is frozen, or cut off and comes back",
    test: "partition of an agent, and heal; the others do not notice",
    file: "tests/faults/faults.ts",
  },
  {
    fault: "a client stops reading",
    test: "a reader that stops is cut off with slow_reader, and others notice nothing",
    file: "tests/relay/edge_test.ts",
  },
  { fault: "the relay is frozen", test: "SIGSTOP of the relay", file: "tests/faults/faults.ts" },
  {
    fault: "5–30 % loss, 200–500 ms delay, duplicates, reordering",
    test: "5 to 30 % loss, 200 to 500 ms delay, doubled and overtaking datagrams; messages go on",
    file: "tests/faults/faults.ts",
  },
  {
    fault: "a clock is ten minutes off",
    test: "an agent whose clock is ten minutes ${way} joins, adds, sends and hears",
    file: "tests/faults/machines_test.ts",
  },
  {
    fault: "the relay's disk is full",
    test:
      "a relay whose disk is full refuses, typed, loses nothing it accepted, and goes on by itself",
    file: "tests/faults/machines_test.ts",
  },
  {
    fault: "a client's disk is full",
    test:
      "an agent whose disk is full stops, typed, others do not notice, and its next start loses nothing",
    file: "tests/faults/machines_test.ts",
  },
  {
    fault: "a client's directory is damaged",
    test: "a damaged directory is refused with a typed error, or nothing of it was lost",
    file: "tests/faults/machines_test.ts",
  },
  {
    fault: "two processes on one directory",
    test: "a second process on a directory is refused, and the first goes on",
    file: "tests/faults/machines_test.ts",
  },
  {
    fault: "a process is killed while a store or the engine writes",
    test: "kill -9 every acknowledged batch is there, and no half batch",
    file: "tests/faults/store_kill_test.ts",
  },
  {
    fault: "a process is killed while a store or the engine writes",
    test: "kill -9 every accepted entry is there, at its place, with its charge",
    file: "tests/relay/engine_kill_test.ts",
  },
  {
    fault: "tokens expire in a session",
    test: "tokens of a few seconds, renewed on the open session: no message fails, none is lost",
    file: "tests/faults/credentials_test.ts",
  },
  {
    fault: "a token that cannot be renewed expires",
    test: "a token that cannot be renewed ends the session when it expires, typed",
    file: "tests/faults/credentials_test.ts",
  },
  {
    fault: "a key is revoked",
    test: "a revoked key connects no more; the session it opened goes on until its token expires",
    file: "tests/faults/credentials_test.ts",
  },
  {
    fault: "one message is left, a hundred are sent at once",
    test: "100 sends at once with one message left: exactly one is accepted and counted",
    file: "tests/faults/credentials_test.ts",
  },
  {
    fault: "relays die with leased quota",
    test: "kill -9 under load: the next life settles exactly what is in the log",
    file: "tests/relay/metering_test.ts",
  },
  {
    fault: "fifty members commit at once",
    test:
      "of fifty commits at once in every epoch one is taken, and all members see the same fifty in one order",
    file: "tests/faults/commits_campaign.ts",
  },
  {
    fault: "replies are lost, requests repeated, cells doubled and reordered",
    test: "messages and commits sent again get their original answers; wrong epochs conflict",
    file: "tests/relay/operations_suite.ts",
  },
  {
    fault: "replies are lost, requests repeated, cells doubled and reordered",
    test:
      "cells arrive in the order of their indexes, each once, however their requests overtake each other",
    file: "relay/grpc/cell_links_test.ts",
  },
  {
    fault: "a stranger tries another's channel or keys",
    test: "strangers are told not_found, exactly as for a channel that does not exist",
    file: "relay/core/relay_core_test.ts",
  },
  {
    fault: "a stranger tries another's channel or keys",
    test:
      "DELETE answers 404 for another account's key, which keeps working, for an unknown id and for no UUID",
    file: "tests/api/contract/keys.ts",
  },
  {
    fault: "a challenge is replayed, a token is stolen",
    test: "a challenge expires, and one of another session is worth nothing",
    file: "relay/core/relay_core_test.ts",
  },
  {
    fault: "a challenge is replayed, a token is stolen",
    test: "a stolen token does not make anybody the agent that it was issued to",
    file: "tests/faults/credentials_test.ts",
  },
  {
    fault: "CBOR and protobuf bombs",
    test: "decodeCbor() refuses more items than any envelope has, before it builds them",
    file: "proto/base/cbor_test.ts",
  },
  {
    fault: "CBOR and protobuf bombs",
    test: "a protobuf message obeys the limits of the envelope",
    file: "proto/wire/convert_test.ts",
  },
  {
    fault: "HTTP/2 rapid reset, CONTINUATION flood",
    test: "rapid reset",
    file: "tests/http2/hostile_test.ts",
  },
  {
    fault: "HTTP/2 rapid reset, CONTINUATION flood",
    test: "floods of CONTINUATION and empty DATA",
    file: "tests/http2/hostile_test.ts",
  },
  {
    fault: "noise, floods and half-open connections on every port",
    test:
      "noise, floods and silent connections on every port; messages go on, memory stays bounded",
    file: "tests/faults/faults.ts",
  },
  {
    fault: "garbage on the QUIC port, in HTTP/3, on the gRPC port",
    test: "garbage on the QUIC port ends its own connection only",
    file: "tests/relay/garbage_test.ts",
  },
  {
    fault: "garbage on the QUIC port, in HTTP/3, on the gRPC port",
    test: "garbage in HTTP/3 ends its own connection only",
    file: "tests/relay/garbage_test.ts",
  },
  {
    fault: "garbage on the QUIC port, in HTTP/3, on the gRPC port",
    test: "garbage on the gRPC port ends its own connection or call only",
    file: "tests/relay/garbage_test.ts",
  },
  {
    fault: "strangers flood and do not read, or do not finish",
    test: "strangers who send much and read nothing cost bounded memory",
    file: "tests/relay/garbage_test.ts",
  },
  {
    fault: "strangers flood and do not read, or do not finish",
    test: "sockets that do not finish their handshake, preface or request in time are closed",
    file: "tests/http2/server_test.ts",
  },
  {
    fault: "connections that are reset or break, in every state and way, at relay and API",
    test: "two hundred connections that are opened and reset leave the server serving",
    file: "tests/http2/server_test.ts",
  },
  {
    fault: "connections that are reset or break, in every state and way, at relay and API",
    test: "connections that are reset before or after they are accepted leave the listener serving",
    file: "api/listeners/listeners_test.ts",
  },
  {
    fault: "connections that are reset or break, in every state and way, at relay and API",
    test:
      "broken connections: the relay's ports, QUIC and WebTransport among them, and a proxy before it",
    file: "tests/faults/broken_connections_test.ts",
  },
  {
    fault: "connections that are reset or break, in every state and way, at relay and API",
    test: "broken connections: the API's ports with TLS",
    file: "tests/faults/broken_connections_test.ts",
  },
  {
    fault: "an error that no code took care of",
    test: "any other error that nobody caught ends the process, and says so",
    file: "server/lifetime_test.ts",
  },
  {
    fault: "a flood of sign-ups and logins",
    test:
      "an Argon2 flood is refused with 503 and Retry-After, memory stays bounded, other requests stay quick",
    file: "tests/api/fault_test.ts",
  },
  {
    fault: "the relay forks a group",
    test: "two members that a relay leads apart never read each other wrongly, and find out",
    file: "tests/scenario/hostile_relay/dropped_and_repeated_messages_test.ts",
  },
  {
    fault: "the relay drops a message for good",
    test: "a message that the relay drops for good is missed and reported",
    file: "tests/scenario/hostile_relay/dropped_and_repeated_messages_test.ts",
  },
  {
    fault: "traffic without end",
    test: "of steady traffic through a relay and two agents leave nothing behind on the heap",
    file: "tests/faults/memory_campaign.ts",
  },
];
