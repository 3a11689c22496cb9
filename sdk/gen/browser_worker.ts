/** Built from sdk/platform/browser_worker.ts by tools/generate_workers.ts; do not edit. */
export const source =
  "var i={invalidArgument:3,deadlineExceeded:4,notFound:5,alreadyExists:6,permissionDenied:7,resourceExhausted:8," +
  "failedPrecondition:9,aborted:10,outOfRange:11,unimplemented:12,internal:13,unavailable:14,unauthenticated:16}," +
  "d=(t,e,r,n)=>({http:t,grpc:e,close:r,errorClass:n,retryable:!1}),h=(...t)=>({...d(...t),retryable:!0}),C={join" +
  "_timeout:h(504,i.deadlineExceeded,257,\"TransportError\"),auth_failed:d(401,i.unauthenticated,258,\"AuthError\"),a" +
  "uth_key_invalid:d(401,i.unauthenticated,259,\"AuthError\"),transport_error:h(502,i.unavailable,260,\"TransportErr" +
  "or\"),connection_error:h(502,i.unavailable,261,\"TransportError\"),listener_died:d(500,i.internal,262,\"TransportE" +
  "rror\"),channel_error:d(400,i.invalidArgument,263,\"ChannelError\"),quota_exceeded:d(429,i.resourceExhausted,264," +
  "\"QuotaExceededError\"),mls_error:d(409,i.failedPrecondition,265,\"MlsError\"),invalid_request:d(400,i.invalidArgu" +
  "ment,272,\"InvalidArgumentError\"),not_found:d(404,i.notFound,273,\"ChannelError\"),method_not_allowed:d(405,i.uni" +
  "mplemented,274,\"InvalidArgumentError\"),payload_too_large:d(413,i.outOfRange,275,\"InvalidArgumentError\"),unsupp" +
  "orted_media_type:d(415,i.invalidArgument,276,\"InvalidArgumentError\"),rate_limited:h(429,i.resourceExhausted,27" +
  "7,\"UnavailableError\"),internal:d(500,i.internal,278,\"InternalError\"),overloaded:h(503,i.unavailable,279,\"Unava" +
  "ilableError\"),email_taken:d(409,i.alreadyExists,288,\"AuthError\"),key_limit_reached:d(409,i.resourceExhausted,2" +
  "89,\"AuthError\"),account_suspended:d(403,i.permissionDenied,290,\"AuthError\"),conflict:d(409,i.aborted,291,\"Auth" +
  "Error\"),code_invalid:d(400,i.invalidArgument,292,\"AuthError\"),csrf_failed:d(403,i.permissionDenied,293,\"AuthEr" +
  "ror\"),protocol_error:d(400,i.invalidArgument,304,\"TransportError\"),unsupported_version:d(400,i.failedPrecondit" +
  "ion,305,\"TransportError\"),unknown_operation:d(404,i.unimplemented,306,\"TransportError\"),session_expired:d(401," +
  "i.unauthenticated,307,\"AuthError\"),session_replaced:d(409,i.aborted,308,\"TransportError\"),slow_reader:h(429,i." +
  "resourceExhausted,309,\"UnavailableError\"),relay_draining:h(503,i.unavailable,310,\"UnavailableError\"),name_take" +
  "n:d(409,i.alreadyExists,320,\"ChannelError\"),epoch_conflict:h(409,i.aborted,321,\"MlsError\"),not_allowed:d(403,i" +
  ".permissionDenied,322,\"ChannelError\"),member_limit_reached:d(409,i.resourceExhausted,323,\"ChannelError\"),alrea" +
  "dy_member:d(409,i.alreadyExists,324,\"ChannelError\"),queue_full:h(429,i.resourceExhausted,325,\"ChannelError\"),c" +
  "ursor_invalid:d(416,i.outOfRange,326,\"ChannelError\"),key_package_invalid:d(400,i.invalidArgument,327,\"MlsError" +
  "\"),key_package_missing:h(404,i.failedPrecondition,328,\"MlsError\"),join_rejected:d(403,i.permissionDenied,329,\"" +
  "ChannelError\"),membership_lapsed:d(410,i.failedPrecondition,330,\"ChannelError\"),state_conflict:d(409,i.failedP" +
  "recondition,331,\"MlsError\"),storage_full:h(507,i.resourceExhausted,332,\"ChannelError\"),removed:d(410,i.failedP" +
  "recondition,355,\"RemovedError\"),content_invalid:d(400,i.invalidArgument,352,\"ChannelError\"),request_timeout:h(" +
  "504,i.deadlineExceeded,353,\"TransportError\"),remote_error:d(502,i.aborted,354,\"RemoteError\"),store_locked:h(40" +
  "9,i.failedPrecondition,336,\"StoreError\"),store_corrupt:d(500,i.internal,337,\"StoreError\"),store_failed:d(500,i" +
  ".internal,339,\"StoreError\"),passphrase_wrong:d(401,i.unauthenticated,338,\"StoreError\")};function k(t){return O" +
  "bject.hasOwn(C,t)}function D(t){return Ae.get(t)}var Ae=new Map(Object.entries(C).flatMap(([t,{close:e}])=>k(t" +
  ")?[[e,t]]:[])),f=class extends Error{name=\"WireError\";code;requestId;constructor(e,r,n={}){super(r,n.cause===v" +
  "oid 0?void 0:{cause:n.cause}),this.code=e,this.requestId=n.requestId}};var m=Object.freeze({cellBytes:4096,min" +
  "CellBytes:1024,maxCellBytes:16384,payloadBytes:1048576,ciphertextBytes:1081344,keyPackageBytes:16384,commitByt" +
  "es:262144,welcomeBytes:2097152,leafNodeBytes:4096,creatorWelcomeBytes:1024,envelopeBytes:2490368,handshakeEnve" +
  "lopeBytes:16384,cborDepth:6,cborItems:32768,membersPerChannel:1e3,welcomesPerCommit:16,keyPackagesPerUpload:10" +
  "0,channelsPerPage:500,answersPerCommit:1e3,proofsPerCommit:128,ownersPerChannel:64,ownersChanges:64,ownersChan" +
  "geBytes:2048,claimsForFounding:100,confirmationsPerPage:10,unconfirmedPerPage:40,featuresPerSession:64,identit" +
  "yBytes:256,tokenBytes:8192,originBytes:300,sessionTokenBytes:64,errorTextBytes:1024,errorCodeBytes:64,nameComp" +
  "onentBytes:63,channelNameBytes:191,emailBytes:254,contentFieldsBytes:8192,contentTypeBytes:127,contentAddresse" +
  "es:64,conversationBytes:128,contentHeaders:32,contentHeaderNameBytes:64,contentHeaderValueBytes:1024,contentEr" +
  "rorBytes:64,contentConfirmationBytes:120,queueBytesPerChannel:67108864,queueAgeMs:6048e5,windowBytes:16777216," +
  "challengeMs:3e4,joinRequestMs:6e5,inviteUses:1e4,clockSkewMs:6e5,keyPackageLifetimeMs:864e7,minCoverIntervalMs" +
  ":10,maxCoverIntervalMs:36e5});var v=3,p=4,S=2,H={control:0,data:1};function M(t){if(!Number.isInteger(t)||t<m." +
  "minCellBytes||t>m.maxCellBytes)throw new f(\"protocol_error\",`A cell has ${m.minCellBytes} to ${m.maxCellBytes}" +
  " bytes, not ${t}`);return t}function R(t){if(t===0||t>m.envelopeBytes)throw new f(\"payload_too_large\",`Cannot " +
  "send an envelope of ${t} bytes; 1 to ${m.envelopeBytes} are allowed`)}var U=class{#e;#r=[];#t=[];#o=[0,0];#n=0" +
  ";constructor(e){this.#e=M(e)}set cellBytes(e){if(this.#n>0)throw new TypeError(\"Cannot change the cell size wh" +
  "ile envelopes are waiting\");this.#e=M(e)}get cellBytes(){return this.#e}get pendingBytes(){return this.#n}push" +
  "(e,r){R(r.length),(e===\"control\"?this.#r:this.#t).push(r),this.#n+=r.length+p}next(e){let r=this.#r.length>0?H" +
  ".control:H.data,n=r===H.control?this.#r:this.#t;if(n.length===0)return;let o=e?.length===this.#e?e:new Uint8Ar" +
  "ray(this.#e);return this.#s(o,n,r),o}#s(e,r,n){let o=v,a=0,l=this.#o[n]??0;for(let c of r){if(l===0){if(e.leng" +
  "th-o<=p)break;Ce(e,o,c.length),o+=p,l=p}let s=l-p,y=c.subarray(s,s+e.length-o);if(e.set(y,o),o+=y.length,l+=y." +
  "length,l-p<c.length)break;a++,l=0}let u=o-v;a===1?r.shift():r.splice(0,a),this.#o[n]=l,this.#n-=u,e[0]=n,e[1]=" +
  "u>>8,e[2]=u&255,e.fill(0,o)}};function $(t,e,r){let n=e+S;return t.set(r,n),t[e]=r.length>>8,t[e+1]=r.length&2" +
  "55,n+r.length}function Ce(t,e,r){t[e]=r>>>24,t[e+1]=r>>>16,t[e+2]=r>>>8,t[e+3]=r}var Ee=64*1024,ae=.5,Be=2,P=c" +
  "lass{#e;#r;#t=[];#o=0;#n=0;#s=new Uint8Array(0);#l=\"off\";#i=0;#c;#u=0;#a=!0;#h=!1;#p=!1;#d=!1;#f=new Set;#y={c" +
  "ells:0,coverCells:0,coverBytes:0,paddingBytes:0};constructor(e){this.#e=e,this.#r=new U(e.cellBytes)}get pendi" +
  "ngBytes(){return this.#r.pendingBytes+this.#o+this.#n}get counts(){return{...this.#y}}push(e,r){this.#d||(this" +
  ".#t.length===0?this.#r.push(e,r):(R(r.length),this.#t.push({lane:e,envelope:r}),this.#o+=r.length+p),this.#m()" +
  ")}setCellBytes(e){this.#t.push({cellBytes:M(e)}),this.#C()}configure(e,r){if(!this.#d){if(e!==\"off\"&&!(r>0))th" +
  "row new RangeError(`Cover needs an interval above 0, not ${r}`);this.#c?.(),this.#c=void 0,this.#l=e,this.#i=r" +
  ",this.#h=!1,this.#u=this.#e.nowMs(),e!==\"off\"&&this.#A(),this.#m()}}setCovering(e){this.#a=e}flush(e){return t" +
  "his.#d?Promise.resolve(this.pendingBytes===0):!this.#p&&this.pendingBytes===0?Promise.resolve(!0):new Promise(" +
  "r=>{let n=a=>{this.#f.delete(n),o(),r(a)},o=this.#e.after(e,()=>n(!1));this.#f.add(n)})}stop(){this.#d=!0,this" +
  ".#c?.(),this.#c=void 0,this.#s=new Uint8Array(0);for(let e of this.#f)e(!1)}#m(){this.#p||this.#d||!this.#b()|" +
  "|(this.#p=!0,this.#E())}#b(){return this.#h||this.#l!==\"constant\"&&this.#r.pendingBytes>0}async#E(){await void" +
  " 0;try{for(;!this.#d&&this.#b();){let e=this.#l===\"constant\"?this.#_():this.#k();if(await this.#e.write(e,this" +
  ".#r.cellBytes),this.#n=0,this.#d)break;this.#C(),this.#e.onWritten?.()}}catch(e){this.#n=0;let r=this.#d;this." +
  "stop(),r||this.#e.onFailed?.(e)}this.#p=!1,this.#B()}#B(){if(!(this.#d||this.pendingBytes>0)){this.#s.length>B" +
  "e*this.#r.cellBytes&&(this.#s=new Uint8Array(0));for(let e of this.#f)e(!0)}}#_(){this.#h=!1;let e=this.#g(1);" +
  "return this.#x(e)?e:this.#w(e)}#k(){let{cellBytes:e,pendingBytes:r}=this.#r;if(r===0)return this.#h=!1,this.#w" +
  "(this.#g(1));let n=Math.ceil(r/(e-v))+1,o=this.#g(Math.min(n,Math.max(1,Math.floor(Ee/e)))),a=0;for(;a<o.lengt" +
  "h&&this.#x(o.subarray(a,a+e));)a+=e;return o.subarray(0,a)}#g(e){let r=e*this.#r.cellBytes;return this.#s.leng" +
  "th<r&&(this.#s=new Uint8Array(r)),this.#s.subarray(0,r)}#x(e){let r=this.#r.pendingBytes;if(this.#r.next(e)===" +
  "void 0)return!1;let n=r-this.#r.pendingBytes;return this.#n+=n,this.#y.cells++,this.#y.paddingBytes+=e.length-" +
  "v-n,this.#v(e,v+n),!0}#w(e){return this.#y.cells++,this.#y.coverCells++,this.#y.coverBytes+=e.length,this.#v(e" +
  ".fill(0),v),e}#v(e,r){let{rider:n}=this.#e;if(n!==void 0)for(let o=r;e.length-o>S;){let a=n(e.length-o-S);if(a" +
  "===void 0)return;o=$(e,o,a)}}#A(){let e=this.#e.nowMs();this.#c=this.#e.after(this.#l===\"poisson\"?this.#U():th" +
  "is.#S(e),()=>{this.#h=this.#a||this.#l===\"constant\"&&this.#r.pendingBytes>0,this.#A(),this.#m()})}#U(){return-" +
  "Math.log(1-this.#e.random())*this.#i}#S(e){this.#u=_e(this.#u,this.#i,e);let r=this.#e.random()*ae*this.#i;ret" +
  "urn Math.max((1-ae)*this.#i,this.#u-r-e)}#C(){for(;this.#r.pendingBytes===0&&this.#t.length>0;){let e=this.#t." +
  "findIndex((r,n)=>n>0&&\"cellBytes\"in r);for(let r of this.#t.splice(0,e<0?this.#t.length:e))\"cellBytes\"in r?thi" +
  "s.#r.cellBytes=r.cellBytes:(this.#o-=r.envelope.length+p,this.#r.push(r.lane,r.envelope))}}};function _e(t,e,r" +
  "){if(r<t-e)return r+e;let n=Math.max(0,Math.floor((r-t)/e));return t+(n+1)*e}async function q({body:t},e){let " +
  "r=t?.getReader();if(r===void 0)return\"\";let n=new TextDecoder,o=\"\";try{for(let a=await r.read();a.value!==void" +
  " 0;a=await r.read())if(o+=n.decode(a.value,{stream:!0}),o.length>e)return;return o}finally{await r.cancel()}}v" +
  "ar b=class extends Error{name=\"StaticError\";code;retryable;retryAfterMs;epoch;channel;unreachable;constructor(" +
  "e,r,n={}){super(r,n.cause===void 0?void 0:{cause:n.cause}),this.code=e,this.retryable=n.retryable??C[e].retrya" +
  "ble,this.retryAfterMs=n.retryAfterMs,this.epoch=n.epoch,this.channel=n.channel,this.unreachable=n.unreachable}" +
  "},T=class extends b{name=\"TransportError\"},N=class extends T{name=\"UnavailableError\"},j=class extends T{name=\"" +
  "InternalError\"},V=class extends b{name=\"AuthError\"},O=class extends b{name=\"ChannelError\"},z=class extends O{n" +
  "ame=\"RemovedError\";by;atMs;constructor(e,r,n={}){super(e,r,n),this.by=n.by,this.atMs=n.atMs}},J=class extends " +
  "b{name=\"QuotaExceededError\"},G=class extends b{name=\"MlsError\"},Q=class extends b{name=\"InvalidArgumentError\"}" +
  ",X=class extends b{name=\"StoreError\"},Y=class extends b{name=\"RemoteError\";remoteCode;constructor(e,{remoteCod" +
  "e:r=\"failed\",...n}={}){super(\"remote_error\",e,n),this.remoteCode=r}};function g(t){return(e,r,n)=>new t(e,r,n)" +
  "}var ke={TransportError:g(T),AuthError:g(V),ChannelError:g(O),QuotaExceededError:g(J),MlsError:g(G),InvalidArg" +
  "umentError:g(Q),StoreError:g(X),UnavailableError:g(N),RemovedError:g(z),RemoteError:(t,e,r)=>new Y(e,r),Intern" +
  "alError:g(j)};function Z(t,e,r){return ke[C[t].errorClass](t,e,r)}var ie=2,E=5,Ue=64*1024,Se=10;function de(t)" +
  "{let e=new Uint8Array(E+t.length);return Pe(e,1,t.length),e.set(t,E),e}function le(t){let{value:e,end:r}=re(t," +
  "0,Se);if(r!==t.length)throw new f(\"protocol_error\",\"A cell's message holds more than a cell\");return e}functio" +
  "n ce(t,e,r){let[n,o]=[ee(10,t.length),ee(26,r.length)],a=new Uint8Array(9);return a[0]=17,new DataView(a.buffe" +
  "r).setBigUint64(1,BigInt(e),!0),I([n,t,a,o,r])}function ue(t){return I([ee(10,t.length),t])}function ye(t){let" +
  " e=new TextDecoder,r=re(t,0,10);return r.end===t.length?{code:e.decode(r.value),message:\"\"}:{code:e.decode(r.v" +
  "alue),message:e.decode(re(t,r.end,18).value)}}var W=class{#e=new Uint8Array(E);#r=0;#t=new Uint8Array(0);#o=0;" +
  "read(e,r){let n=0;for(;n<e.length;){if(this.#r<E){let a=e.subarray(n,n+E-this.#r);if(this.#e.set(a,this.#r),th" +
  "is.#r+=a.length,n+=a.length,this.#r<E)return;this.#n()}let o=e.subarray(n,n+this.#t.length-this.#o);n+=o.lengt" +
  "h,o.length===this.#t.length?this.#s(o,r):(this.#t.set(o,this.#o),this.#o+=o.length,this.#o===this.#t.length&&t" +
  "his.#s(this.#t,r))}}#n(){let e=new DataView(this.#e.buffer).getUint32(1);if(e===0||e>Ue)throw new f(\"protocol_" +
  "error\",`A message of ${e} bytes where cells are expected`);this.#t.length!==e&&(this.#t=new Uint8Array(e)),thi" +
  "s.#o=0}#s(e,r){this.#r=0,r(this.#e[0]??0,e)}};function I(t){let e=new Uint8Array(t.reduce((n,{length:o})=>n+o," +
  "0)),r=0;for(let n of t)e.set(n,r),r+=n.length;return e}function ee(t,e){let r=[t];for(let n=e;n>0||r.length===" +
  "1;n>>>=7)r.push(n>127?n&127|128:n);return Uint8Array.from(r)}function re(t,e,r){if(t[e]!==r)throw new f(\"proto" +
  "col_error\",\"A message without the field that it must have\");let[n,o]=[0,e+1];for(let a=1;a<=2**14;a*=128){let " +
  "l=t[o++]??0;if(n+=(l&127)*a,l<128){if(n>t.length-o)break;return{value:t.subarray(o,o+n),end:o+n}}}throw new f(" +
  "\"protocol_error\",\"A field goes beyond the end of its message\")}function Pe(t,e,r){new DataView(t.buffer,t.byte" +
  "Offset).setUint32(e,r)}var Te=\"static.relay.v1.ErrorDetail\";function ne(t,e){let r=Me(t),{message:n,details:o}" +
  "=te(r.error??r);for(let a of Array.isArray(o)?o:[]){let{type:l,value:u}=te(a);if(!(l!==Te||typeof u!=\"string\")" +
  ")try{let c=ye(Uint8Array.from(atob(u),s=>s.charCodeAt(0)));if(k(c.code))return{code:c.code,message:c.message}}" +
  "catch{}}return{message:typeof n==\"string\"?n.slice(0,1024):e}}function Me(t){try{return te(JSON.parse(t))}catch" +
  "{return{}}}function te(t){return typeof t==\"object\"&&t!==null?t:{}}function A(t){let e=[];for(let r=t;r!==void" +
  " 0&&e.length<3;r=r instanceof Error?r.cause:void 0){let n=r instanceof Error?r.message:String(r);n!==\"\"&&!e.so" +
  "me(o=>o.includes(n))&&e.push(n)}return e.join(\": \")}var Re=32,Oe=1e3,We=64*1024,Ie={\"connect-protocol-version\"" +
  ":\"1\"};function he(t){let{openHttp:e,unusable:r,randomBytes:n}=t;return{transport:\"cells\",carrier:\"tcp\",unusabl" +
  "e:r,connect:(o,a)=>{let l=e(o.trust),u=new AbortController;u.signal.addEventListener(\"abort\",()=>l.close());le" +
  "t c=Ke(l,o,u.signal),s=n(Re),y=c(\"CellDown\",\"application/connect+proto\",de(ue(s))),w=(F,x)=>c(\"CellUp\",\"applic" +
  "ation/proto\",ce(s,F,x)),_=new oe(y,w,u,t);return a.aborted&&_.close(),Promise.resolve(_)}}}function Ke(t,{host" +
  ":e,port:r},n){let o=`${e.includes(\":\")?`[${e}]`:e}:${r}`;return async(a,l,u)=>{let c=await t.request(`https://" +
  "${o}/static.relay.v1.Relay/${a}`,{method:\"POST\",headers:{...Ie,\"content-type\":l},body:u,signal:n,redirect:\"err" +
  "or\",credentials:\"omit\",cache:\"no-store\"});if(c.status===200)return c;let s=await q(c,We)??\"\",{code:y,message:w" +
  "}=ne(s,`${a} was answered ${c.status}`);throw Z(y??\"transport_error\",w)}}var oe=class{#e;#r;#t;#o;#n=new Set;#" +
  "s=new W;#l=0;#i=()=>{};closed;constructor(e,r,n,o){this.#e=e.then(a=>a.body?.getReader()),this.#e.catch(()=>{}" +
  "),this.#r=r,this.#t=o,this.#o=n,this.closed=new Promise(a=>this.#i=a)}async read(){try{for(;;){let e=await(awa" +
  "it this.#e)?.read();if(e?.value===void 0)return this.#a({message:\"the connection was cut off\"});let{cells:r,en" +
  "d:n}=this.#u(e.value);if(n!==void 0&&this.#a(n),r.length>0)return I(r);if(n!==void 0)return}}catch(e){return t" +
  "his.#a({message:A(e)})}}async write(e,r){for(let n=0;n<e.length;n+=r){this.#o.signal.throwIfAborted();let o=th" +
  "is.#c(e.subarray(n,n+r)).finally(()=>this.#n.delete(o));this.#n.add(o),this.#n.size>=this.#t.callsAtOnce&&awai" +
  "t Promise.race(this.#n)}this.#o.signal.throwIfAborted()}async#c(e){try{await(await this.#r(++this.#l,e)).array" +
  "Buffer()}catch(r){this.#a({message:A(r)})}}close(){let e={message:\"it was closed by this side\"};if(this.#n.siz" +
  "e===0)return this.#a(e);this.#i(e);let r=this.#t.after(Oe,()=>this.#a(e));Promise.all(this.#n).then(()=>{r(),t" +
  "his.#a(e)})}#u(e){let r=[],n;return this.#s.read(e,(o,a)=>{o===0?r.push(le(a).slice()):n=o===ie?Le(a):{message" +
  ":\"compressed cells were not asked for\"}}),{cells:r,end:n}}#a(e){this.#i(e),this.#o.abort(Z(\"transport_error\",e" +
  ".message))}};function Le(t){return ne(new TextDecoder().decode(t),\"the relay ended the stream\")}function pe(){" +
  "return Date.now()}var se=2**31-1;function B(t,e){let r=o=>o>se?setTimeout(()=>n=r(o-se),se):setTimeout(e,o),n=" +
  "r(t);return()=>clearTimeout(n)}function K(t){return crypto.getRandomValues(new Uint8Array(t))}function Fe(){re" +
  "turn{request:(t,e)=>fetch(t,e),close:()=>{}}}var De=16,fe=he({openHttp:Fe,unusable:He,randomBytes:K,callsAtOnc" +
  "e:De,after:B});function He({caCerts:t,certificateHashes:e}){return t.length>0||e.length>0?\"a browser's fetch t" +
  "rusts only what the browser trusts; tls options do not apply\":void 0}var $e=1500,qe=64*1024;function me(t){let" +
  " e=t.readable.getReader({mode:\"byob\"}),r=t.writable.getWriter();r.closed.catch(()=>{});let n=new ArrayBuffer(q" +
  "e),o=()=>{},a=new Promise(s=>o=s),l,u=s=>{l?.(),o(s)};t.closed.then(({closeCode:s=0})=>u(Ne(s)),s=>u({message:" +
  "A(s)}));let c=()=>{r.close().catch(()=>{}),l??=t.after($e,()=>{t.close(0),o({message:\"the relay ended the stre" +
  "am\"})})};return{read:async()=>{try{let{value:s}=await e.read(new Uint8Array(n));if(s!==void 0&&s.length>0)retu" +
  "rn n=s.buffer,s}catch{}c()},write:async s=>{try{await r.write(s)}catch(y){throw c(),y}},close:s=>{o({message:\"" +
  "it was closed by this side\"}),s===0?c():t.close(s)},closed:a}}function Ne(t){let e=D(t);return e===void 0?{mes" +
  "sage:\"the relay closed the connection\"}:{code:e,message:`the relay closed the connection with ${e}`}}var be={t" +
  "ransport:\"webtransport\",carrier:\"udp\",unusable:({caCerts:t})=>ge()===void 0?\"this browser has no WebTransport\"" +
  ":t.length>0?\"a browser takes no certificates; give tls.certificateHashes\":void 0,connect:async({host:t,port:e," +
  "trust:r},n)=>{let o=ge();if(o===void 0)throw new Error(\"this browser has no WebTransport\");n.throwIfAborted();" +
  "let a=r.certificateHashes.map(y=>({algorithm:\"sha-256\",value:y})),l=`${t.includes(\":\")?`[${t}]`:t}:${e}`,u=new" +
  " o(`https://${l}/`,{...a.length>0&&{serverCertificateHashes:a}});u.closed.catch(()=>{});let c=y=>u.close({clos" +
  "eCode:y}),s=()=>c(0);n.addEventListener(\"abort\",s);try{await u.ready;let{readable:y,writable:w}=await u.create" +
  "BidirectionalStream();return me({readable:y,writable:w,closed:u.closed,close:c,after:B})}catch(y){throw n.abor" +
  "ted?n.reason:y}finally{n.removeEventListener(\"abort\",s)}}};function ge(){return globalThis.WebTransport}var L=" +
  "class{#e=new Map;offer(e,r){this.#e.delete(e),this.#e.set(e,r)}take(e){for(let[r,n]of this.#e)if(!(n.length>e)" +
  ")return this.#e.delete(r),n}};var je=2e3;function xe(t,e){let r,n,o=0,a=new L,l=s=>{t.post({kind:\"written\",tak" +
  "enBytes:o-s.pendingBytes,counts:s.counts})},u=async({transport:s,target:y})=>{let w=e.connectors.find(x=>x.tra" +
  "nsport===s);if(w===void 0)throw new Error(`no way to connect by ${s} in a thread of its own`);let _=r=await w." +
  "connect(y,new AbortController().signal),F=n=new P({cellBytes:m.cellBytes,write:(x,ve)=>_.write(x,ve),after:e.a" +
  "fter,nowMs:e.nowMs,random:()=>new DataView(e.randomBytes(4).buffer).getUint32(0)/2**32,rider:x=>a.take(x),onWr" +
  "itten:()=>l(F),onFailed:()=>t.post({kind:\"failed\"})});_.closed.then(x=>t.post({kind:\"closed\",end:x})),t.post({" +
  "kind:\"connected\"})},c=async()=>{let s=await r?.read();t.post({kind:\"chunk\",bytes:s?.slice()})};t.listen(s=>{sw" +
  "itch(s.kind){case\"connect\":return void u(s).catch(y=>t.post({kind:\"refused\",message:A(y)}));case\"push\":return " +
  "o+=s.envelope.length+p,n?.push(s.lane,s.envelope);case\"offer\":return a.offer(s.key,s.envelope);case\"cellBytes\"" +
  ":return n?.setCellBytes(s.cellBytes);case\"configure\":return n?.configure(s.mode,s.intervalMs);case\"covering\":r" +
  "eturn n?.setCovering(s.covering);case\"flush\":return void n?.flush(s.timeoutMs).then(y=>{t.post({kind:\"flushed\"" +
  ",id:s.id,flushed:y})});case\"read\":return void c();case\"stop\":return n?.stop();case\"close\":return r?.close(s.cl" +
  "oseCode),void e.after(je,e.exit)}})}function we(t){let e=globalThis;xe({post:r=>e.postMessage(r),listen:r=>{e." +
  "onmessage=({data:n})=>r(n)}},{connectors:t,nowMs:pe,after:B,randomBytes:K,exit:()=>e.close()})}we([be,fe]);\n";
