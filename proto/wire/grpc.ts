/**
 * The contract as protobuf, for what speaks gRPC: the service's descriptors and the conversion to
 * and from envelope bodies. Apart from `mod.ts`, so that the SDK and browsers need no protobuf
 * runtime.
 */
export {
  errorFromDetail,
  errorToDetail,
  noticeFromDelivery,
  noticeToDelivery,
  replyFromMessage,
  replyToMessage,
  requestFromMessage,
  requestToMessage,
} from "./convert.ts";
export { ErrorDetailSchema, messages, Relay } from "./descriptors.ts";
