/** Built from sdk/platform/browser_worker.ts by tools/generate_workers.ts; do not edit. */
export const source =
  "function ue(t){let e;return()=>e??=t()}var le=\"[\\\\u0600-\\\\u0dff\\\\u1000-\\\\u109f\\\\u1780-\\\\u17ff]\",ce=\"\\\\p{Extend" +
  "ed_Pictographic}[\\\\ufe0f\\\\p{Emoji_Modifier}]?\",Re=[`${ce}(?:\\\\u200d${ce})*`,\"[0-9#*]\\\\ufe0f\\\\u20e3\",`(?<=${le}" +
  ")[\\\\u200c\\\\u200d](?=${le})`,\"(?<=[\\\\p{L}\\\\p{N}\\\\p{P}\\\\p{S}])(?:(?!\\\\p{Default_Ignorable_Code_Point})\\\\p{M}){1," +
  "4}\"].join(\"|\"),Ie=\"\\\\p{C}\\\\p{Zl}\\\\p{Zp}\\\\p{M}\\\\p{Default_Ignorable_Code_Point}\\\\u2800\",We=\"(?! )\\\\p{Zs}|^ |(?<" +
  "= ) | $|\\\\\\\\(?=u\\\\{[0-9a-f]+\\\\})\",Le=ue(()=>new RegExp(`(${Re})|[${Ie}]|${We}`,\"gu\")),N=\"!-[\\\\]-~\\\\u00a1-\\\\u00" +
  "ac\\\\u00ae-\\\\u02ff\\\\u2010-\\\\u2027\\\\u2190-\\\\u21ff\\\\u2500-\\\\u259f\\\\u2713\\\\u2717\",$e=new RegExp(`^[${N}]+(?: [${N}" +
  "]+)*$`),xr=new RegExp(`^[${N} \\\\\\\\\\\\n\\\\t]*$`);var Ke=/^[\\p{Zs}\\\\]/u;function De(t,e){return t.replace(Le(),(r," +
  "n)=>n??(e.test(r)?r:He(r)))}function He(t){return`\\\\u{${t.codePointAt(0)?.toString(16)}}`}function U(t){return" +
  " $e.test(t)?t:De(t,Ke)}var Fe=[...\"Latn Grek Cyrl Armn Hebr Arab Thaa Deva Beng Guru Gujr Orya Taml Telu Knda " +
  "Mlym Sinh Thai Laoo Tibt Mymr Geor Ethi Khmr\".split(\" \").map(t=>[t]),[\"Latn\",\"Hani\",\"Hira\",\"Kana\"],[\"Latn\",\"Ha" +
  "ni\",\"Bopo\"],[\"Latn\",\"Hani\",\"Hang\"]],wr=ue(()=>{let t=Fe.map(e=>e.map(r=>`\\\\p{scx=${r}}`).join(\"\"));return new " +
  "RegExp(t.map(e=>`^[\\\\p{sc=Zyyy}\\\\p{sc=Zinh}${e}]*$`).join(\"|\"),\"u\")});var s={invalidArgument:3,deadlineExceede" +
  "d:4,notFound:5,alreadyExists:6,permissionDenied:7,resourceExhausted:8,failedPrecondition:9,aborted:10,outOfRan" +
  "ge:11,unimplemented:12,internal:13,unavailable:14,unauthenticated:16},d=(t,e,r,n)=>({http:t,grpc:e,close:r,err" +
  "orClass:n,retryable:!1}),p=(...t)=>({...d(...t),retryable:!0}),E={join_timeout:p(504,s.deadlineExceeded,257,\"T" +
  "ransportError\"),auth_failed:d(401,s.unauthenticated,258,\"AuthError\"),auth_key_invalid:d(401,s.unauthenticated," +
  "259,\"AuthError\"),transport_error:p(502,s.unavailable,260,\"TransportError\"),connection_error:p(502,s.unavailabl" +
  "e,261,\"TransportError\"),listener_died:d(500,s.internal,262,\"TransportError\"),channel_error:d(400,s.invalidArgu" +
  "ment,263,\"ChannelError\"),quota_exceeded:d(429,s.resourceExhausted,264,\"QuotaExceededError\"),mls_error:d(409,s." +
  "failedPrecondition,265,\"MlsError\"),invalid_request:d(400,s.invalidArgument,272,\"InvalidArgumentError\"),not_fou" +
  "nd:d(404,s.notFound,273,\"ChannelError\"),method_not_allowed:d(405,s.unimplemented,274,\"InvalidArgumentError\"),p" +
  "ayload_too_large:d(413,s.outOfRange,275,\"InvalidArgumentError\"),unsupported_media_type:d(415,s.invalidArgument" +
  ",276,\"InvalidArgumentError\"),rate_limited:p(429,s.resourceExhausted,277,\"UnavailableError\"),internal:d(500,s.i" +
  "nternal,278,\"InternalError\"),overloaded:p(503,s.unavailable,279,\"UnavailableError\"),email_taken:d(409,s.alread" +
  "yExists,288,\"AuthError\"),key_limit_reached:d(409,s.resourceExhausted,289,\"AuthError\"),account_suspended:d(403," +
  "s.permissionDenied,290,\"AuthError\"),conflict:d(409,s.aborted,291,\"AuthError\"),code_invalid:d(400,s.invalidArgu" +
  "ment,292,\"AuthError\"),csrf_failed:d(403,s.permissionDenied,293,\"AuthError\"),protocol_error:d(400,s.invalidArgu" +
  "ment,304,\"TransportError\"),unsupported_version:d(400,s.failedPrecondition,305,\"TransportError\"),unknown_operat" +
  "ion:d(404,s.unimplemented,306,\"TransportError\"),session_expired:d(401,s.unauthenticated,307,\"AuthError\"),sessi" +
  "on_replaced:d(409,s.aborted,308,\"TransportError\"),slow_reader:p(429,s.resourceExhausted,309,\"UnavailableError\"" +
  "),relay_draining:p(503,s.unavailable,310,\"UnavailableError\"),certificate_changed:d(502,s.failedPrecondition,31" +
  "1,\"TransportError\"),name_taken:d(409,s.alreadyExists,320,\"ChannelError\"),epoch_conflict:p(409,s.aborted,321,\"M" +
  "lsError\"),not_allowed:d(403,s.permissionDenied,322,\"ChannelError\"),member_limit_reached:d(409,s.resourceExhaus" +
  "ted,323,\"ChannelError\"),already_member:d(409,s.alreadyExists,324,\"ChannelError\"),identity_present:d(409,s.alre" +
  "adyExists,356,\"ChannelError\"),queue_full:p(429,s.resourceExhausted,325,\"ChannelError\"),cursor_invalid:d(416,s." +
  "outOfRange,326,\"ChannelError\"),key_package_invalid:d(400,s.invalidArgument,327,\"MlsError\"),key_package_missing" +
  ":p(404,s.failedPrecondition,328,\"MlsError\"),join_rejected:d(403,s.permissionDenied,329,\"ChannelError\"),members" +
  "hip_lapsed:d(410,s.failedPrecondition,330,\"ChannelError\"),state_conflict:d(409,s.failedPrecondition,331,\"MlsEr" +
  "ror\"),storage_full:p(507,s.resourceExhausted,332,\"ChannelError\"),link_invalid:d(400,s.invalidArgument,333,\"Inv" +
  "alidArgumentError\"),removed:d(410,s.failedPrecondition,355,\"RemovedError\"),members_must_update:d(409,s.failedP" +
  "recondition,334,\"ChannelError\"),successor_needed:d(409,s.failedPrecondition,335,\"ChannelError\"),content_invali" +
  "d:d(400,s.invalidArgument,352,\"ChannelError\"),request_timeout:p(504,s.deadlineExceeded,353,\"TransportError\"),r" +
  "emote_error:d(502,s.aborted,354,\"RemoteError\"),store_locked:p(409,s.failedPrecondition,336,\"StoreError\"),store" +
  "_corrupt:d(500,s.internal,337,\"StoreError\"),store_failed:d(500,s.internal,339,\"StoreError\"),passphrase_wrong:d" +
  "(401,s.unauthenticated,338,\"StoreError\")};function B(t){return Object.hasOwn(E,t)}function q(t){return Ne.get(" +
  "t)}var Ne=new Map(Object.entries(E).flatMap(([t,{close:e}])=>B(t)?[[e,t]]:[])),m=class extends Error{name=\"Wir" +
  "eError\";code;requestId;constructor(e,r,n={}){super(U(r),n.cause===void 0?void 0:{cause:n.cause}),this.code=e,t" +
  "his.requestId=n.requestId}};var g=Object.freeze({cellBytes:4096,minCellBytes:1024,maxCellBytes:16384,payloadBy" +
  "tes:1048576,ciphertextBytes:1081344,keyPackageBytes:16384,commitBytes:262144,welcomeBytes:2097152,leafNodeByte" +
  "s:4096,creatorWelcomeBytes:1024,envelopeBytes:2490368,handshakeEnvelopeBytes:16384,cborDepth:6,cborItems:32768" +
  ",membersPerChannel:1e3,welcomesPerCommit:16,keyPackagesPerUpload:100,channelsPerPage:500,answersPerCommit:1e3," +
  "proofsPerCommit:128,ownersPerChannel:64,ownersChanges:64,ownersChangeBytes:2048,admissions:16,claimsForFoundin" +
  "g:100,confirmationsPerPage:10,unconfirmedPerPage:40,featuresPerSession:64,identityBytes:256,tokenBytes:8192,or" +
  "iginBytes:300,sessionTokenBytes:64,errorTextBytes:1024,errorCodeBytes:64,nameComponentBytes:63,channelNameByte" +
  "s:191,emailBytes:254,contentFieldsBytes:8192,contentTypeBytes:127,contentAddressees:64,conversationBytes:128,c" +
  "ontentHeaders:32,contentHeaderNameBytes:64,contentHeaderValueBytes:1024,contentErrorBytes:64,contentConfirmati" +
  "onBytes:120,queueBytesPerChannel:67108864,queueAgeMs:6048e5,windowBytes:16777216,challengeMs:3e4,joinRequestMs" +
  ":6e5,inviteUses:1e4,clockSkewMs:6e5,keyPackageLifetimeMs:864e7,minCoverIntervalMs:10,maxCoverIntervalMs:36e5})" +
  ";var w=3,y=4,T=2,j={control:0,data:1};function R(t){if(!Number.isInteger(t)||t<g.minCellBytes||t>g.maxCellByte" +
  "s)throw new m(\"protocol_error\",`A cell has ${g.minCellBytes} to ${g.maxCellBytes} bytes, not ${t}`);return t}f" +
  "unction I(t){if(t===0||t>g.envelopeBytes)throw new m(\"payload_too_large\",`Cannot send an envelope of ${t} byte" +
  "s; 1 to ${g.envelopeBytes} are allowed`)}var P=class{#e;#r=[];#t=[];#n=[0,0];#o=0;constructor(e){this.#e=R(e)}" +
  "set cellBytes(e){if(this.#o>0)throw new TypeError(\"Cannot change the cell size while envelopes are waiting\");t" +
  "his.#e=R(e)}get cellBytes(){return this.#e}get pendingBytes(){return this.#o}push(e,r){I(r.length),(e===\"contr" +
  "ol\"?this.#r:this.#t).push(r),this.#o+=r.length+y}next(e){let r=this.#r.length>0?j.control:j.data,n=r===j.contr" +
  "ol?this.#r:this.#t;if(n.length===0)return;let o=e?.length===this.#e?e:new Uint8Array(this.#e);return this.#i(o" +
  ",n,r),o}#i(e,r,n){let o=w,i=0,f=this.#n[n]??0;for(let l of r){if(f===0){if(e.length-o<=y)break;qe(e,o,l.length" +
  "),o+=y,f=y}let a=f-y,u=l.subarray(a,a+e.length-o);if(e.set(u,o),o+=u.length,f+=u.length,f-y<l.length)break;i++" +
  ",f=0}let c=o-w;i===1?r.shift():r.splice(0,i),this.#n[n]=f,this.#o-=c,e[0]=n,e[1]=c>>8,e[2]=c&255,e.fill(0,o)}}" +
  ";function V(t,e,r){let n=e+T;return t.set(r,n),t[e]=r.length>>8,t[e+1]=r.length&255,n+r.length}function qe(t,e" +
  ",r){t[e]=r>>>24,t[e+1]=r>>>16,t[e+2]=r>>>8,t[e+3]=r}var je=64*1024,fe=.5,Ve=2,M=class{#e;#r;#t=[];#n=0;#o=0;#i" +
  "=new Uint8Array(0);#a=\"off\";#s=0;#c;#u=0;#d=!0;#p=!1;#y=!1;#l=!1;#h=new Set;#f={cells:0,coverCells:0,coverByte" +
  "s:0,paddingBytes:0};constructor(e){this.#e=e,this.#r=new P(e.cellBytes)}get pendingBytes(){return this.#r.pend" +
  "ingBytes+this.#n+this.#o}get counts(){return{...this.#f}}push(e,r){this.#l||(this.#t.length===0?this.#r.push(e" +
  ",r):(I(r.length),this.#t.push({lane:e,envelope:r}),this.#n+=r.length+y),this.#m())}setCellBytes(e){this.#t.pus" +
  "h({cellBytes:R(e)}),this.#C()}configure(e,r){if(!this.#l){if(e!==\"off\"&&!(r>0))throw new RangeError(`Cover nee" +
  "ds an interval above 0, not ${r}`);this.#c?.(),this.#c=void 0,this.#a=e,this.#s=r,this.#p=!1,this.#u=this.#e.n" +
  "owMs(),e!==\"off\"&&this.#A(),this.#m()}}setCovering(e){this.#d=e}flush(e){return this.#l?Promise.resolve(this.p" +
  "endingBytes===0):!this.#y&&this.pendingBytes===0?Promise.resolve(!0):new Promise(r=>{let n=i=>{this.#h.delete(" +
  "n),o(),r(i)},o=this.#e.after(e,()=>n(!1));this.#h.add(n)})}stop(){this.#l=!0,this.#c?.(),this.#c=void 0,this.#" +
  "i=new Uint8Array(0);for(let e of this.#h)e(!1)}#m(){this.#y||this.#l||!this.#b()||(this.#y=!0,this.#E())}#b(){" +
  "return this.#p||this.#a!==\"constant\"&&this.#r.pendingBytes>0}async#E(){await void 0;try{for(;!this.#l&&this.#b" +
  "();){let e=this.#a===\"constant\"?this.#_():this.#k();if(await this.#e.write(e,this.#r.cellBytes),this.#o=0,this" +
  ".#l)break;this.#C(),this.#e.onWritten?.()}}catch(e){this.#o=0;let r=this.#l;this.stop(),r||this.#e.onFailed?.(" +
  "e)}this.#y=!1,this.#B()}#B(){if(!(this.#l||this.pendingBytes>0)){this.#i.length>Ve*this.#r.cellBytes&&(this.#i" +
  "=new Uint8Array(0));for(let e of this.#h)e(!0)}}#_(){this.#p=!1;let e=this.#g(1);return this.#x(e)?e:this.#w(e" +
  ")}#k(){let{cellBytes:e,pendingBytes:r}=this.#r;if(r===0)return this.#p=!1,this.#w(this.#g(1));let n=Math.ceil(" +
  "r/(e-w))+1,o=this.#g(Math.min(n,Math.max(1,Math.floor(je/e)))),i=0;for(;i<o.length&&this.#x(o.subarray(i,i+e))" +
  ";)i+=e;return o.subarray(0,i)}#g(e){let r=e*this.#r.cellBytes;return this.#i.length<r&&(this.#i=new Uint8Array" +
  "(r)),this.#i.subarray(0,r)}#x(e){let r=this.#r.pendingBytes;if(this.#r.next(e)===void 0)return!1;let n=r-this." +
  "#r.pendingBytes;return this.#o+=n,this.#f.cells++,this.#f.paddingBytes+=e.length-w-n,this.#v(e,w+n),!0}#w(e){r" +
  "eturn this.#f.cells++,this.#f.coverCells++,this.#f.coverBytes+=e.length,this.#v(e.fill(0),w),e}#v(e,r){let{rid" +
  "er:n}=this.#e;if(n!==void 0)for(let o=r;e.length-o>T;){let i=n(e.length-o-T);if(i===void 0)return;o=V(e,o,i)}}" +
  "#A(){let e=this.#e.nowMs();this.#c=this.#e.after(this.#a===\"poisson\"?this.#S():this.#U(e),()=>{this.#p=this.#d" +
  "||this.#a===\"constant\"&&this.#r.pendingBytes>0,this.#A(),this.#m()})}#S(){return-Math.log(1-this.#e.random())*" +
  "this.#s}#U(e){this.#u=Je(this.#u,this.#s,e);let r=this.#e.random()*fe*this.#s;return Math.max((1-fe)*this.#s,t" +
  "his.#u-r-e)}#C(){for(;this.#r.pendingBytes===0&&this.#t.length>0;){let e=this.#t.findIndex((r,n)=>n>0&&\"cellBy" +
  "tes\"in r);for(let r of this.#t.splice(0,e<0?this.#t.length:e))\"cellBytes\"in r?this.#r.cellBytes=r.cellBytes:(t" +
  "his.#n-=r.envelope.length+y,this.#r.push(r.lane,r.envelope))}}};function Je(t,e,r){if(r<t-e)return r+e;let n=M" +
  "ath.max(0,Math.floor((r-t)/e));return t+(n+1)*e}async function J({body:t},e){let r=t?.getReader();if(r===void " +
  "0)return\"\";let n=new TextDecoder,o=\"\";try{for(let i=await r.read();i.value!==void 0;i=await r.read())if(o+=n.d" +
  "ecode(i.value,{stream:!0}),o.length>e)return;return o}finally{await r.cancel()}}var h=class extends Error{name" +
  "=\"StaticError\";code;retryable;retryAfterMs;epoch;channel;unreachable;members;constructor(e,r,n={}){super(U(r)," +
  "n.cause===void 0?void 0:{cause:n.cause}),this.code=e,this.retryable=n.retryable??E[e].retryable,this.retryAfte" +
  "rMs=n.retryAfterMs,this.epoch=n.epoch,this.channel=n.channel,this.unreachable=n.unreachable,this.members=n.mem" +
  "bers}},O=class extends h{name=\"TransportError\"},G=class extends O{name=\"UnavailableError\"},z=class extends O{n" +
  "ame=\"InternalError\"},Z=class extends h{name=\"AuthError\"},W=class extends h{name=\"ChannelError\"},Q=class extend" +
  "s W{name=\"RemovedError\";by;atMs;constructor(e,r,n={}){super(e,r,n),this.by=n.by,this.atMs=n.atMs}},X=class ext" +
  "ends h{name=\"QuotaExceededError\"},Y=class extends h{name=\"MlsError\"},ee=class extends h{name=\"InvalidArgumentE" +
  "rror\"},re=class extends h{name=\"StoreError\"},te=class extends h{name=\"RemoteError\";remoteCode;constructor(e,{r" +
  "emoteCode:r=\"failed\",...n}={}){super(\"remote_error\",e,n),this.remoteCode=r}};function b(t){return(e,r,n)=>new " +
  "t(e,r,n)}var Ge={TransportError:b(O),AuthError:b(Z),ChannelError:b(W),QuotaExceededError:b(X),MlsError:b(Y),In" +
  "validArgumentError:b(ee),StoreError:b(re),UnavailableError:b(G),RemovedError:b(Q),RemoteError:(t,e,r)=>new te(" +
  "e,r),InternalError:b(z)};function ne(t,e,r){return Ge[E[t].errorClass](t,e,r)}function pe(t,e){return e!==void" +
  " 0&&B(e)?e:t===429?\"rate_limited\":t===503?\"overloaded\":void 0}var he=2,_=5,ze=64*1024,Ze=10,ye=new TextDecoder" +
  ";function me(t){let e=new Uint8Array(_+t.length);return Xe(e,1,t.length),e.set(t,_),e}function ge(t){let{value" +
  ":e,end:r}=ve(t,0,Ze);if(r!==t.length)throw new m(\"protocol_error\",\"A cell's message holds more than a cell\");r" +
  "eturn e}function be(t,e,r){let[n,o]=[oe(10,t.length),oe(26,r.length)],i=new Uint8Array(9);return i[0]=17,new D" +
  "ataView(i.buffer).setBigUint64(1,BigInt(e),!0),$([n,t,i,o,r])}function xe(t){return $([oe(10,t.length),t])}fun" +
  "ction we(t){let e={code:\"\",message:\"\"};for(let{field:r,value:n}of Qe(t))r===4&&typeof n==\"number\"&&(e={...e,re" +
  "tryAfterMs:n}),typeof n!=\"number\"&&(r===1&&(e={...e,code:ye.decode(n)}),r===2&&(e={...e,message:ye.decode(n)})" +
  ");return e}var L=class{#e=new Uint8Array(_);#r=0;#t=new Uint8Array(0);#n=0;read(e,r){let n=0;for(;n<e.length;)" +
  "{if(this.#r<_){let i=e.subarray(n,n+_-this.#r);if(this.#e.set(i,this.#r),this.#r+=i.length,n+=i.length,this.#r" +
  "<_)return;this.#o()}let o=e.subarray(n,n+this.#t.length-this.#n);n+=o.length,o.length===this.#t.length?this.#i" +
  "(o,r):(this.#t.set(o,this.#n),this.#n+=o.length,this.#n===this.#t.length&&this.#i(this.#t,r))}}#o(){let e=new " +
  "DataView(this.#e.buffer).getUint32(1);if(e===0||e>ze)throw new m(\"protocol_error\",`A message of ${e} bytes whe" +
  "re cells are expected`);this.#t.length!==e&&(this.#t=new Uint8Array(e)),this.#n=0}#i(e,r){this.#r=0,r(this.#e[" +
  "0]??0,e)}};function $(t){let e=new Uint8Array(t.reduce((n,{length:o})=>n+o,0)),r=0;for(let n of t)e.set(n,r),r" +
  "+=n.length;return e}function oe(t,e){let r=[t];for(let n=e;n>0||r.length===1;n>>>=7)r.push(n>127?n&127|128:n);" +
  "return Uint8Array.from(r)}function ve(t,e,r){if(t[e]!==r)throw new m(\"protocol_error\",\"A message without the f" +
  "ield that it must have\");let{value:n,end:o}=Ae(t,e+1);if(n>t.length-o)throw Ce();return{value:t.subarray(o,o+n" +
  "),end:o+n}}function*Qe(t){for(let e=0;e<t.length;){let r=t[e]??0,{value:n,end:o}=(r&7)===0?Ae(t,e+1):ve(t,e,r&" +
  "-8|2);yield{field:r>>3,value:n},e=o}}function Ae(t,e){let r=0;for(let[n,o]=[1,e];o<t.length&&n<2**63;n*=128){l" +
  "et i=t[o++]??0;if(r+=(i&127)*n,i<128)return{value:r,end:o}}throw Ce()}function Ce(){return new m(\"protocol_err" +
  "or\",\"A field goes beyond the end of its message\")}function Xe(t,e,r){new DataView(t.buffer,t.byteOffset).setUi" +
  "nt32(e,r)}var Ye=\"static.relay.v1.ErrorDetail\",er=1024;function se(t,e){let r=nr(t),{message:n,details:o}=ie(r" +
  ".error??r);for(let i of Array.isArray(o)?o:[]){let{type:f,value:c}=ie(i),l=f===Ye&&typeof c==\"string\"?rr(()=>t" +
  "r(c)):void 0;if(l!==void 0)return l}return{message:typeof n==\"string\"?n.slice(0,er):e}}function Ee(t,e,{messag" +
  "e:r,...n}){let o=pe(t);if(o===void 0)return{message:r};if(n.code!==void 0)return{message:r,...n};let i=typeof " +
  "e==\"string\"?Number(e)*1e3:NaN;return{code:o,message:r,...i>=0&&{retryAfterMs:i}}}function rr(t){try{let{code:e" +
  ",message:r,retryAfterMs:n}=we(t());return B(e)?{code:e,message:r,...n!==void 0&&{retryAfterMs:n}}:void 0}catch" +
  "{return}}function tr(t){return Uint8Array.from(atob(t),e=>e.charCodeAt(0))}function nr(t){try{return ie(JSON.p" +
  "arse(t))}catch{return{}}}function ie(t){return typeof t==\"object\"&&t!==null?t:{}}function k(t){let e=[];for(le" +
  "t r=t;r!==void 0&&e.length<3;r=r instanceof Error?r.cause:void 0){let n=r instanceof Error?r.message:String(r)" +
  ";n!==\"\"&&!e.some(o=>o.includes(n))&&e.push(n)}return e.join(\": \")}var or=32,ir=1e3,sr=64*1024,ar={\"connect-pro" +
  "tocol-version\":\"1\"};function _e(t){let{openHttp:e,unusable:r,randomBytes:n}=t;return{transport:\"cells\",carrier" +
  ":\"tcp\",unusable:r,connect:(o,i)=>{let f=e(o.trust),c=new AbortController;c.signal.addEventListener(\"abort\",()=" +
  ">f.close());let l=dr(f,o,c.signal),a=n(or),u=l(\"CellDown\",\"application/connect+proto\",me(xe(a))),v=(C,F)=>l(\"C" +
  "ellUp\",\"application/proto\",be(a,C,F)),A=new ae(u,v,c,t);return i.aborted&&A.close(),Promise.resolve(A)}}}funct" +
  "ion dr(t,{host:e,port:r},n){let o=`${e.includes(\":\")?`[${e}]`:e}:${r}`;return async(i,f,c)=>{let l=await t.req" +
  "uest(`https://${o}/static.relay.v1.Relay/${i}`,{method:\"POST\",headers:{...ar,\"content-type\":f},body:c,signal:n" +
  ",redirect:\"error\",credentials:\"omit\",cache:\"no-store\"});if(l.status===200)return l;let a=await J(l,sr)??\"\",u=s" +
  "e(a,`The relay returned HTTP status ${l.status} for ${i}`),{code:v,message:A,retryAfterMs:C}=Ee(l.status,l.hea" +
  "ders.get(\"retry-after\"),u);throw ne(v??\"transport_error\",A,C===void 0?{}:{retryAfterMs:C})}}var ae=class{#e;#r" +
  ";#t;#n;#o=new Set;#i=new L;#a=0;#s=()=>{};closed;constructor(e,r,n,o){this.#e=e.then(i=>i.body?.getReader()),t" +
  "his.#e.catch(()=>{}),this.#r=r,this.#t=o,this.#n=n,this.closed=new Promise(i=>this.#s=i)}async read(){try{for(" +
  ";;){let e=await(await this.#e)?.read();if(e?.value===void 0)return this.#d({message:\"the connection was cut of" +
  "f\"});let{cells:r,end:n}=this.#u(e.value);if(n!==void 0&&this.#d(n),r.length>0)return $(r);if(n!==void 0)return" +
  "}}catch(e){return this.#d(Be(e))}}async write(e,r){for(let n=0;n<e.length;n+=r){this.#n.signal.throwIfAborted(" +
  ");let o=this.#c(e.subarray(n,n+r)).finally(()=>this.#o.delete(o));this.#o.add(o),this.#o.size>=this.#t.callsAt" +
  "Once&&await Promise.race(this.#o)}this.#n.signal.throwIfAborted()}async#c(e){try{await(await this.#r(++this.#a" +
  ",e)).arrayBuffer()}catch(r){this.#d(Be(r))}}close(){let e={message:\"it was closed by this side\"};if(this.#o.si" +
  "ze===0)return this.#d(e);this.#s(e);let r=this.#t.after(ir,()=>this.#d(e));Promise.all(this.#o).then(()=>{r()," +
  "this.#d(e)})}#u(e){let r=[],n;return this.#i.read(e,(o,i)=>{o===0?r.push(ge(i).slice()):n=o===he?lr(i):{messag" +
  "e:\"compressed cells were not asked for\"}}),{cells:r,end:n}}#d(e){this.#s(e),this.#n.abort(ne(\"transport_error\"" +
  ",e.message))}};function Be(t){if(!(t instanceof h)||t.code===\"transport_error\")return{message:k(t)};let{code:e" +
  ",message:r,retryAfterMs:n}=t;return{code:e,message:r,retryAfterMs:n}}function lr(t){return se(new TextDecoder(" +
  ").decode(t),\"the relay ended the stream\")}var K=class{#e=new Map;#r;#t=1/0;#n=0;after(e,r){let n=Math.ceil((pe" +
  "rformance.now()+e)/250),o={run:r},i=this.#e.get(n);return i===void 0?this.#e.set(n,new Set([o])):i.add(o),this" +
  ".#n++,n<this.#t?this.#a(n):this.#n===1&&this.#i(!0),()=>{this.#o(n,o)}}#o(e,r){let n=this.#e.get(e);return n==" +
  "=void 0||!n.delete(r)?!1:(n.size===0&&this.#e.delete(e),this.#n--,this.#n===0&&this.#i(!1),!0)}#i(e){typeof th" +
  "is.#r==\"object\"&&(e?this.#r.ref():this.#r.unref())}#a(e){clearTimeout(this.#r),this.#t=e;let r=Math.max(0,e*25" +
  "0-performance.now());this.#r=setTimeout(()=>this.#s(),Math.min(r,2147483647))}#s(){this.#r=void 0,this.#t=1/0;" +
  "let e=performance.now(),r=1/0;for(let[n,o]of this.#e)if(n*250>e)r=Math.min(r,n);else for(let i of o)queueMicro" +
  "task(()=>this.#o(n,i)&&i.run());r<1/0&&this.#a(r)}};function ke(){return Date.now()}var cr=5e3,ur=new K;functi" +
  "on S(t,e){if(t>=cr)return ur.after(t,e);let r=setTimeout(e,t);return()=>clearTimeout(r)}function D(t){return c" +
  "rypto.getRandomValues(new Uint8Array(t))}function fr(){return{request:(t,e)=>fetch(t,e),close:()=>{}}}var pr=1" +
  "6,Se=_e({openHttp:fr,unusable:yr,randomBytes:D,callsAtOnce:pr,after:S});function yr({caCerts:t,certificateHash" +
  "es:e}){return t.length>0||e.length>0?\"a browser's fetch trusts only what the browser trusts; tls options do no" +
  "t apply\":void 0}var hr=1500,mr=64*1024;function Ue(t){let e=t.readable.getReader({mode:\"byob\"}),r=t.writable.g" +
  "etWriter();r.closed.catch(()=>{});let n=new ArrayBuffer(mr),o=()=>{},i=new Promise(a=>o=a),f,c=a=>{f?.(),o(a)}" +
  ";t.closed.then(({closeCode:a=0})=>c(gr(a)),a=>c({message:k(a)}));let l=()=>{r.close().catch(()=>{}),f??=t.afte" +
  "r(hr,()=>{t.close(0),o({message:\"the relay ended the stream\"})})};return{read:async()=>{try{let{value:a}=await" +
  " e.read(new Uint8Array(n));if(a!==void 0&&a.length>0)return n=a.buffer,a}catch{}l()},write:async a=>{try{await" +
  " r.write(a)}catch(u){throw l(),u}},close:a=>{o({message:\"it was closed by this side\"}),a===0?l():t.close(a)},c" +
  "losed:i}}function gr(t){let e=q(t);return e===void 0?{message:\"the relay closed the connection\"}:{code:e,messa" +
  "ge:`the relay closed the connection with ${e}`}}var Te={transport:\"webtransport\",carrier:\"udp\",unusable:({caCe" +
  "rts:t})=>Pe()===void 0?\"this browser has no WebTransport\":t.length>0?\"a browser takes no certificates; give tl" +
  "s.certificateHashes\":void 0,connect:async({host:t,port:e,trust:r},n)=>{let o=Pe();if(o===void 0)throw new Erro" +
  "r(\"this browser has no WebTransport\");n.throwIfAborted();let i=r.certificateHashes.map(u=>({algorithm:\"sha-256" +
  "\",value:u})),f=`${t.includes(\":\")?`[${t}]`:t}:${e}`,c=new o(`https://${f}/`,{...i.length>0&&{serverCertificate" +
  "Hashes:i}});c.closed.catch(()=>{});let l=u=>c.close({closeCode:u}),a=()=>l(0);n.addEventListener(\"abort\",a);tr" +
  "y{await c.ready;let{readable:u,writable:v}=await c.createBidirectionalStream();return Ue({readable:u,writable:" +
  "v,closed:c.closed,close:l,after:S})}catch(u){throw n.aborted?n.reason:u}finally{n.removeEventListener(\"abort\"," +
  "a)}}};function Pe(){return globalThis.WebTransport}var H=class{#e=new Map;offer(e,r){this.#e.delete(e),this.#e" +
  ".set(e,r)}take(e){for(let[r,n]of this.#e)if(!(n.length>e))return this.#e.delete(r),n}};var br=2e3;function Me(" +
  "t,e){let r,n,o=0,i=new H,f=a=>{t.post({kind:\"written\",takenBytes:o-a.pendingBytes,counts:a.counts})},c=async({" +
  "transport:a,target:u,isTapped:v})=>{let A=e.connectors.find(x=>x.transport===a);if(A===void 0)throw new Error(" +
  "`no way to connect by ${a} in a thread of its own`);let C=r=await A.connect(u,new AbortController().signal),F=" +
  "n=new M({cellBytes:g.cellBytes,write:(x,de)=>(v&&t.post({kind:\"sent\",cells:x.slice(),cellBytes:de}),C.write(x," +
  "de)),after:e.after,nowMs:e.nowMs,random:()=>new DataView(e.randomBytes(4).buffer).getUint32(0)/2**32,rider:x=>" +
  "i.take(x),onWritten:()=>f(F),onFailed:()=>t.post({kind:\"failed\"})});C.closed.then(x=>t.post({kind:\"closed\",end" +
  ":x})),t.post({kind:\"connected\"})},l=async()=>{let a=await r?.read();t.post({kind:\"chunk\",bytes:a?.slice()})};t" +
  ".listen(a=>{switch(a.kind){case\"connect\":return void c(a).catch(u=>t.post({kind:\"refused\",message:k(u)}));case" +
  "\"push\":return o+=a.envelope.length+y,n?.push(a.lane,a.envelope);case\"offer\":return i.offer(a.key,a.envelope);c" +
  "ase\"cellBytes\":return n?.setCellBytes(a.cellBytes);case\"configure\":return n?.configure(a.mode,a.intervalMs);ca" +
  "se\"covering\":return n?.setCovering(a.covering);case\"flush\":return void n?.flush(a.timeoutMs).then(u=>{t.post({" +
  "kind:\"flushed\",id:a.id,flushed:u})});case\"read\":return void l();case\"stop\":return n?.stop();case\"close\":return" +
  " r?.close(a.closeCode),void e.after(br,e.exit)}})}function Oe(t){let e=globalThis;Me({post:r=>e.postMessage(r)" +
  ",listen:r=>{e.onmessage=({data:n})=>r(n)}},{connectors:t,nowMs:ke,after:S,randomBytes:D,exit:()=>e.close()})}O" +
  "e([Te,Se]);\n";
