/** Built from sdk/platform/browser_worker.ts by tools/generate_workers.ts; do not edit. */
export const source =
  "function fe(t){let e;return()=>e??=t()}var ce=\"[\\\\u0600-\\\\u0dff\\\\u1000-\\\\u109f\\\\u1780-\\\\u17ff]\",ue=\"\\\\p{Extend" +
  "ed_Pictographic}[\\\\ufe0f\\\\p{Emoji_Modifier}]?\",Ie=[`${ue}(?:\\\\u200d${ue})*`,\"[0-9#*]\\\\ufe0f\\\\u20e3\",`(?<=${ce}" +
  ")[\\\\u200c\\\\u200d](?=${ce})`,\"(?<=[\\\\p{L}\\\\p{N}\\\\p{P}\\\\p{S}])(?:(?!\\\\p{Default_Ignorable_Code_Point})\\\\p{M}){1," +
  "4}\"].join(\"|\"),We=\"\\\\p{C}\\\\p{Zl}\\\\p{Zp}\\\\p{M}\\\\p{Default_Ignorable_Code_Point}\\\\u2800\",Le=\"(?! )\\\\p{Zs}|^ |(?<" +
  "= ) | $|\\\\\\\\(?=u\\\\{[0-9a-f]+\\\\})\",Ke=fe(()=>new RegExp(`(${Ie})|[${We}]|${Le}`,\"gu\")),q=\"!-[\\\\]-~\\\\u00a1-\\\\u00" +
  "ac\\\\u00ae-\\\\u02ff\\\\u2010-\\\\u2027\\\\u2190-\\\\u21ff\\\\u2500-\\\\u259f\\\\u2713\\\\u2717\",De=new RegExp(`^[${q}]+(?: [${q}" +
  "]+)*$`),wr=new RegExp(`^[${q} \\\\\\\\\\\\n\\\\t]*$`);var He=/^[\\p{Zs}\\\\]/u;function $e(t,e){return t.replace(Ke(),(r," +
  "n)=>n??(e.test(r)?r:Fe(r)))}function Fe(t){return`\\\\u{${t.codePointAt(0)?.toString(16)}}`}function U(t){return" +
  " De.test(t)?t:$e(t,He)}var Ne=[...\"Latn Grek Cyrl Armn Hebr Arab Thaa Deva Beng Guru Gujr Orya Taml Telu Knda " +
  "Mlym Sinh Thai Laoo Tibt Mymr Geor Ethi Khmr\".split(\" \").map(t=>[t]),[\"Latn\",\"Hani\",\"Hira\",\"Kana\"],[\"Latn\",\"Ha" +
  "ni\",\"Bopo\"],[\"Latn\",\"Hani\",\"Hang\"]],vr=fe(()=>{let t=Ne.map(e=>e.map(r=>`\\\\p{scx=${r}}`).join(\"\"));return new " +
  "RegExp(t.map(e=>`^[\\\\p{sc=Zyyy}\\\\p{sc=Zinh}${e}]*$`).join(\"|\"),\"u\")});var i={invalidArgument:3,deadlineExceede" +
  "d:4,notFound:5,alreadyExists:6,permissionDenied:7,resourceExhausted:8,failedPrecondition:9,aborted:10,outOfRan" +
  "ge:11,unimplemented:12,internal:13,unavailable:14,unauthenticated:16},d=(t,e,r,n)=>({http:t,grpc:e,close:r,err" +
  "orClass:n,retryable:!1}),p=(...t)=>({...d(...t),retryable:!0}),C={join_timeout:p(504,i.deadlineExceeded,257,\"T" +
  "ransportError\"),auth_failed:d(401,i.unauthenticated,258,\"AuthError\"),auth_key_invalid:d(401,i.unauthenticated," +
  "259,\"AuthError\"),transport_error:p(502,i.unavailable,260,\"TransportError\"),connection_error:p(502,i.unavailabl" +
  "e,261,\"TransportError\"),listener_died:d(500,i.internal,262,\"TransportError\"),channel_error:d(400,i.invalidArgu" +
  "ment,263,\"ChannelError\"),quota_exceeded:d(429,i.resourceExhausted,264,\"QuotaExceededError\"),mls_error:d(409,i." +
  "failedPrecondition,265,\"MlsError\"),invalid_request:d(400,i.invalidArgument,272,\"InvalidArgumentError\"),not_fou" +
  "nd:d(404,i.notFound,273,\"ChannelError\"),method_not_allowed:d(405,i.unimplemented,274,\"InvalidArgumentError\"),p" +
  "ayload_too_large:d(413,i.outOfRange,275,\"InvalidArgumentError\"),unsupported_media_type:d(415,i.invalidArgument" +
  ",276,\"InvalidArgumentError\"),rate_limited:p(429,i.resourceExhausted,277,\"UnavailableError\"),internal:d(500,i.i" +
  "nternal,278,\"InternalError\"),overloaded:p(503,i.unavailable,279,\"UnavailableError\"),email_taken:d(409,i.alread" +
  "yExists,288,\"AuthError\"),key_limit_reached:d(409,i.resourceExhausted,289,\"AuthError\"),account_suspended:d(403," +
  "i.permissionDenied,290,\"AuthError\"),conflict:d(409,i.aborted,291,\"AuthError\"),code_invalid:d(400,i.invalidArgu" +
  "ment,292,\"AuthError\"),csrf_failed:d(403,i.permissionDenied,293,\"AuthError\"),protocol_error:d(400,i.invalidArgu" +
  "ment,304,\"TransportError\"),unsupported_version:d(400,i.failedPrecondition,305,\"TransportError\"),unknown_operat" +
  "ion:d(404,i.unimplemented,306,\"TransportError\"),session_expired:d(401,i.unauthenticated,307,\"AuthError\"),sessi" +
  "on_replaced:d(409,i.aborted,308,\"TransportError\"),slow_reader:p(429,i.resourceExhausted,309,\"UnavailableError\"" +
  "),relay_draining:p(503,i.unavailable,310,\"UnavailableError\"),certificate_changed:d(502,i.failedPrecondition,31" +
  "1,\"TransportError\"),name_taken:d(409,i.alreadyExists,320,\"ChannelError\"),epoch_conflict:p(409,i.aborted,321,\"M" +
  "lsError\"),not_allowed:d(403,i.permissionDenied,322,\"ChannelError\"),member_limit_reached:d(409,i.resourceExhaus" +
  "ted,323,\"ChannelError\"),already_member:d(409,i.alreadyExists,324,\"ChannelError\"),identity_present:d(409,i.alre" +
  "adyExists,356,\"ChannelError\"),queue_full:p(429,i.resourceExhausted,325,\"ChannelError\"),cursor_invalid:d(416,i." +
  "outOfRange,326,\"ChannelError\"),key_package_invalid:d(400,i.invalidArgument,327,\"MlsError\"),key_package_missing" +
  ":p(404,i.failedPrecondition,328,\"MlsError\"),join_rejected:d(403,i.permissionDenied,329,\"ChannelError\"),members" +
  "hip_lapsed:d(410,i.failedPrecondition,330,\"ChannelError\"),state_conflict:d(409,i.failedPrecondition,331,\"MlsEr" +
  "ror\"),storage_full:p(507,i.resourceExhausted,332,\"ChannelError\"),link_invalid:d(400,i.invalidArgument,333,\"Inv" +
  "alidArgumentError\"),removed:d(410,i.failedPrecondition,355,\"RemovedError\"),members_must_update:d(409,i.failedP" +
  "recondition,334,\"ChannelError\"),successor_needed:d(409,i.failedPrecondition,335,\"ChannelError\"),choice_needed:" +
  "d(409,i.failedPrecondition,357,\"ChannelError\"),not_attested:d(403,i.permissionDenied,358,\"ChannelError\"),membe" +
  "rs_not_attested:d(409,i.failedPrecondition,359,\"ChannelError\"),content_invalid:d(400,i.invalidArgument,352,\"Ch" +
  "annelError\"),request_timeout:p(504,i.deadlineExceeded,353,\"TransportError\"),remote_error:d(502,i.aborted,354,\"" +
  "RemoteError\"),store_locked:p(409,i.failedPrecondition,336,\"StoreError\"),store_corrupt:d(500,i.internal,337,\"St" +
  "oreError\"),store_full:d(507,i.resourceExhausted,340,\"StoreError\"),store_failed:d(500,i.internal,339,\"StoreErro" +
  "r\"),passphrase_wrong:d(401,i.unauthenticated,338,\"StoreError\")};function E(t){return Object.hasOwn(C,t)}functi" +
  "on j(t){return qe.get(t)}var qe=new Map(Object.entries(C).flatMap(([t,{close:e}])=>E(t)?[[e,t]]:[])),m=class e" +
  "xtends Error{name=\"WireError\";code;requestId;constructor(e,r,n={}){super(U(r),n.cause===void 0?void 0:{cause:n" +
  ".cause}),this.code=e,this.requestId=n.requestId}};var g=Object.freeze({cellBytes:4096,minCellBytes:1024,maxCel" +
  "lBytes:16384,payloadBytes:1048576,ciphertextBytes:1081344,keyPackageBytes:16384,commitBytes:262144,welcomeByte" +
  "s:2097152,leafNodeBytes:4096,creatorWelcomeBytes:1024,envelopeBytes:2490368,handshakeEnvelopeBytes:16384,cborD" +
  "epth:6,cborItems:32768,membersPerChannel:1e3,welcomesPerCommit:16,keyPackagesPerUpload:100,channelsPerPage:500" +
  ",answersPerCommit:1e3,proofsPerCommit:128,ownersPerChannel:64,ownersChanges:64,issuersPerChannel:16,issuersByt" +
  "es:1024,badgeAttributesBytes:128,ownersChangeBytes:2048,admissions:16,claimsForFounding:100,confirmationsPerPa" +
  "ge:10,unconfirmedPerPage:40,featuresPerSession:64,identityBytes:256,tokenBytes:8192,originBytes:300,sessionTok" +
  "enBytes:64,errorTextBytes:1024,errorCodeBytes:64,nameComponentBytes:63,channelNameBytes:191,emailBytes:254,con" +
  "tentFieldsBytes:8192,contentTypeBytes:127,contentAddressees:64,conversationBytes:128,contentHeaders:32,content" +
  "HeaderNameBytes:64,contentHeaderValueBytes:1024,contentErrorBytes:64,contentConfirmationBytes:120,contentRecei" +
  "pts:64,queueBytesPerChannel:67108864,queueAgeMs:6048e5,windowBytes:16777216,challengeMs:3e4,joinRequestMs:6e5," +
  "inviteUses:1e4,clockSkewMs:6e5,keyPackageLifetimeMs:864e7,minCoverIntervalMs:10,maxCoverIntervalMs:36e5});var " +
  "w=3,y=4,T=2,J={control:0,data:1};function R(t){if(!Number.isInteger(t)||t<g.minCellBytes||t>g.maxCellBytes)thr" +
  "ow new m(\"protocol_error\",`A cell has ${g.minCellBytes} to ${g.maxCellBytes} bytes, not ${t}`);return t}functi" +
  "on I(t){if(t===0||t>g.envelopeBytes)throw new m(\"payload_too_large\",`Cannot send an envelope of ${t} bytes; 1 " +
  "to ${g.envelopeBytes} are allowed`)}var P=class{#e;#r=[];#t=[];#n=[0,0];#o=0;constructor(e){this.#e=R(e)}set c" +
  "ellBytes(e){if(this.#o>0)throw new TypeError(\"Cannot change the cell size while envelopes are waiting\");this.#" +
  "e=R(e)}get cellBytes(){return this.#e}get pendingBytes(){return this.#o}push(e,r){I(r.length),(e===\"control\"?t" +
  "his.#r:this.#t).push(r),this.#o+=r.length+y}next(e){let r=this.#r.length>0?J.control:J.data,n=r===J.control?th" +
  "is.#r:this.#t;if(n.length===0)return;let o=e?.length===this.#e?e:new Uint8Array(this.#e);return this.#s(o,n,r)" +
  ",o}#s(e,r,n){let o=w,s=0,l=this.#n[n]??0;for(let c of r){if(l===0){if(e.length-o<=y)break;je(e,o,c.length),o+=" +
  "y,l=y}let a=l-y,f=c.subarray(a,a+e.length-o);if(e.set(f,o),o+=f.length,l+=f.length,l-y<c.length)break;s++,l=0}" +
  "let u=o-w;s===1?r.shift():r.splice(0,s),this.#n[n]=l,this.#o-=u,e[0]=n,e[1]=u>>8,e[2]=u&255,e.fill(0,o)}};func" +
  "tion V(t,e,r){let n=e+T;return t.set(r,n),t[e]=r.length>>8,t[e+1]=r.length&255,n+r.length}function je(t,e,r){t" +
  "[e]=r>>>24,t[e+1]=r>>>16,t[e+2]=r>>>8,t[e+3]=r}var Je=64*1024,pe=.5,Ve=2,M=class{#e;#r;#t=[];#n=0;#o=0;#s=new " +
  "Uint8Array(0);#a=\"off\";#i=0;#c;#u=0;#d=!0;#p=!1;#y=!1;#l=!1;#h=new Set;#f={cells:0,coverCells:0,coverBytes:0,p" +
  "addingBytes:0};constructor(e){this.#e=e,this.#r=new P(e.cellBytes)}get pendingBytes(){return this.#r.pendingBy" +
  "tes+this.#n+this.#o}get counts(){return{...this.#f}}push(e,r){this.#l||(this.#t.length===0?this.#r.push(e,r):(" +
  "I(r.length),this.#t.push({lane:e,envelope:r}),this.#n+=r.length+y),this.#m())}setCellBytes(e){this.#t.push({ce" +
  "llBytes:R(e)}),this.#C()}configure(e,r){if(!this.#l){if(e!==\"off\"&&!(r>0))throw new RangeError(`Cover needs an" +
  " interval above 0, not ${r}`);this.#c?.(),this.#c=void 0,this.#a=e,this.#i=r,this.#p=!1,this.#u=this.#e.nowMs(" +
  "),e!==\"off\"&&this.#A(),this.#m()}}setCovering(e){this.#d=e}flush(e){return this.#l?Promise.resolve(this.pendin" +
  "gBytes===0):!this.#y&&this.pendingBytes===0?Promise.resolve(!0):new Promise(r=>{let n=s=>{this.#h.delete(n),o(" +
  "),r(s)},o=this.#e.after(e,()=>n(!1));this.#h.add(n)})}stop(){this.#l=!0,this.#c?.(),this.#c=void 0,this.#s=new" +
  " Uint8Array(0);for(let e of this.#h)e(!1)}#m(){this.#y||this.#l||!this.#b()||(this.#y=!0,this.#E())}#b(){retur" +
  "n this.#p||this.#a!==\"constant\"&&this.#r.pendingBytes>0}async#E(){await void 0;try{for(;!this.#l&&this.#b();){" +
  "let e=this.#a===\"constant\"?this.#_():this.#k();if(await this.#e.write(e,this.#r.cellBytes),this.#o=0,this.#l)b" +
  "reak;this.#C(),this.#e.onWritten?.()}}catch(e){this.#o=0;let r=this.#l;this.stop(),r||this.#e.onFailed?.(e)}th" +
  "is.#y=!1,this.#B()}#B(){if(!(this.#l||this.pendingBytes>0)){this.#s.length>Ve*this.#r.cellBytes&&(this.#s=new " +
  "Uint8Array(0));for(let e of this.#h)e(!0)}}#_(){this.#p=!1;let e=this.#g(1);return this.#x(e)?e:this.#w(e)}#k(" +
  "){let{cellBytes:e,pendingBytes:r}=this.#r;if(r===0)return this.#p=!1,this.#w(this.#g(1));let n=Math.ceil(r/(e-" +
  "w))+1,o=this.#g(Math.min(n,Math.max(1,Math.floor(Je/e)))),s=0;for(;s<o.length&&this.#x(o.subarray(s,s+e));)s+=" +
  "e;return o.subarray(0,s)}#g(e){let r=e*this.#r.cellBytes;return this.#s.length<r&&(this.#s=new Uint8Array(r))," +
  "this.#s.subarray(0,r)}#x(e){let r=this.#r.pendingBytes;if(this.#r.next(e)===void 0)return!1;let n=r-this.#r.pe" +
  "ndingBytes;return this.#o+=n,this.#f.cells++,this.#f.paddingBytes+=e.length-w-n,this.#v(e,w+n),!0}#w(e){return" +
  " this.#f.cells++,this.#f.coverCells++,this.#f.coverBytes+=e.length,this.#v(e.fill(0),w),e}#v(e,r){let{rider:n}" +
  "=this.#e;if(n!==void 0)for(let o=r;e.length-o>T;){let s=n(e.length-o-T);if(s===void 0)return;o=V(e,o,s)}}#A(){" +
  "let e=this.#e.nowMs();this.#c=this.#e.after(this.#a===\"poisson\"?this.#S():this.#U(e),()=>{this.#p=this.#d||thi" +
  "s.#a===\"constant\"&&this.#r.pendingBytes>0,this.#A(),this.#m()})}#S(){return-Math.log(1-this.#e.random())*this." +
  "#i}#U(e){this.#u=Ge(this.#u,this.#i,e);let r=this.#e.random()*pe*this.#i;return Math.max((1-pe)*this.#i,this.#" +
  "u-r-e)}#C(){for(;this.#r.pendingBytes===0&&this.#t.length>0;){let e=this.#t.findIndex((r,n)=>n>0&&\"cellBytes\"i" +
  "n r);for(let r of this.#t.splice(0,e<0?this.#t.length:e))\"cellBytes\"in r?this.#r.cellBytes=r.cellBytes:(this.#" +
  "n-=r.envelope.length+y,this.#r.push(r.lane,r.envelope))}}};function Ge(t,e,r){if(r<t-e)return r+e;let n=Math.m" +
  "ax(0,Math.floor((r-t)/e));return t+(n+1)*e}async function G({body:t},e){let r=t?.getReader();if(r===void 0)ret" +
  "urn\"\";let n=new TextDecoder,o=\"\";try{for(let s=await r.read();s.value!==void 0;s=await r.read())if(o+=n.decode" +
  "(s.value,{stream:!0}),o.length>e)return;return o}finally{await r.cancel()}}var h=class extends Error{name=\"Sta" +
  "ticError\";code;retryable;retryAfterMs;epoch;channel;unreachable;members;constructor(e,r,n={}){super(U(r),n.cau" +
  "se===void 0?void 0:{cause:n.cause}),this.code=e,this.retryable=n.retryable??C[e].retryable,this.retryAfterMs=n" +
  ".retryAfterMs,this.epoch=n.epoch,this.channel=n.channel,this.unreachable=n.unreachable,this.members=n.members}" +
  "},O=class extends h{name=\"TransportError\"},z=class extends O{name=\"UnavailableError\"},Z=class extends O{name=\"" +
  "InternalError\"},Q=class extends h{name=\"AuthError\"},W=class extends h{name=\"ChannelError\"},X=class extends W{n" +
  "ame=\"RemovedError\";by;atMs;constructor(e,r,n={}){super(e,r,n),this.by=n.by,this.atMs=n.atMs}},Y=class extends " +
  "h{name=\"QuotaExceededError\"},ee=class extends h{name=\"MlsError\"},re=class extends h{name=\"InvalidArgumentError" +
  "\"},te=class extends h{name=\"StoreError\"},ne=class extends h{name=\"RemoteError\";remoteCode;constructor(e,{remot" +
  "eCode:r=\"failed\",...n}={}){super(\"remote_error\",e,n),this.remoteCode=r}};function b(t){return(e,r,n)=>new t(e," +
  "r,n)}var ze={TransportError:b(O),AuthError:b(Q),ChannelError:b(W),QuotaExceededError:b(Y),MlsError:b(ee),Inval" +
  "idArgumentError:b(re),StoreError:b(te),UnavailableError:b(z),RemovedError:b(X),RemoteError:(t,e,r)=>new ne(e,r" +
  "),InternalError:b(Z)};function oe(t,e,r){return ze[C[t].errorClass](t,e,r)}function ye(t,e){return e!==void 0&" +
  "&E(e)?e:t===429?\"rate_limited\":t===503?\"overloaded\":void 0}function L({host:t,port:e}){return`${t.includes(\":\"" +
  ")?`[${t}]`:t}:${e}`}var me=2,B=5,Ze=64*1024,Qe=10,he=new TextDecoder;function ge(t){let e=new Uint8Array(B+t.l" +
  "ength);return Ye(e,1,t.length),e.set(t,B),e}function be(t){let{value:e,end:r}=Ae(t,0,Qe);if(r!==t.length)throw" +
  " new m(\"protocol_error\",\"A cell's message holds more than a cell\");return e}function xe(t,e,r){let[n,o]=[se(10" +
  ",t.length),se(26,r.length)],s=new Uint8Array(9);return s[0]=17,new DataView(s.buffer).setBigUint64(1,BigInt(e)" +
  ",!0),D([n,t,s,o,r])}function we(t){return D([se(10,t.length),t])}function ve(t){let e={code:\"\",message:\"\"};for" +
  "(let{field:r,value:n}of Xe(t))r===4&&typeof n==\"number\"&&(e={...e,retryAfterMs:n}),typeof n!=\"number\"&&(r===1&" +
  "&(e={...e,code:he.decode(n)}),r===2&&(e={...e,message:he.decode(n)}));return e}var K=class{#e=new Uint8Array(B" +
  ");#r=0;#t=new Uint8Array(0);#n=0;read(e,r){let n=0;for(;n<e.length;){if(this.#r<B){let s=e.subarray(n,n+B-this" +
  ".#r);if(this.#e.set(s,this.#r),this.#r+=s.length,n+=s.length,this.#r<B)return;this.#o()}let o=e.subarray(n,n+t" +
  "his.#t.length-this.#n);n+=o.length,o.length===this.#t.length?this.#s(o,r):(this.#t.set(o,this.#n),this.#n+=o.l" +
  "ength,this.#n===this.#t.length&&this.#s(this.#t,r))}}#o(){let e=new DataView(this.#e.buffer).getUint32(1);if(e" +
  "===0||e>Ze)throw new m(\"protocol_error\",`A message of ${e} bytes where cells are expected`);this.#t.length!==e" +
  "&&(this.#t=new Uint8Array(e)),this.#n=0}#s(e,r){this.#r=0,r(this.#e[0]??0,e)}};function D(t){let e=new Uint8Ar" +
  "ray(t.reduce((n,{length:o})=>n+o,0)),r=0;for(let n of t)e.set(n,r),r+=n.length;return e}function se(t,e){let r" +
  "=[t];for(let n=e;n>0||r.length===1;n>>>=7)r.push(n>127?n&127|128:n);return Uint8Array.from(r)}function Ae(t,e," +
  "r){if(t[e]!==r)throw new m(\"protocol_error\",\"A message without the field that it must have\");let{value:n,end:o" +
  "}=Ce(t,e+1);if(n>t.length-o)throw Ee();return{value:t.subarray(o,o+n),end:o+n}}function*Xe(t){for(let e=0;e<t." +
  "length;){let r=t[e]??0,{value:n,end:o}=(r&7)===0?Ce(t,e+1):Ae(t,e,r&-8|2);yield{field:r>>3,value:n},e=o}}funct" +
  "ion Ce(t,e){let r=0;for(let[n,o]=[1,e];o<t.length&&n<2**63;n*=128){let s=t[o++]??0;if(r+=(s&127)*n,s<128)retur" +
  "n{value:r,end:o}}throw Ee()}function Ee(){return new m(\"protocol_error\",\"A field goes beyond the end of its me" +
  "ssage\")}function Ye(t,e,r){new DataView(t.buffer,t.byteOffset).setUint32(e,r)}var er=\"static.relay.v1.ErrorDet" +
  "ail\",rr=1024;function ae(t,e){let r=or(t),{message:n,details:o}=ie(r.error??r);for(let s of Array.isArray(o)?o" +
  ":[]){let{type:l,value:u}=ie(s),c=l===er&&typeof u==\"string\"?tr(()=>nr(u)):void 0;if(c!==void 0)return c}return" +
  "{message:typeof n==\"string\"?n.slice(0,rr):e}}function Be(t,e,{message:r,...n}){let o=ye(t);if(o===void 0)retur" +
  "n{message:r};if(n.code!==void 0)return{message:r,...n};let s=typeof e==\"string\"?Number(e)*1e3:NaN;return{code:" +
  "o,message:r,...s>=0&&{retryAfterMs:s}}}function tr(t){try{let{code:e,message:r,retryAfterMs:n}=ve(t());return " +
  "E(e)?{code:e,message:r,retryAfterMs:n}:void 0}catch{return}}function nr(t){return Uint8Array.from(atob(t),e=>e" +
  ".charCodeAt(0))}function or(t){try{return ie(JSON.parse(t))}catch{return{}}}function ie(t){return typeof t==\"o" +
  "bject\"&&t!==null?t:{}}function _(t){let e=[];for(let r=t;r!==void 0&&e.length<3;r=r instanceof Error?r.cause:v" +
  "oid 0){let n=r instanceof Error?r.message:String(r);n!==\"\"&&!e.some(o=>o.includes(n))&&e.push(n)}return e.join" +
  "(\": \")}var sr=32,ir=1e3,ar=64*1024,dr={\"connect-protocol-version\":\"1\"};function ke(t){let{openHttp:e,unusable:" +
  "r,randomBytes:n}=t;return{transport:\"cells\",carrier:\"tcp\",unusable:r,connect:(o,s)=>{let l=e(o.trust),u=new Ab" +
  "ortController;u.signal.addEventListener(\"abort\",()=>l.close());let c=lr(l,o,u.signal),a=n(sr),f=c(\"CellDown\",\"" +
  "application/connect+proto\",ge(we(a))),S=(A,N)=>c(\"CellUp\",\"application/proto\",xe(a,A,N)),v=new de(f,S,u,t);ret" +
  "urn s.aborted&&v.close(),Promise.resolve(v)}}}function lr(t,{host:e,port:r},n){let o=L({host:e,port:r});return" +
  " async(s,l,u)=>{let c=await t.request(`https://${o}/static.relay.v1.Relay/${s}`,{method:\"POST\",headers:{...dr," +
  "\"content-type\":l},body:u,signal:n,redirect:\"error\",credentials:\"omit\",cache:\"no-store\"});if(c.status===200)ret" +
  "urn c;let a=await G(c,ar)??\"\",f=ae(a,`The relay returned HTTP status ${c.status} for ${s}`),{code:S,message:v," +
  "retryAfterMs:A}=Be(c.status,c.headers.get(\"retry-after\"),f);throw oe(S??\"transport_error\",v,A===void 0?{}:{ret" +
  "ryAfterMs:A})}}var de=class{#e;#r;#t;#n;#o=new Set;#s=new K;#a=0;#i=()=>{};closed;constructor(e,r,n,o){this.#e" +
  "=e.then(s=>s.body?.getReader()),this.#e.catch(()=>{}),this.#r=r,this.#t=o,this.#n=n,this.closed=new Promise(s=" +
  ">this.#i=s)}async read(){try{for(;;){let e=await(await this.#e)?.read();if(e?.value===void 0)return this.#d({m" +
  "essage:\"the connection was cut off\"});let{cells:r,end:n}=this.#u(e.value);if(n!==void 0&&this.#d(n),r.length>0" +
  ")return D(r);if(n!==void 0)return}}catch(e){return this.#d(_e(e))}}async write(e,r){for(let n=0;n<e.length;n+=" +
  "r){this.#n.signal.throwIfAborted();let o=this.#c(e.subarray(n,n+r)).finally(()=>this.#o.delete(o));this.#o.add" +
  "(o),this.#o.size>=this.#t.callsAtOnce&&await Promise.race(this.#o)}this.#n.signal.throwIfAborted()}async#c(e){" +
  "try{await(await this.#r(++this.#a,e)).arrayBuffer()}catch(r){this.#d(_e(r))}}close(){let e={message:\"it was cl" +
  "osed by this side\"};if(this.#o.size===0)return this.#d(e);this.#i(e);let r=this.#t.after(ir,()=>this.#d(e));Pr" +
  "omise.all(this.#o).then(()=>{r(),this.#d(e)})}#u(e){let r=[],n;return this.#s.read(e,(o,s)=>{o===0?r.push(be(s" +
  ").slice()):n=o===me?cr(s):{message:\"compressed cells were not asked for\"}}),{cells:r,end:n}}#d(e){this.#i(e),t" +
  "his.#n.abort(oe(\"transport_error\",e.message))}};function _e(t){if(!(t instanceof h)||t.code===\"transport_error" +
  "\")return{message:_(t)};let{code:e,message:r,retryAfterMs:n}=t;return{code:e,message:r,retryAfterMs:n}}function" +
  " cr(t){return ae(new TextDecoder().decode(t),\"the relay ended the stream\")}var H=class{#e=new Map;#r;#t=1/0;#n" +
  "=0;after(e,r){let n=Math.ceil((performance.now()+e)/250),o={run:r},s=this.#e.get(n);return s===void 0?this.#e." +
  "set(n,new Set([o])):s.add(o),this.#n++,n<this.#t?this.#a(n):this.#n===1&&this.#s(!0),()=>{this.#o(n,o)}}#o(e,r" +
  "){let n=this.#e.get(e);return n===void 0||!n.delete(r)?!1:(n.size===0&&this.#e.delete(e),this.#n--,this.#n===0" +
  "&&this.#s(!1),!0)}#s(e){typeof this.#r==\"object\"&&(e?this.#r.ref():this.#r.unref())}#a(e){clearTimeout(this.#r" +
  "),this.#t=e;let r=Math.max(0,e*250-performance.now());this.#r=setTimeout(()=>this.#i(),Math.min(r,2147483647))" +
  "}#i(){this.#r=void 0,this.#t=1/0;let e=performance.now(),r=1/0;for(let[n,o]of this.#e)if(n*250>e)r=Math.min(r," +
  "n);else for(let s of o)queueMicrotask(()=>this.#o(n,s)&&s.run());r<1/0&&this.#a(r)}};function Se(){return Date" +
  ".now()}var ur=5e3,fr=new H;function k(t,e){if(t>=ur)return fr.after(t,e);let r=setTimeout(e,t);return()=>clear" +
  "Timeout(r)}function $(t){return crypto.getRandomValues(new Uint8Array(t))}function pr(){return{request:(t,e)=>" +
  "fetch(t,e),close:()=>{}}}var yr=16,Ue=ke({openHttp:pr,unusable:hr,randomBytes:$,callsAtOnce:yr,after:k});funct" +
  "ion hr({caCerts:t,certificateHashes:e}){return t.length>0||e.length>0?\"a browser's fetch trusts only what the " +
  "browser trusts; tls options do not apply\":void 0}var mr=1500,gr=64*1024;function Pe(t){let e=t.readable.getRea" +
  "der({mode:\"byob\"}),r=t.writable.getWriter();r.closed.catch(()=>{});let n=new ArrayBuffer(gr),o=()=>{},s=new Pr" +
  "omise(a=>o=a),l,u=a=>{l?.(),o(a)};t.closed.then(({closeCode:a=0})=>u(br(a)),a=>u({message:_(a)}));let c=()=>{r" +
  ".close().catch(()=>{}),l??=t.after(mr,()=>{t.close(0),o({message:\"the relay ended the stream\"})})};return{read" +
  ":async()=>{try{let{value:a}=await e.read(new Uint8Array(n));if(a!==void 0&&a.length>0)return n=a.buffer,a}catc" +
  "h{}c()},write:async a=>{try{await r.write(a)}catch(f){throw c(),f}},close:a=>{o({message:\"it was closed by thi" +
  "s side\"}),a===0?c():t.close(a)},closed:s}}function br(t){let e=j(t);return e===void 0?{message:\"the relay clos" +
  "ed the connection\"}:{code:e,message:`the relay closed the connection with ${e}`}}var Me={transport:\"webtranspo" +
  "rt\",carrier:\"udp\",unusable:({caCerts:t})=>Te()===void 0?\"this browser has no WebTransport\":t.length>0?\"a brows" +
  "er takes no certificates; give tls.certificateHashes\":void 0,connect:async({host:t,port:e,trust:r},n)=>{let o=" +
  "Te();if(o===void 0)throw new Error(\"this browser has no WebTransport\");n.throwIfAborted();let s=r.certificateH" +
  "ashes.map(a=>({algorithm:\"sha-256\",value:a})),l=new o(`https://${L({host:t,port:e})}/`,{...s.length>0&&{server" +
  "CertificateHashes:s}});l.closed.catch(()=>{});let u=a=>l.close({closeCode:a}),c=()=>u(0);n.addEventListener(\"a" +
  "bort\",c);try{await l.ready;let{readable:a,writable:f}=await l.createBidirectionalStream();return Pe({readable:" +
  "a,writable:f,closed:l.closed,close:u,after:k})}catch(a){throw n.aborted?n.reason:a}finally{n.removeEventListen" +
  "er(\"abort\",c)}}};function Te(){return globalThis.WebTransport}var F=class{#e=new Map;offer(e,r){this.#e.delete" +
  "(e),this.#e.set(e,r)}take(e){for(let[r,n]of this.#e)if(!(n.length>e))return this.#e.delete(r),n}};var xr=2e3;f" +
  "unction Oe(t,e){let r,n,o=0,s=new F,l=a=>{t.post({kind:\"written\",takenBytes:o-a.pendingBytes,counts:a.counts})" +
  "},u=async({transport:a,target:f,isTapped:S})=>{let v=e.connectors.find(x=>x.transport===a);if(v===void 0)throw" +
  " new Error(`no way to connect by ${a} in a thread of its own`);let A=r=await v.connect(f,new AbortController()" +
  ".signal),N=n=new M({cellBytes:g.cellBytes,write:(x,le)=>(S&&t.post({kind:\"sent\",cells:x.slice(),cellBytes:le})" +
  ",A.write(x,le)),after:e.after,nowMs:e.nowMs,random:()=>new DataView(e.randomBytes(4).buffer).getUint32(0)/2**3" +
  "2,rider:x=>s.take(x),onWritten:()=>l(N),onFailed:()=>t.post({kind:\"failed\"})});A.closed.then(x=>t.post({kind:\"" +
  "closed\",end:x})),t.post({kind:\"connected\"})},c=async()=>{let a=await r?.read();t.post({kind:\"chunk\",bytes:a?.s" +
  "lice()})};t.listen(a=>{switch(a.kind){case\"connect\":return void u(a).catch(f=>t.post({kind:\"refused\",message:_" +
  "(f)}));case\"push\":return o+=a.envelope.length+y,n?.push(a.lane,a.envelope);case\"offer\":return s.offer(a.key,a." +
  "envelope);case\"cellBytes\":return n?.setCellBytes(a.cellBytes);case\"configure\":return n?.configure(a.mode,a.int" +
  "ervalMs);case\"covering\":return n?.setCovering(a.covering);case\"flush\":return void n?.flush(a.timeoutMs).then(f" +
  "=>{t.post({kind:\"flushed\",id:a.id,flushed:f})});case\"read\":return void c();case\"stop\":return n?.stop();case\"cl" +
  "ose\":return r?.close(a.closeCode),void e.after(xr,e.exit)}})}function Re(t){let e=globalThis;Oe({post:r=>e.pos" +
  "tMessage(r),listen:r=>{e.onmessage=({data:n})=>r(n)}},{connectors:t,nowMs:Se,after:k,randomBytes:$,exit:()=>e." +
  "close()})}Re([Me,Ue]);\n";
