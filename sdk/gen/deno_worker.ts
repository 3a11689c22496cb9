/** Built from sdk/platform/deno_worker.ts by tools/generate_workers.ts; do not edit. */
export const source =
  "function fe(t){let e;return()=>e??=t()}var ce=\"[\\\\u0600-\\\\u0dff\\\\u1000-\\\\u109f\\\\u1780-\\\\u17ff]\",ue=\"\\\\p{Extend" +
  "ed_Pictographic}[\\\\ufe0f\\\\p{Emoji_Modifier}]?\",De=[`${ue}(?:\\\\u200d${ue})*`,\"[0-9#*]\\\\ufe0f\\\\u20e3\",`(?<=${ce}" +
  ")[\\\\u200c\\\\u200d](?=${ce})`,\"(?<=[\\\\p{L}\\\\p{N}\\\\p{P}\\\\p{S}])(?:(?!\\\\p{Default_Ignorable_Code_Point})\\\\p{M}){1," +
  "4}\"].join(\"|\"),Le=\"\\\\p{C}\\\\p{Zl}\\\\p{Zp}\\\\p{M}\\\\p{Default_Ignorable_Code_Point}\\\\u2800\",We=\"(?! )\\\\p{Zs}|^ |(?<" +
  "= ) | $|\\\\\\\\(?=u\\\\{[0-9a-f]+\\\\})\",He=fe(()=>new RegExp(`(${De})|[${Le}]|${We}`,\"gu\")),j=\"!-[\\\\]-~\\\\u00a1-\\\\u00" +
  "ac\\\\u00ae-\\\\u02ff\\\\u2010-\\\\u2027\\\\u2190-\\\\u21ff\\\\u2500-\\\\u259f\\\\u2713\\\\u2717\",Ke=new RegExp(`^[${j}]+(?: [${j}" +
  "]+)*$`),kr=new RegExp(`^[${j} \\\\\\\\\\\\n\\\\t]*$`);var $e=/^[\\p{Zs}\\\\]/u;function Fe(t,e){return t.replace(He(),(r," +
  "n)=>n??(e.test(r)?r:qe(r)))}function qe(t){return`\\\\u{${t.codePointAt(0)?.toString(16)}}`}function U(t){return" +
  " Ke.test(t)?t:Fe(t,$e)}var Ne=[...\"Latn Grek Cyrl Armn Hebr Arab Thaa Deva Beng Guru Gujr Orya Taml Telu Knda " +
  "Mlym Sinh Thai Laoo Tibt Mymr Geor Ethi Khmr\".split(\" \").map(t=>[t]),[\"Latn\",\"Hani\",\"Hira\",\"Kana\"],[\"Latn\",\"Ha" +
  "ni\",\"Bopo\"],[\"Latn\",\"Hani\",\"Hang\"]],Sr=fe(()=>{let t=Ne.map(e=>e.map(r=>`\\\\p{scx=${r}}`).join(\"\"));return new " +
  "RegExp(t.map(e=>`^[\\\\p{sc=Zyyy}\\\\p{sc=Zinh}${e}]*$`).join(\"|\"),\"u\")});var a={invalidArgument:3,deadlineExceede" +
  "d:4,notFound:5,alreadyExists:6,permissionDenied:7,resourceExhausted:8,failedPrecondition:9,aborted:10,outOfRan" +
  "ge:11,unimplemented:12,internal:13,unavailable:14,unauthenticated:16},d=(t,e,r,n)=>({http:t,grpc:e,close:r,err" +
  "orClass:n,retryable:!1}),p=(...t)=>({...d(...t),retryable:!0}),E={join_timeout:p(504,a.deadlineExceeded,257,\"T" +
  "ransportError\"),auth_failed:d(401,a.unauthenticated,258,\"AuthError\"),auth_key_invalid:d(401,a.unauthenticated," +
  "259,\"AuthError\"),transport_error:p(502,a.unavailable,260,\"TransportError\"),connection_error:p(502,a.unavailabl" +
  "e,261,\"TransportError\"),listener_died:d(500,a.internal,262,\"TransportError\"),channel_error:d(400,a.invalidArgu" +
  "ment,263,\"ChannelError\"),quota_exceeded:d(429,a.resourceExhausted,264,\"QuotaExceededError\"),mls_error:d(409,a." +
  "failedPrecondition,265,\"MlsError\"),invalid_request:d(400,a.invalidArgument,272,\"InvalidArgumentError\"),not_fou" +
  "nd:d(404,a.notFound,273,\"ChannelError\"),method_not_allowed:d(405,a.unimplemented,274,\"InvalidArgumentError\"),p" +
  "ayload_too_large:d(413,a.outOfRange,275,\"InvalidArgumentError\"),unsupported_media_type:d(415,a.invalidArgument" +
  ",276,\"InvalidArgumentError\"),rate_limited:p(429,a.resourceExhausted,277,\"UnavailableError\"),internal:d(500,a.i" +
  "nternal,278,\"InternalError\"),overloaded:p(503,a.unavailable,279,\"UnavailableError\"),email_taken:d(409,a.alread" +
  "yExists,288,\"AuthError\"),key_limit_reached:d(409,a.resourceExhausted,289,\"AuthError\"),account_suspended:d(403," +
  "a.permissionDenied,290,\"AuthError\"),conflict:d(409,a.aborted,291,\"AuthError\"),code_invalid:d(400,a.invalidArgu" +
  "ment,292,\"AuthError\"),csrf_failed:d(403,a.permissionDenied,293,\"AuthError\"),protocol_error:d(400,a.invalidArgu" +
  "ment,304,\"TransportError\"),unsupported_version:d(400,a.failedPrecondition,305,\"TransportError\"),unknown_operat" +
  "ion:d(404,a.unimplemented,306,\"TransportError\"),session_expired:d(401,a.unauthenticated,307,\"AuthError\"),sessi" +
  "on_replaced:d(409,a.aborted,308,\"TransportError\"),slow_reader:p(429,a.resourceExhausted,309,\"UnavailableError\"" +
  "),relay_draining:p(503,a.unavailable,310,\"UnavailableError\"),certificate_changed:d(502,a.failedPrecondition,31" +
  "1,\"TransportError\"),name_taken:d(409,a.alreadyExists,320,\"ChannelError\"),epoch_conflict:p(409,a.aborted,321,\"M" +
  "lsError\"),not_allowed:d(403,a.permissionDenied,322,\"ChannelError\"),member_limit_reached:d(409,a.resourceExhaus" +
  "ted,323,\"ChannelError\"),already_member:d(409,a.alreadyExists,324,\"ChannelError\"),identity_present:d(409,a.alre" +
  "adyExists,356,\"ChannelError\"),queue_full:p(429,a.resourceExhausted,325,\"ChannelError\"),cursor_invalid:d(416,a." +
  "outOfRange,326,\"ChannelError\"),key_package_invalid:d(400,a.invalidArgument,327,\"MlsError\"),key_package_missing" +
  ":p(404,a.failedPrecondition,328,\"MlsError\"),join_rejected:d(403,a.permissionDenied,329,\"ChannelError\"),members" +
  "hip_lapsed:d(410,a.failedPrecondition,330,\"ChannelError\"),state_conflict:d(409,a.failedPrecondition,331,\"MlsEr" +
  "ror\"),storage_full:p(507,a.resourceExhausted,332,\"ChannelError\"),link_invalid:d(400,a.invalidArgument,333,\"Inv" +
  "alidArgumentError\"),removed:d(410,a.failedPrecondition,355,\"RemovedError\"),members_must_update:d(409,a.failedP" +
  "recondition,334,\"ChannelError\"),successor_needed:d(409,a.failedPrecondition,335,\"ChannelError\"),choice_needed:" +
  "d(409,a.failedPrecondition,357,\"ChannelError\"),content_invalid:d(400,a.invalidArgument,352,\"ChannelError\"),req" +
  "uest_timeout:p(504,a.deadlineExceeded,353,\"TransportError\"),remote_error:d(502,a.aborted,354,\"RemoteError\"),st" +
  "ore_locked:p(409,a.failedPrecondition,336,\"StoreError\"),store_corrupt:d(500,a.internal,337,\"StoreError\"),store" +
  "_full:d(507,a.resourceExhausted,340,\"StoreError\"),store_failed:d(500,a.internal,339,\"StoreError\"),passphrase_w" +
  "rong:d(401,a.unauthenticated,338,\"StoreError\")};function B(t){return Object.hasOwn(E,t)}function Q(t){return j" +
  "e.get(t)}var je=new Map(Object.entries(E).flatMap(([t,{close:e}])=>B(t)?[[e,t]]:[])),m=class extends Error{nam" +
  "e=\"WireError\";code;requestId;constructor(e,r,n={}){super(U(r),n.cause===void 0?void 0:{cause:n.cause}),this.co" +
  "de=e,this.requestId=n.requestId}};var g=Object.freeze({cellBytes:4096,minCellBytes:1024,maxCellBytes:16384,pay" +
  "loadBytes:1048576,ciphertextBytes:1081344,keyPackageBytes:16384,commitBytes:262144,welcomeBytes:2097152,leafNo" +
  "deBytes:4096,creatorWelcomeBytes:1024,envelopeBytes:2490368,handshakeEnvelopeBytes:16384,cborDepth:6,cborItems" +
  ":32768,membersPerChannel:1e3,welcomesPerCommit:16,keyPackagesPerUpload:100,channelsPerPage:500,answersPerCommi" +
  "t:1e3,proofsPerCommit:128,ownersPerChannel:64,ownersChanges:64,ownersChangeBytes:2048,admissions:16,claimsForF" +
  "ounding:100,confirmationsPerPage:10,unconfirmedPerPage:40,featuresPerSession:64,identityBytes:256,tokenBytes:8" +
  "192,originBytes:300,sessionTokenBytes:64,errorTextBytes:1024,errorCodeBytes:64,nameComponentBytes:63,channelNa" +
  "meBytes:191,emailBytes:254,contentFieldsBytes:8192,contentTypeBytes:127,contentAddressees:64,conversationBytes" +
  ":128,contentHeaders:32,contentHeaderNameBytes:64,contentHeaderValueBytes:1024,contentErrorBytes:64,contentConf" +
  "irmationBytes:120,queueBytesPerChannel:67108864,queueAgeMs:6048e5,windowBytes:16777216,challengeMs:3e4,joinReq" +
  "uestMs:6e5,inviteUses:1e4,clockSkewMs:6e5,keyPackageLifetimeMs:864e7,minCoverIntervalMs:10,maxCoverIntervalMs:" +
  "36e5});var A=3,y=4,M=2,V={control:0,data:1};function I(t){if(!Number.isInteger(t)||t<g.minCellBytes||t>g.maxCe" +
  "llBytes)throw new m(\"protocol_error\",`A cell has ${g.minCellBytes} to ${g.maxCellBytes} bytes, not ${t}`);retu" +
  "rn t}function D(t){if(t===0||t>g.envelopeBytes)throw new m(\"payload_too_large\",`Cannot send an envelope of ${t" +
  "} bytes; 1 to ${g.envelopeBytes} are allowed`)}var P=class{#e;#r=[];#t=[];#n=[0,0];#o=0;constructor(e){this.#e" +
  "=I(e)}set cellBytes(e){if(this.#o>0)throw new TypeError(\"Cannot change the cell size while envelopes are waiti" +
  "ng\");this.#e=I(e)}get cellBytes(){return this.#e}get pendingBytes(){return this.#o}push(e,r){D(r.length),(e===" +
  "\"control\"?this.#r:this.#t).push(r),this.#o+=r.length+y}next(e){let r=this.#r.length>0?V.control:V.data,n=r===V" +
  ".control?this.#r:this.#t;if(n.length===0)return;let o=e?.length===this.#e?e:new Uint8Array(this.#e);return thi" +
  "s.#i(o,n,r),o}#i(e,r,n){let o=A,i=0,l=this.#n[n]??0;for(let u of r){if(l===0){if(e.length-o<=y)break;Qe(e,o,u." +
  "length),o+=y,l=y}let s=l-y,f=u.subarray(s,s+e.length-o);if(e.set(f,o),o+=f.length,l+=f.length,l-y<u.length)bre" +
  "ak;i++,l=0}let c=o-A;i===1?r.shift():r.splice(0,i),this.#n[n]=l,this.#o-=c,e[0]=n,e[1]=c>>8,e[2]=c&255,e.fill(" +
  "0,o)}};function J(t,e,r){let n=e+M;return t.set(r,n),t[e]=r.length>>8,t[e+1]=r.length&255,n+r.length}function " +
  "Qe(t,e,r){t[e]=r>>>24,t[e+1]=r>>>16,t[e+2]=r>>>8,t[e+3]=r}var Ve=64*1024,pe=.5,Je=2,T=class{#e;#r;#t=[];#n=0;#" +
  "o=0;#i=new Uint8Array(0);#a=\"off\";#s=0;#c;#u=0;#d=!0;#p=!1;#y=!1;#l=!1;#h=new Set;#f={cells:0,coverCells:0,cov" +
  "erBytes:0,paddingBytes:0};constructor(e){this.#e=e,this.#r=new P(e.cellBytes)}get pendingBytes(){return this.#" +
  "r.pendingBytes+this.#n+this.#o}get counts(){return{...this.#f}}push(e,r){this.#l||(this.#t.length===0?this.#r." +
  "push(e,r):(D(r.length),this.#t.push({lane:e,envelope:r}),this.#n+=r.length+y),this.#m())}setCellBytes(e){this." +
  "#t.push({cellBytes:I(e)}),this.#C()}configure(e,r){if(!this.#l){if(e!==\"off\"&&!(r>0))throw new RangeError(`Cov" +
  "er needs an interval above 0, not ${r}`);this.#c?.(),this.#c=void 0,this.#a=e,this.#s=r,this.#p=!1,this.#u=thi" +
  "s.#e.nowMs(),e!==\"off\"&&this.#A(),this.#m()}}setCovering(e){this.#d=e}flush(e){return this.#l?Promise.resolve(" +
  "this.pendingBytes===0):!this.#y&&this.pendingBytes===0?Promise.resolve(!0):new Promise(r=>{let n=i=>{this.#h.d" +
  "elete(n),o(),r(i)},o=this.#e.after(e,()=>n(!1));this.#h.add(n)})}stop(){this.#l=!0,this.#c?.(),this.#c=void 0," +
  "this.#i=new Uint8Array(0);for(let e of this.#h)e(!1)}#m(){this.#y||this.#l||!this.#b()||(this.#y=!0,this.#E())" +
  "}#b(){return this.#p||this.#a!==\"constant\"&&this.#r.pendingBytes>0}async#E(){await void 0;try{for(;!this.#l&&t" +
  "his.#b();){let e=this.#a===\"constant\"?this.#_():this.#k();if(await this.#e.write(e,this.#r.cellBytes),this.#o=" +
  "0,this.#l)break;this.#C(),this.#e.onWritten?.()}}catch(e){this.#o=0;let r=this.#l;this.stop(),r||this.#e.onFai" +
  "led?.(e)}this.#y=!1,this.#B()}#B(){if(!(this.#l||this.pendingBytes>0)){this.#i.length>Je*this.#r.cellBytes&&(t" +
  "his.#i=new Uint8Array(0));for(let e of this.#h)e(!0)}}#_(){this.#p=!1;let e=this.#g(1);return this.#x(e)?e:thi" +
  "s.#w(e)}#k(){let{cellBytes:e,pendingBytes:r}=this.#r;if(r===0)return this.#p=!1,this.#w(this.#g(1));let n=Math" +
  ".ceil(r/(e-A))+1,o=this.#g(Math.min(n,Math.max(1,Math.floor(Ve/e)))),i=0;for(;i<o.length&&this.#x(o.subarray(i" +
  ",i+e));)i+=e;return o.subarray(0,i)}#g(e){let r=e*this.#r.cellBytes;return this.#i.length<r&&(this.#i=new Uint" +
  "8Array(r)),this.#i.subarray(0,r)}#x(e){let r=this.#r.pendingBytes;if(this.#r.next(e)===void 0)return!1;let n=r" +
  "-this.#r.pendingBytes;return this.#o+=n,this.#f.cells++,this.#f.paddingBytes+=e.length-A-n,this.#v(e,A+n),!0}#" +
  "w(e){return this.#f.cells++,this.#f.coverCells++,this.#f.coverBytes+=e.length,this.#v(e.fill(0),A),e}#v(e,r){l" +
  "et{rider:n}=this.#e;if(n!==void 0)for(let o=r;e.length-o>M;){let i=n(e.length-o-M);if(i===void 0)return;o=J(e," +
  "o,i)}}#A(){let e=this.#e.nowMs();this.#c=this.#e.after(this.#a===\"poisson\"?this.#S():this.#U(e),()=>{this.#p=t" +
  "his.#d||this.#a===\"constant\"&&this.#r.pendingBytes>0,this.#A(),this.#m()})}#S(){return-Math.log(1-this.#e.rand" +
  "om())*this.#s}#U(e){this.#u=Ge(this.#u,this.#s,e);let r=this.#e.random()*pe*this.#s;return Math.max((1-pe)*thi" +
  "s.#s,this.#u-r-e)}#C(){for(;this.#r.pendingBytes===0&&this.#t.length>0;){let e=this.#t.findIndex((r,n)=>n>0&&\"" +
  "cellBytes\"in r);for(let r of this.#t.splice(0,e<0?this.#t.length:e))\"cellBytes\"in r?this.#r.cellBytes=r.cellBy" +
  "tes:(this.#n-=r.envelope.length+y,this.#r.push(r.lane,r.envelope))}}};function Ge(t,e,r){if(r<t-e)return r+e;l" +
  "et n=Math.max(0,Math.floor((r-t)/e));return t+(n+1)*e}async function G({body:t},e){let r=t?.getReader();if(r==" +
  "=void 0)return\"\";let n=new TextDecoder,o=\"\";try{for(let i=await r.read();i.value!==void 0;i=await r.read())if(" +
  "o+=n.decode(i.value,{stream:!0}),o.length>e)return;return o}finally{await r.cancel()}}var h=class extends Erro" +
  "r{name=\"StaticError\";code;retryable;retryAfterMs;epoch;channel;unreachable;members;constructor(e,r,n={}){super" +
  "(U(r),n.cause===void 0?void 0:{cause:n.cause}),this.code=e,this.retryable=n.retryable??E[e].retryable,this.ret" +
  "ryAfterMs=n.retryAfterMs,this.epoch=n.epoch,this.channel=n.channel,this.unreachable=n.unreachable,this.members" +
  "=n.members}},O=class extends h{name=\"TransportError\"},z=class extends O{name=\"UnavailableError\"},Z=class exten" +
  "ds O{name=\"InternalError\"},X=class extends h{name=\"AuthError\"},L=class extends h{name=\"ChannelError\"},Y=class " +
  "extends L{name=\"RemovedError\";by;atMs;constructor(e,r,n={}){super(e,r,n),this.by=n.by,this.atMs=n.atMs}},ee=cl" +
  "ass extends h{name=\"QuotaExceededError\"},re=class extends h{name=\"MlsError\"},te=class extends h{name=\"InvalidA" +
  "rgumentError\"},ne=class extends h{name=\"StoreError\"},oe=class extends h{name=\"RemoteError\";remoteCode;construc" +
  "tor(e,{remoteCode:r=\"failed\",...n}={}){super(\"remote_error\",e,n),this.remoteCode=r}};function b(t){return(e,r," +
  "n)=>new t(e,r,n)}var ze={TransportError:b(O),AuthError:b(X),ChannelError:b(L),QuotaExceededError:b(ee),MlsErro" +
  "r:b(re),InvalidArgumentError:b(te),StoreError:b(ne),UnavailableError:b(z),RemovedError:b(Y),RemoteError:(t,e,r" +
  ")=>new oe(e,r),InternalError:b(Z)};function R(t,e,r){return ze[E[t].errorClass](t,e,r)}function ye(t,e){return" +
  " e!==void 0&&B(e)?e:t===429?\"rate_limited\":t===503?\"overloaded\":void 0}function he({host:t,port:e}){return`${t" +
  ".includes(\":\")?`[${t}]`:t}:${e}`}var ge=2,_=5,Ze=64*1024,Xe=10,me=new TextDecoder;function be(t){let e=new Uin" +
  "t8Array(_+t.length);return er(e,1,t.length),e.set(t,_),e}function xe(t){let{value:e,end:r}=Ce(t,0,Xe);if(r!==t" +
  ".length)throw new m(\"protocol_error\",\"A cell's message holds more than a cell\");return e}function we(t,e,r){le" +
  "t[n,o]=[ie(10,t.length),ie(26,r.length)],i=new Uint8Array(9);return i[0]=17,new DataView(i.buffer).setBigUint6" +
  "4(1,BigInt(e),!0),H([n,t,i,o,r])}function ve(t){return H([ie(10,t.length),t])}function Ae(t){let e={code:\"\",me" +
  "ssage:\"\"};for(let{field:r,value:n}of Ye(t))r===4&&typeof n==\"number\"&&(e={...e,retryAfterMs:n}),typeof n!=\"num" +
  "ber\"&&(r===1&&(e={...e,code:me.decode(n)}),r===2&&(e={...e,message:me.decode(n)}));return e}var W=class{#e=new" +
  " Uint8Array(_);#r=0;#t=new Uint8Array(0);#n=0;read(e,r){let n=0;for(;n<e.length;){if(this.#r<_){let i=e.subarr" +
  "ay(n,n+_-this.#r);if(this.#e.set(i,this.#r),this.#r+=i.length,n+=i.length,this.#r<_)return;this.#o()}let o=e.s" +
  "ubarray(n,n+this.#t.length-this.#n);n+=o.length,o.length===this.#t.length?this.#i(o,r):(this.#t.set(o,this.#n)" +
  ",this.#n+=o.length,this.#n===this.#t.length&&this.#i(this.#t,r))}}#o(){let e=new DataView(this.#e.buffer).getU" +
  "int32(1);if(e===0||e>Ze)throw new m(\"protocol_error\",`A message of ${e} bytes where cells are expected`);this." +
  "#t.length!==e&&(this.#t=new Uint8Array(e)),this.#n=0}#i(e,r){this.#r=0,r(this.#e[0]??0,e)}};function H(t){let " +
  "e=new Uint8Array(t.reduce((n,{length:o})=>n+o,0)),r=0;for(let n of t)e.set(n,r),r+=n.length;return e}function " +
  "ie(t,e){let r=[t];for(let n=e;n>0||r.length===1;n>>>=7)r.push(n>127?n&127|128:n);return Uint8Array.from(r)}fun" +
  "ction Ce(t,e,r){if(t[e]!==r)throw new m(\"protocol_error\",\"A message without the field that it must have\");let{" +
  "value:n,end:o}=Ee(t,e+1);if(n>t.length-o)throw Be();return{value:t.subarray(o,o+n),end:o+n}}function*Ye(t){for" +
  "(let e=0;e<t.length;){let r=t[e]??0,{value:n,end:o}=(r&7)===0?Ee(t,e+1):Ce(t,e,r&-8|2);yield{field:r>>3,value:" +
  "n},e=o}}function Ee(t,e){let r=0;for(let[n,o]=[1,e];o<t.length&&n<2**63;n*=128){let i=t[o++]??0;if(r+=(i&127)*" +
  "n,i<128)return{value:r,end:o}}throw Be()}function Be(){return new m(\"protocol_error\",\"A field goes beyond the " +
  "end of its message\")}function er(t,e,r){new DataView(t.buffer,t.byteOffset).setUint32(e,r)}var rr=\"static.rela" +
  "y.v1.ErrorDetail\",tr=1024;function ae(t,e){let r=ir(t),{message:n,details:o}=se(r.error??r);for(let i of Array" +
  ".isArray(o)?o:[]){let{type:l,value:c}=se(i),u=l===rr&&typeof c==\"string\"?nr(()=>or(c)):void 0;if(u!==void 0)re" +
  "turn u}return{message:typeof n==\"string\"?n.slice(0,tr):e}}function _e(t,e,{message:r,...n}){let o=ye(t);if(o==" +
  "=void 0)return{message:r};if(n.code!==void 0)return{message:r,...n};let i=typeof e==\"string\"?Number(e)*1e3:NaN" +
  ";return{code:o,message:r,...i>=0&&{retryAfterMs:i}}}function nr(t){try{let{code:e,message:r,retryAfterMs:n}=Ae" +
  "(t());return B(e)?{code:e,message:r,retryAfterMs:n}:void 0}catch{return}}function or(t){return Uint8Array.from" +
  "(atob(t),e=>e.charCodeAt(0))}function ir(t){try{return se(JSON.parse(t))}catch{return{}}}function se(t){return" +
  " typeof t==\"object\"&&t!==null?t:{}}function k(t){let e=[];for(let r=t;r!==void 0&&e.length<3;r=r instanceof Er" +
  "ror?r.cause:void 0){let n=r instanceof Error?r.message:String(r);n!==\"\"&&!e.some(o=>o.includes(n))&&e.push(n)}" +
  "return e.join(\": \")}var sr=32,ar=1e3,dr=64*1024,lr={\"connect-protocol-version\":\"1\"};function Se(t){let{openHtt" +
  "p:e,unusable:r,randomBytes:n}=t;return{transport:\"cells\",carrier:\"tcp\",unusable:r,connect:(o,i)=>{let l=e(o.tr" +
  "ust),c=new AbortController;c.signal.addEventListener(\"abort\",()=>l.close());let u=cr(l,o,c.signal),s=n(sr),f=u" +
  "(\"CellDown\",\"application/connect+proto\",be(ve(s))),C=(w,N)=>u(\"CellUp\",\"application/proto\",we(s,w,N)),x=new de" +
  "(f,C,c,t);return i.aborted&&x.close(),Promise.resolve(x)}}}function cr(t,{host:e,port:r},n){let o=he({host:e,p" +
  "ort:r});return async(i,l,c)=>{let u=await t.request(`https://${o}/static.relay.v1.Relay/${i}`,{method:\"POST\",h" +
  "eaders:{...lr,\"content-type\":l},body:c,signal:n,redirect:\"error\",credentials:\"omit\",cache:\"no-store\"});if(u.st" +
  "atus===200)return u;let s=await G(u,dr)??\"\",f=ae(s,`The relay returned HTTP status ${u.status} for ${i}`),{cod" +
  "e:C,message:x,retryAfterMs:w}=_e(u.status,u.headers.get(\"retry-after\"),f);throw R(C??\"transport_error\",x,w===v" +
  "oid 0?{}:{retryAfterMs:w})}}var de=class{#e;#r;#t;#n;#o=new Set;#i=new W;#a=0;#s=()=>{};closed;constructor(e,r" +
  ",n,o){this.#e=e.then(i=>i.body?.getReader()),this.#e.catch(()=>{}),this.#r=r,this.#t=o,this.#n=n,this.closed=n" +
  "ew Promise(i=>this.#s=i)}async read(){try{for(;;){let e=await(await this.#e)?.read();if(e?.value===void 0)retu" +
  "rn this.#d({message:\"the connection was cut off\"});let{cells:r,end:n}=this.#u(e.value);if(n!==void 0&&this.#d(" +
  "n),r.length>0)return H(r);if(n!==void 0)return}}catch(e){return this.#d(ke(e))}}async write(e,r){for(let n=0;n" +
  "<e.length;n+=r){this.#n.signal.throwIfAborted();let o=this.#c(e.subarray(n,n+r)).finally(()=>this.#o.delete(o)" +
  ");this.#o.add(o),this.#o.size>=this.#t.callsAtOnce&&await Promise.race(this.#o)}this.#n.signal.throwIfAborted(" +
  ")}async#c(e){try{await(await this.#r(++this.#a,e)).arrayBuffer()}catch(r){this.#d(ke(r))}}close(){let e={messa" +
  "ge:\"it was closed by this side\"};if(this.#o.size===0)return this.#d(e);this.#s(e);let r=this.#t.after(ar,()=>t" +
  "his.#d(e));Promise.all(this.#o).then(()=>{r(),this.#d(e)})}#u(e){let r=[],n;return this.#i.read(e,(o,i)=>{o===" +
  "0?r.push(xe(i).slice()):n=o===ge?ur(i):{message:\"compressed cells were not asked for\"}}),{cells:r,end:n}}#d(e)" +
  "{this.#s(e),this.#n.abort(R(\"transport_error\",e.message))}};function ke(t){if(!(t instanceof h)||t.code===\"tra" +
  "nsport_error\")return{message:k(t)};let{code:e,message:r,retryAfterMs:n}=t;return{code:e,message:r,retryAfterMs" +
  ":n}}function ur(t){return ae(new TextDecoder().decode(t),\"the relay ended the stream\")}var K=class{#e=new Map;" +
  "#r;#t=1/0;#n=0;after(e,r){let n=Math.ceil((performance.now()+e)/250),o={run:r},i=this.#e.get(n);return i===voi" +
  "d 0?this.#e.set(n,new Set([o])):i.add(o),this.#n++,n<this.#t?this.#a(n):this.#n===1&&this.#i(!0),()=>{this.#o(" +
  "n,o)}}#o(e,r){let n=this.#e.get(e);return n===void 0||!n.delete(r)?!1:(n.size===0&&this.#e.delete(e),this.#n--" +
  ",this.#n===0&&this.#i(!1),!0)}#i(e){typeof this.#r==\"object\"&&(e?this.#r.ref():this.#r.unref())}#a(e){clearTim" +
  "eout(this.#r),this.#t=e;let r=Math.max(0,e*250-performance.now());this.#r=setTimeout(()=>this.#s(),Math.min(r," +
  "2147483647))}#s(){this.#r=void 0,this.#t=1/0;let e=performance.now(),r=1/0;for(let[n,o]of this.#e)if(n*250>e)r" +
  "=Math.min(r,n);else for(let i of o)queueMicrotask(()=>this.#o(n,i)&&i.run());r<1/0&&this.#a(r)}};function Ue()" +
  "{return Date.now()}var fr=5e3,pr=new K;function S(t,e){if(t>=fr)return pr.after(t,e);let r=setTimeout(e,t);ret" +
  "urn()=>clearTimeout(r)}function $(t){return crypto.getRandomValues(new Uint8Array(t))}var yr=2e4;function hr({" +
  "caCerts:t}){let{Deno:e}=globalThis,r={caCerts:t,http2:!1,poolIdleTimeout:yr},n=new Map([[\"\",e.createHttpClient" +
  "(r)]]),o=!0,i=l=>{let c=l.protocol===\"http:\"?l.host:\"\",u=n.get(c)??e.createHttpClient(c===\"\"?r:{...r,proxy:mr(" +
  "l)});return n.set(c,u),u};return{request:async(l,c)=>{if(!o)throw new Error(\"These connections were closed\");r" +
  "eturn await fetch(l,Object.assign({},c,{client:i(new URL(l))}))},close:()=>{o=!1;for(let l of n.values())l.clo" +
  "se();n.clear()}}}function mr({hostname:t,port:e}){return{transport:\"tcp\",hostname:t,port:e===\"\"?80:Number(e)}}" +
  "var gr=4,Pe=Se({openHttp:hr,unusable:br,randomBytes:$,callsAtOnce:gr,after:S});function br({certificateHashes:" +
  "t}){return t.length>0?\"Deno can check tls.certificateHashes only over QUIC\":void 0}var xr=1500,wr=64*1024;func" +
  "tion Me(t){let e=t.readable.getReader({mode:\"byob\"}),r=t.writable.getWriter();r.closed.catch(()=>{});let n=new" +
  " ArrayBuffer(wr),o=()=>{},i=new Promise(s=>o=s),l,c=s=>{l?.(),o(s)};t.closed.then(({closeCode:s=0})=>c(F(s)),s" +
  "=>c({message:k(s)}));let u=()=>{r.close().catch(()=>{}),l??=t.after(xr,()=>{t.close(0),o({message:\"the relay e" +
  "nded the stream\"})})};return{read:async()=>{try{let{value:s}=await e.read(new Uint8Array(n));if(s!==void 0&&s." +
  "length>0)return n=s.buffer,s}catch{}u()},write:async s=>{try{await r.write(s)}catch(f){throw u(),f}},close:s=>" +
  "{o({message:\"it was closed by this side\"}),s===0?u():t.close(s)},closed:i}}function F(t){let e=Q(t);return e==" +
  "=void 0?{message:\"the relay closed the connection\"}:{code:e,message:`the relay closed the connection with ${e}" +
  "`}}var vr=\"static-relay/1\",Ar={maxIdleTimeout:1e4},Cr=\"low-latency\",Oe={transport:\"quic\",carrier:\"udp\",unusabl" +
  "e:()=>Te()===void 0?\"Deno offers QUIC only with --unstable-net\":void 0,connect:async({host:t,port:e,trust:r},n" +
  ")=>{let o=Te();if(o===void 0)throw new Error(\"Deno offers QUIC only with --unstable-net\");n.throwIfAborted();l" +
  "et i=r.certificateHashes.map(s=>({algorithm:\"sha-256\",value:s})),l=Br(o),c=s=>l.close({closeCode:s,reason:\"\"})" +
  ",u=()=>c(0);n.addEventListener(\"abort\",u);try{let s=await o.connectQuic({hostname:t,port:e,alpnProtocols:[vr]," +
  "caCerts:r.caCerts,...i.length>0&&{serverCertificateHashes:i},endpoint:l,...Ar,congestionControl:Cr}),{readable" +
  ":f,writable:C}=await s.createBidirectionalStream().catch(w=>Er(s,w)),x=s.closed.finally(()=>c(0));return Me({r" +
  "eadable:f,writable:C,closed:x,close:c,after:S})}catch(s){throw c(0),n.aborted?n.reason:s}finally{n.removeEvent" +
  "Listener(\"abort\",u)}}};async function Er({closed:t},e){let{code:r,message:n}=await t.then(({closeCode:o})=>F(o" +
  "),()=>F(0));throw r===void 0?e:R(r,n)}function Br({QuicEndpoint:t}){try{return new t({hostname:\"::\"})}catch{re" +
  "turn new t({hostname:\"0.0.0.0\"})}}function Te(){let{Deno:t}=globalThis;return t?.connectQuic===void 0?void 0:t" +
  "}var q=class{#e=new Map;offer(e,r){this.#e.delete(e),this.#e.set(e,r)}take(e){for(let[r,n]of this.#e)if(!(n.le" +
  "ngth>e))return this.#e.delete(r),n}};var _r=2e3;function Re(t,e){let r,n,o=0,i=new q,l=s=>{t.post({kind:\"writt" +
  "en\",takenBytes:o-s.pendingBytes,counts:s.counts})},c=async({transport:s,target:f,isTapped:C})=>{let x=e.connec" +
  "tors.find(v=>v.transport===s);if(x===void 0)throw new Error(`no way to connect by ${s} in a thread of its own`" +
  ");let w=r=await x.connect(f,new AbortController().signal),N=n=new T({cellBytes:g.cellBytes,write:(v,le)=>(C&&t" +
  ".post({kind:\"sent\",cells:v.slice(),cellBytes:le}),w.write(v,le)),after:e.after,nowMs:e.nowMs,random:()=>new Da" +
  "taView(e.randomBytes(4).buffer).getUint32(0)/2**32,rider:v=>i.take(v),onWritten:()=>l(N),onFailed:()=>t.post({" +
  "kind:\"failed\"})});w.closed.then(v=>t.post({kind:\"closed\",end:v})),t.post({kind:\"connected\"})},u=async()=>{let " +
  "s=await r?.read();t.post({kind:\"chunk\",bytes:s?.slice()})};t.listen(s=>{switch(s.kind){case\"connect\":return vo" +
  "id c(s).catch(f=>t.post({kind:\"refused\",message:k(f)}));case\"push\":return o+=s.envelope.length+y,n?.push(s.lan" +
  "e,s.envelope);case\"offer\":return i.offer(s.key,s.envelope);case\"cellBytes\":return n?.setCellBytes(s.cellBytes)" +
  ";case\"configure\":return n?.configure(s.mode,s.intervalMs);case\"covering\":return n?.setCovering(s.covering);cas" +
  "e\"flush\":return void n?.flush(s.timeoutMs).then(f=>{t.post({kind:\"flushed\",id:s.id,flushed:f})});case\"read\":re" +
  "turn void u();case\"stop\":return n?.stop();case\"close\":return r?.close(s.closeCode),void e.after(_r,e.exit)}})}" +
  "function Ie(t){let e=globalThis;Re({post:r=>e.postMessage(r),listen:r=>{e.onmessage=({data:n})=>r(n)}},{connec" +
  "tors:t,nowMs:Ue,after:S,randomBytes:$,exit:()=>e.close()})}Ie([Oe,Pe]);\n";
