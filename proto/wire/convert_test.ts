import { create, type DescMessage, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { assertEquals, assertThrows } from "@std/assert";
import { createRandom, sampleBody, seedFromEnvironment } from "../../tests/support/mod.ts";
import {
  errorFromDetail,
  errorToDetail,
  noticeFromDelivery,
  noticeToDelivery,
  replyFromMessage,
  replyToMessage,
  requestFromMessage,
  requestToMessage,
} from "./convert.ts";
import { decodeRelayEnvelope, encodeNotice, type NoticeEnvelope } from "./envelope.ts";
import { WireError } from "../base/errors.ts";
import { DeliverySchema, ErrorDetailSchema, Relay } from "./descriptors.ts";
import { binaryIdFromBytes, type ChannelId, type MessageId } from "../base/ids.ts";
import { type CallName, calls, errorBody, type NoticeName, notices } from "./operations.ts";

const samples = 50;
const random = createRandom(seedFromEnvironment());
const seed = `seed ${random.seed}`;

/** Through the bytes that really travel. */
function travel<Desc extends DescMessage>(schema: Desc, message: Message): Message {
  return fromBinary(schema, toBinary(schema, message as never));
}

for (const name of Object.keys(calls) as CallName[]) {
  Deno.test(`${name}: body → protobuf → body is lossless, request and reply`, () => {
    const method = Relay.methods.find((candidate) => candidate.name === name);
    for (let i = 0; i < samples && method !== undefined; i++) {
      const request = calls[name].request.parse(sampleBody(calls[name].request, random), name);
      const requestMessage = travel(method.input, requestToMessage(name, request as never));
      assertEquals(requestFromMessage(name, requestMessage as never), request as never, seed);
      assertEquals(requestToMessage(name, request as never), requestMessage as never, seed);

      const reply = calls[name].reply.parse(sampleBody(calls[name].reply, random), name);
      const replyMessage = travel(method.output, replyToMessage(name, reply as never));
      assertEquals(replyFromMessage(name, replyMessage as never), reply as never, seed);
      assertEquals(replyToMessage(name, reply as never), replyMessage as never, seed);
    }
  });
}

for (const name of Object.keys(notices) as NoticeName[]) {
  Deno.test(`${name}: envelope → Delivery → envelope is lossless`, () => {
    for (let i = 0; i < samples; i++) {
      const body = notices[name].body.parse(sampleBody(notices[name].body, random), name);
      const notice = { kind: "notice", operation: name, body } as NoticeEnvelope;
      const delivery = fromBinary(
        DeliverySchema,
        toBinary(DeliverySchema, noticeToDelivery(notice)),
      );
      assertEquals(noticeFromDelivery(delivery), notice, seed);
      assertEquals(
        encodeNotice(name, noticeFromDelivery(delivery).body as never),
        encodeNotice(name, body as never),
      );
      assertEquals(
        decodeRelayEnvelope(encodeNotice(name, body as never)),
        noticeFromDelivery(delivery),
      );
    }
  });
}

Deno.test("errors: body → ErrorDetail → body is lossless", () => {
  for (let i = 0; i < samples; i++) {
    const body = errorBody.parse(sampleBody(errorBody, random), "error");
    const detail = fromBinary(ErrorDetailSchema, toBinary(ErrorDetailSchema, errorToDetail(body)));
    assertEquals(errorFromDetail(detail), body, seed);
  }
});

Deno.test("padding means nothing", () => {
  const body = { token: "t" };
  const message = requestToMessage("RenewToken", body);
  Object.assign(message, { padding: new Uint8Array(1000) });
  assertEquals(requestFromMessage("RenewToken", message), body);
});

function sendMessage(): Message {
  const id = new Uint8Array(16);
  const ids = {
    channelId: binaryIdFromBytes<ChannelId>(id),
    messageId: binaryIdFromBytes<MessageId>(id),
  };
  return requestToMessage("SendMessage", { ...ids, epoch: 0, ciphertext: Uint8Array.of(1) });
}

Deno.test("a protobuf message obeys the limits of the envelope", () => {
  const message = Object.assign(sendMessage(), { messageId: new Uint8Array(15) });
  const error = assertThrows(
    () => requestFromMessage("SendMessage", message),
    WireError,
    "SendMessage.messageId",
  );
  assertEquals(error.code, "invalid_request");
});

Deno.test("a uint64 beyond 2^53 - 1 is refused, not rounded", () => {
  const message = Object.assign(sendMessage(), { epoch: 2n ** 53n });
  assertThrows(() => requestFromMessage("SendMessage", message), WireError, "epoch is beyond");
});

Deno.test("a Delivery without a notice is refused", () => {
  assertThrows(() => noticeFromDelivery(create(DeliverySchema)), WireError, "does not know");
});
