/**
 * The contract as protobuf, for what speaks gRPC: the service's descriptors and the conversion to and from envelope bodies.
 * Apart from `mod.ts`, so that the SDK and browsers need no protobuf runtime.
 */
export {
  errorFromDetail,
  errorToDetail,
  noticeFromDelivery,
  noticeToDelivery,
  replyFromMessage,
  type ReplyMessage,
  replyToMessage,
  requestFromMessage,
  type RequestMessage,
  requestToMessage,
} from "./convert.ts";
export { ErrorDetailSchema, Relay } from "./gen/relay_pb.ts";
