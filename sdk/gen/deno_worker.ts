/** Built from sdk/platform/deno_worker.ts by tools/generate_workers.ts; do not edit. */
export const source =
  "var s={invalidArgument:3,deadlineExceeded:4,notFound:5,alreadyExists:6,permissionDenied:7,resourceExhausted:8," +
  "failedPrecondition:9,aborted:10,outOfRange:11,unimplemented:12,internal:13,unavailable:14,unauthenticated:16}," +
  "d=(t,e,r,n)=>({http:t,grpc:e,close:r,errorClass:n,retryable:!1}),p=(...t)=>({...d(...t),retryable:!0}),E={join" +
  "_timeout:p(504,s.deadlineExceeded,257,\"TransportError\"),auth_failed:d(401,s.unauthenticated,258,\"AuthError\"),a" +
  "uth_key_invalid:d(401,s.unauthenticated,259,\"AuthError\"),transport_error:p(502,s.unavailable,260,\"TransportErr" +
  "or\"),connection_error:p(502,s.unavailable,261,\"TransportError\"),listener_died:d(500,s.internal,262,\"TransportE" +
  "rror\"),channel_error:d(400,s.invalidArgument,263,\"ChannelError\"),quota_exceeded:d(429,s.resourceExhausted,264," +
  "\"QuotaExceededError\"),mls_error:d(409,s.failedPrecondition,265,\"MlsError\"),invalid_request:d(400,s.invalidArgu" +
  "ment,272,\"InvalidArgumentError\"),not_found:d(404,s.notFound,273,\"ChannelError\"),method_not_allowed:d(405,s.uni" +
  "mplemented,274,\"InvalidArgumentError\"),payload_too_large:d(413,s.outOfRange,275,\"InvalidArgumentError\"),unsupp" +
  "orted_media_type:d(415,s.invalidArgument,276,\"InvalidArgumentError\"),rate_limited:p(429,s.resourceExhausted,27" +
  "7,\"UnavailableError\"),internal:d(500,s.internal,278,\"InternalError\"),overloaded:p(503,s.unavailable,279,\"Unava" +
  "ilableError\"),email_taken:d(409,s.alreadyExists,288,\"AuthError\"),key_limit_reached:d(409,s.resourceExhausted,2" +
  "89,\"AuthError\"),account_suspended:d(403,s.permissionDenied,290,\"AuthError\"),conflict:d(409,s.aborted,291,\"Auth" +
  "Error\"),code_invalid:d(400,s.invalidArgument,292,\"AuthError\"),csrf_failed:d(403,s.permissionDenied,293,\"AuthEr" +
  "ror\"),protocol_error:d(400,s.invalidArgument,304,\"TransportError\"),unsupported_version:d(400,s.failedPrecondit" +
  "ion,305,\"TransportError\"),unknown_operation:d(404,s.unimplemented,306,\"TransportError\"),session_expired:d(401," +
  "s.unauthenticated,307,\"AuthError\"),session_replaced:d(409,s.aborted,308,\"TransportError\"),slow_reader:p(429,s." +
  "resourceExhausted,309,\"UnavailableError\"),relay_draining:p(503,s.unavailable,310,\"UnavailableError\"),certifica" +
  "te_changed:d(502,s.failedPrecondition,311,\"TransportError\"),name_taken:d(409,s.alreadyExists,320,\"ChannelError" +
  "\"),epoch_conflict:p(409,s.aborted,321,\"MlsError\"),not_allowed:d(403,s.permissionDenied,322,\"ChannelError\"),mem" +
  "ber_limit_reached:d(409,s.resourceExhausted,323,\"ChannelError\"),already_member:d(409,s.alreadyExists,324,\"Chan" +
  "nelError\"),queue_full:p(429,s.resourceExhausted,325,\"ChannelError\"),cursor_invalid:d(416,s.outOfRange,326,\"Cha" +
  "nnelError\"),key_package_invalid:d(400,s.invalidArgument,327,\"MlsError\"),key_package_missing:p(404,s.failedPrec" +
  "ondition,328,\"MlsError\"),join_rejected:d(403,s.permissionDenied,329,\"ChannelError\"),membership_lapsed:d(410,s." +
  "failedPrecondition,330,\"ChannelError\"),state_conflict:d(409,s.failedPrecondition,331,\"MlsError\"),storage_full:" +
  "p(507,s.resourceExhausted,332,\"ChannelError\"),link_invalid:d(400,s.invalidArgument,333,\"InvalidArgumentError\")" +
  ",removed:d(410,s.failedPrecondition,355,\"RemovedError\"),members_must_update:d(409,s.failedPrecondition,334,\"Ch" +
  "annelError\"),successor_needed:d(409,s.failedPrecondition,335,\"ChannelError\"),content_invalid:d(400,s.invalidAr" +
  "gument,352,\"ChannelError\"),request_timeout:p(504,s.deadlineExceeded,353,\"TransportError\"),remote_error:d(502,s" +
  ".aborted,354,\"RemoteError\"),store_locked:p(409,s.failedPrecondition,336,\"StoreError\"),store_corrupt:d(500,s.in" +
  "ternal,337,\"StoreError\"),store_failed:d(500,s.internal,339,\"StoreError\"),passphrase_wrong:d(401,s.unauthentica" +
  "ted,338,\"StoreError\")};function k(t){return Object.hasOwn(E,t)}function H(t){return we.get(t)}var we=new Map(O" +
  "bject.entries(E).flatMap(([t,{close:e}])=>k(t)?[[e,t]]:[])),f=class extends Error{name=\"WireError\";code;reques" +
  "tId;constructor(e,r,n={}){super(r,n.cause===void 0?void 0:{cause:n.cause}),this.code=e,this.requestId=n.reques" +
  "tId}};var m=Object.freeze({cellBytes:4096,minCellBytes:1024,maxCellBytes:16384,payloadBytes:1048576,ciphertext" +
  "Bytes:1081344,keyPackageBytes:16384,commitBytes:262144,welcomeBytes:2097152,leafNodeBytes:4096,creatorWelcomeB" +
  "ytes:1024,envelopeBytes:2490368,handshakeEnvelopeBytes:16384,cborDepth:6,cborItems:32768,membersPerChannel:1e3" +
  ",welcomesPerCommit:16,keyPackagesPerUpload:100,channelsPerPage:500,answersPerCommit:1e3,proofsPerCommit:128,ow" +
  "nersPerChannel:64,ownersChanges:64,ownersChangeBytes:2048,claimsForFounding:100,confirmationsPerPage:10,unconf" +
  "irmedPerPage:40,featuresPerSession:64,identityBytes:256,tokenBytes:8192,originBytes:300,sessionTokenBytes:64,e" +
  "rrorTextBytes:1024,errorCodeBytes:64,nameComponentBytes:63,channelNameBytes:191,emailBytes:254,contentFieldsBy" +
  "tes:8192,contentTypeBytes:127,contentAddressees:64,conversationBytes:128,contentHeaders:32,contentHeaderNameBy" +
  "tes:64,contentHeaderValueBytes:1024,contentErrorBytes:64,contentConfirmationBytes:120,queueBytesPerChannel:671" +
  "08864,queueAgeMs:6048e5,windowBytes:16777216,challengeMs:3e4,joinRequestMs:6e5,inviteUses:1e4,clockSkewMs:6e5," +
  "keyPackageLifetimeMs:864e7,minCoverIntervalMs:10,maxCoverIntervalMs:36e5});var C=3,h=4,S=2,F={control:0,data:1" +
  "};function M(t){if(!Number.isInteger(t)||t<m.minCellBytes||t>m.maxCellBytes)throw new f(\"protocol_error\",`A ce" +
  "ll has ${m.minCellBytes} to ${m.maxCellBytes} bytes, not ${t}`);return t}function R(t){if(t===0||t>m.envelopeB" +
  "ytes)throw new f(\"payload_too_large\",`Cannot send an envelope of ${t} bytes; 1 to ${m.envelopeBytes} are allow" +
  "ed`)}var U=class{#e;#r=[];#t=[];#o=[0,0];#n=0;constructor(e){this.#e=M(e)}set cellBytes(e){if(this.#n>0)throw " +
  "new TypeError(\"Cannot change the cell size while envelopes are waiting\");this.#e=M(e)}get cellBytes(){return t" +
  "his.#e}get pendingBytes(){return this.#n}push(e,r){R(r.length),(e===\"control\"?this.#r:this.#t).push(r),this.#n" +
  "+=r.length+h}next(e){let r=this.#r.length>0?F.control:F.data,n=r===F.control?this.#r:this.#t;if(n.length===0)r" +
  "eturn;let o=e?.length===this.#e?e:new Uint8Array(this.#e);return this.#i(o,n,r),o}#i(e,r,n){let o=C,a=0,l=this" +
  ".#o[n]??0;for(let c of r){if(l===0){if(e.length-o<=h)break;Ae(e,o,c.length),o+=h,l=h}let i=l-h,y=c.subarray(i," +
  "i+e.length-o);if(e.set(y,o),o+=y.length,l+=y.length,l-h<c.length)break;a++,l=0}let u=o-C;a===1?r.shift():r.spl" +
  "ice(0,a),this.#o[n]=l,this.#n-=u,e[0]=n,e[1]=u>>8,e[2]=u&255,e.fill(0,o)}};function q(t,e,r){let n=e+S;return " +
  "t.set(r,n),t[e]=r.length>>8,t[e+1]=r.length&255,n+r.length}function Ae(t,e,r){t[e]=r>>>24,t[e+1]=r>>>16,t[e+2]" +
  "=r>>>8,t[e+3]=r}var Ee=64*1024,se=.5,Be=2,P=class{#e;#r;#t=[];#o=0;#n=0;#i=new Uint8Array(0);#l=\"off\";#a=0;#c;" +
  "#u=0;#s=!0;#p=!1;#h=!1;#d=!1;#f=new Set;#y={cells:0,coverCells:0,coverBytes:0,paddingBytes:0};constructor(e){t" +
  "his.#e=e,this.#r=new U(e.cellBytes)}get pendingBytes(){return this.#r.pendingBytes+this.#o+this.#n}get counts(" +
  "){return{...this.#y}}push(e,r){this.#d||(this.#t.length===0?this.#r.push(e,r):(R(r.length),this.#t.push({lane:" +
  "e,envelope:r}),this.#o+=r.length+h),this.#m())}setCellBytes(e){this.#t.push({cellBytes:M(e)}),this.#A()}config" +
  "ure(e,r){if(!this.#d){if(e!==\"off\"&&!(r>0))throw new RangeError(`Cover needs an interval above 0, not ${r}`);t" +
  "his.#c?.(),this.#c=void 0,this.#l=e,this.#a=r,this.#p=!1,this.#u=this.#e.nowMs(),e!==\"off\"&&this.#w(),this.#m(" +
  ")}}setCovering(e){this.#s=e}flush(e){return this.#d?Promise.resolve(this.pendingBytes===0):!this.#h&&this.pend" +
  "ingBytes===0?Promise.resolve(!0):new Promise(r=>{let n=a=>{this.#f.delete(n),o(),r(a)},o=this.#e.after(e,()=>n" +
  "(!1));this.#f.add(n)})}stop(){this.#d=!0,this.#c?.(),this.#c=void 0,this.#i=new Uint8Array(0);for(let e of thi" +
  "s.#f)e(!1)}#m(){this.#h||this.#d||!this.#b()||(this.#h=!0,this.#E())}#b(){return this.#p||this.#l!==\"constant\"" +
  "&&this.#r.pendingBytes>0}async#E(){await void 0;try{for(;!this.#d&&this.#b();){let e=this.#l===\"constant\"?this" +
  ".#_():this.#k();if(await this.#e.write(e,this.#r.cellBytes),this.#n=0,this.#d)break;this.#A(),this.#e.onWritte" +
  "n?.()}}catch(e){this.#n=0;let r=this.#d;this.stop(),r||this.#e.onFailed?.(e)}this.#h=!1,this.#B()}#B(){if(!(th" +
  "is.#d||this.pendingBytes>0)){this.#i.length>Be*this.#r.cellBytes&&(this.#i=new Uint8Array(0));for(let e of thi" +
  "s.#f)e(!0)}}#_(){this.#p=!1;let e=this.#g(1);return this.#x(e)?e:this.#v(e)}#k(){let{cellBytes:e,pendingBytes:" +
  "r}=this.#r;if(r===0)return this.#p=!1,this.#v(this.#g(1));let n=Math.ceil(r/(e-C))+1,o=this.#g(Math.min(n,Math" +
  ".max(1,Math.floor(Ee/e)))),a=0;for(;a<o.length&&this.#x(o.subarray(a,a+e));)a+=e;return o.subarray(0,a)}#g(e){" +
  "let r=e*this.#r.cellBytes;return this.#i.length<r&&(this.#i=new Uint8Array(r)),this.#i.subarray(0,r)}#x(e){let" +
  " r=this.#r.pendingBytes;if(this.#r.next(e)===void 0)return!1;let n=r-this.#r.pendingBytes;return this.#n+=n,th" +
  "is.#y.cells++,this.#y.paddingBytes+=e.length-C-n,this.#C(e,C+n),!0}#v(e){return this.#y.cells++,this.#y.coverC" +
  "ells++,this.#y.coverBytes+=e.length,this.#C(e.fill(0),C),e}#C(e,r){let{rider:n}=this.#e;if(n!==void 0)for(let " +
  "o=r;e.length-o>S;){let a=n(e.length-o-S);if(a===void 0)return;o=q(e,o,a)}}#w(){let e=this.#e.nowMs();this.#c=t" +
  "his.#e.after(this.#l===\"poisson\"?this.#U():this.#S(e),()=>{this.#p=this.#s||this.#l===\"constant\"&&this.#r.pend" +
  "ingBytes>0,this.#w(),this.#m()})}#U(){return-Math.log(1-this.#e.random())*this.#a}#S(e){this.#u=_e(this.#u,thi" +
  "s.#a,e);let r=this.#e.random()*se*this.#a;return Math.max((1-se)*this.#a,this.#u-r-e)}#A(){for(;this.#r.pendin" +
  "gBytes===0&&this.#t.length>0;){let e=this.#t.findIndex((r,n)=>n>0&&\"cellBytes\"in r);for(let r of this.#t.splic" +
  "e(0,e<0?this.#t.length:e))\"cellBytes\"in r?this.#r.cellBytes=r.cellBytes:(this.#o-=r.envelope.length+h,this.#r." +
  "push(r.lane,r.envelope))}}};function _e(t,e,r){if(r<t-e)return r+e;let n=Math.max(0,Math.floor((r-t)/e));retur" +
  "n t+(n+1)*e}async function $({body:t},e){let r=t?.getReader();if(r===void 0)return\"\";let n=new TextDecoder,o=\"" +
  "\";try{for(let a=await r.read();a.value!==void 0;a=await r.read())if(o+=n.decode(a.value,{stream:!0}),o.length>" +
  "e)return;return o}finally{await r.cancel()}}var b=class extends Error{name=\"StaticError\";code;retryable;retryA" +
  "fterMs;epoch;channel;unreachable;members;constructor(e,r,n={}){super(r,n.cause===void 0?void 0:{cause:n.cause}" +
  "),this.code=e,this.retryable=n.retryable??E[e].retryable,this.retryAfterMs=n.retryAfterMs,this.epoch=n.epoch,t" +
  "his.channel=n.channel,this.unreachable=n.unreachable,this.members=n.members}},T=class extends b{name=\"Transpor" +
  "tError\"},Q=class extends T{name=\"UnavailableError\"},N=class extends T{name=\"InternalError\"},j=class extends b{" +
  "name=\"AuthError\"},O=class extends b{name=\"ChannelError\"},V=class extends O{name=\"RemovedError\";by;atMs;constru" +
  "ctor(e,r,n={}){super(e,r,n),this.by=n.by,this.atMs=n.atMs}},J=class extends b{name=\"QuotaExceededError\"},z=cla" +
  "ss extends b{name=\"MlsError\"},G=class extends b{name=\"InvalidArgumentError\"},X=class extends b{name=\"StoreErro" +
  "r\"},Y=class extends b{name=\"RemoteError\";remoteCode;constructor(e,{remoteCode:r=\"failed\",...n}={}){super(\"remo" +
  "te_error\",e,n),this.remoteCode=r}};function g(t){return(e,r,n)=>new t(e,r,n)}var ke={TransportError:g(T),AuthE" +
  "rror:g(j),ChannelError:g(O),QuotaExceededError:g(J),MlsError:g(z),InvalidArgumentError:g(G),StoreError:g(X),Un" +
  "availableError:g(Q),RemovedError:g(V),RemoteError:(t,e,r)=>new Y(e,r),InternalError:g(N)};function Z(t,e,r){re" +
  "turn ke[E[t].errorClass](t,e,r)}var ae=2,B=5,Ue=64*1024,Se=10;function de(t){let e=new Uint8Array(B+t.length);" +
  "return Pe(e,1,t.length),e.set(t,B),e}function le(t){let{value:e,end:r}=re(t,0,Se);if(r!==t.length)throw new f(" +
  "\"protocol_error\",\"A cell's message holds more than a cell\");return e}function ce(t,e,r){let[n,o]=[ee(10,t.leng" +
  "th),ee(26,r.length)],a=new Uint8Array(9);return a[0]=17,new DataView(a.buffer).setBigUint64(1,BigInt(e),!0),D(" +
  "[n,t,a,o,r])}function ue(t){return D([ee(10,t.length),t])}function ye(t){let e=new TextDecoder,r=re(t,0,10);re" +
  "turn r.end===t.length?{code:e.decode(r.value),message:\"\"}:{code:e.decode(r.value),message:e.decode(re(t,r.end," +
  "18).value)}}var I=class{#e=new Uint8Array(B);#r=0;#t=new Uint8Array(0);#o=0;read(e,r){let n=0;for(;n<e.length;" +
  "){if(this.#r<B){let a=e.subarray(n,n+B-this.#r);if(this.#e.set(a,this.#r),this.#r+=a.length,n+=a.length,this.#" +
  "r<B)return;this.#n()}let o=e.subarray(n,n+this.#t.length-this.#o);n+=o.length,o.length===this.#t.length?this.#" +
  "i(o,r):(this.#t.set(o,this.#o),this.#o+=o.length,this.#o===this.#t.length&&this.#i(this.#t,r))}}#n(){let e=new" +
  " DataView(this.#e.buffer).getUint32(1);if(e===0||e>Ue)throw new f(\"protocol_error\",`A message of ${e} bytes wh" +
  "ere cells are expected`);this.#t.length!==e&&(this.#t=new Uint8Array(e)),this.#o=0}#i(e,r){this.#r=0,r(this.#e" +
  "[0]??0,e)}};function D(t){let e=new Uint8Array(t.reduce((n,{length:o})=>n+o,0)),r=0;for(let n of t)e.set(n,r)," +
  "r+=n.length;return e}function ee(t,e){let r=[t];for(let n=e;n>0||r.length===1;n>>>=7)r.push(n>127?n&127|128:n)" +
  ";return Uint8Array.from(r)}function re(t,e,r){if(t[e]!==r)throw new f(\"protocol_error\",\"A message without the " +
  "field that it must have\");let[n,o]=[0,e+1];for(let a=1;a<=2**14;a*=128){let l=t[o++]??0;if(n+=(l&127)*a,l<128)" +
  "{if(n>t.length-o)break;return{value:t.subarray(o,o+n),end:o+n}}}throw new f(\"protocol_error\",\"A field goes bey" +
  "ond the end of its message\")}function Pe(t,e,r){new DataView(t.buffer,t.byteOffset).setUint32(e,r)}var Te=\"sta" +
  "tic.relay.v1.ErrorDetail\";function ne(t,e){let r=Me(t),{message:n,details:o}=te(r.error??r);for(let a of Array" +
  ".isArray(o)?o:[]){let{type:l,value:u}=te(a);if(!(l!==Te||typeof u!=\"string\"))try{let c=ye(Uint8Array.from(atob" +
  "(u),i=>i.charCodeAt(0)));if(k(c.code))return{code:c.code,message:c.message}}catch{}}return{message:typeof n==\"" +
  "string\"?n.slice(0,1024):e}}function Me(t){try{return te(JSON.parse(t))}catch{return{}}}function te(t){return t" +
  "ypeof t==\"object\"&&t!==null?t:{}}function A(t){let e=[];for(let r=t;r!==void 0&&e.length<3;r=r instanceof Erro" +
  "r?r.cause:void 0){let n=r instanceof Error?r.message:String(r);n!==\"\"&&!e.some(o=>o.includes(n))&&e.push(n)}re" +
  "turn e.join(\": \")}var Re=32,Oe=1e3,Ie=64*1024,De={\"connect-protocol-version\":\"1\"};function pe(t){let{openHttp:" +
  "e,unusable:r,randomBytes:n}=t;return{transport:\"cells\",carrier:\"tcp\",unusable:r,connect:(o,a)=>{let l=e(o.trus" +
  "t),u=new AbortController;u.signal.addEventListener(\"abort\",()=>l.close());let c=Le(l,o,u.signal),i=n(Re),y=c(\"" +
  "CellDown\",\"application/connect+proto\",de(ue(i))),v=(K,x)=>c(\"CellUp\",\"application/proto\",ce(i,K,x)),w=new oe(y" +
  ",v,u,t);return a.aborted&&w.close(),Promise.resolve(w)}}}function Le(t,{host:e,port:r},n){let o=`${e.includes(" +
  "\":\")?`[${e}]`:e}:${r}`;return async(a,l,u)=>{let c=await t.request(`https://${o}/static.relay.v1.Relay/${a}`,{" +
  "method:\"POST\",headers:{...De,\"content-type\":l},body:u,signal:n,redirect:\"error\",credentials:\"omit\",cache:\"no-s" +
  "tore\"});if(c.status===200)return c;let i=await $(c,Ie)??\"\",{code:y,message:v}=ne(i,`The relay returned HTTP st" +
  "atus ${c.status} for ${a}`);throw Z(y??\"transport_error\",v)}}var oe=class{#e;#r;#t;#o;#n=new Set;#i=new I;#l=0" +
  ";#a=()=>{};closed;constructor(e,r,n,o){this.#e=e.then(a=>a.body?.getReader()),this.#e.catch(()=>{}),this.#r=r," +
  "this.#t=o,this.#o=n,this.closed=new Promise(a=>this.#a=a)}async read(){try{for(;;){let e=await(await this.#e)?" +
  ".read();if(e?.value===void 0)return this.#s({message:\"the connection was cut off\"});let{cells:r,end:n}=this.#u" +
  "(e.value);if(n!==void 0&&this.#s(n),r.length>0)return D(r);if(n!==void 0)return}}catch(e){return this.#s({mess" +
  "age:A(e)})}}async write(e,r){for(let n=0;n<e.length;n+=r){this.#o.signal.throwIfAborted();let o=this.#c(e.suba" +
  "rray(n,n+r)).finally(()=>this.#n.delete(o));this.#n.add(o),this.#n.size>=this.#t.callsAtOnce&&await Promise.ra" +
  "ce(this.#n)}this.#o.signal.throwIfAborted()}async#c(e){try{await(await this.#r(++this.#l,e)).arrayBuffer()}cat" +
  "ch(r){this.#s({message:A(r)})}}close(){let e={message:\"it was closed by this side\"};if(this.#n.size===0)return" +
  " this.#s(e);this.#a(e);let r=this.#t.after(Oe,()=>this.#s(e));Promise.all(this.#n).then(()=>{r(),this.#s(e)})}" +
  "#u(e){let r=[],n;return this.#i.read(e,(o,a)=>{o===0?r.push(le(a).slice()):n=o===ae?We(a):{message:\"compressed" +
  " cells were not asked for\"}}),{cells:r,end:n}}#s(e){this.#a(e),this.#o.abort(Z(\"transport_error\",e.message))}}" +
  ";function We(t){return ne(new TextDecoder().decode(t),\"the relay ended the stream\")}function he(){return Date." +
  "now()}var ie=2**31-1;function _(t,e){let r=o=>o>ie?setTimeout(()=>n=r(o-ie),ie):setTimeout(e,o),n=r(t);return(" +
  ")=>clearTimeout(n)}function L(t){return crypto.getRandomValues(new Uint8Array(t))}var Ke=2e4;function He({caCe" +
  "rts:t}){let{Deno:e}=globalThis,r=e.createHttpClient({caCerts:t,http2:!1,poolIdleTimeout:Ke}),n=!0;return{reque" +
  "st:(o,a)=>{let l={...a,client:r};return fetch(o,l)},close:()=>{n&&r.close(),n=!1}}}var Fe=4,fe=pe({openHttp:He" +
  ",unusable:qe,randomBytes:L,callsAtOnce:Fe,after:_});function qe({certificateHashes:t}){return t.length>0?\"Deno" +
  " can check tls.certificateHashes only over QUIC\":void 0}var $e=1500,Qe=64*1024;function me(t){let e=t.readable" +
  ".getReader({mode:\"byob\"}),r=t.writable.getWriter();r.closed.catch(()=>{});let n=new ArrayBuffer(Qe),o=()=>{},a" +
  "=new Promise(i=>o=i),l,u=i=>{l?.(),o(i)};t.closed.then(({closeCode:i=0})=>u(Ne(i)),i=>u({message:A(i)}));let c" +
  "=()=>{r.close().catch(()=>{}),l??=t.after($e,()=>{t.close(0),o({message:\"the relay ended the stream\"})})};retu" +
  "rn{read:async()=>{try{let{value:i}=await e.read(new Uint8Array(n));if(i!==void 0&&i.length>0)return n=i.buffer" +
  ",i}catch{}c()},write:async i=>{try{await r.write(i)}catch(y){throw c(),y}},close:i=>{o({message:\"it was closed" +
  " by this side\"}),i===0?c():t.close(i)},closed:a}}function Ne(t){let e=H(t);return e===void 0?{message:\"the rel" +
  "ay closed the connection\"}:{code:e,message:`the relay closed the connection with ${e}`}}var je=\"static-relay/1" +
  "\",Ve={maxIdleTimeout:1e4},Je=\"low-latency\",be={transport:\"quic\",carrier:\"udp\",unusable:()=>ge()===void 0?\"Deno" +
  " offers QUIC only with --unstable-net\":void 0,connect:async({host:t,port:e,trust:r},n)=>{let o=ge();if(o===voi" +
  "d 0)throw new Error(\"Deno offers QUIC only with --unstable-net\");n.throwIfAborted();let a=r.certificateHashes." +
  "map(i=>({algorithm:\"sha-256\",value:i})),l=ze(o),u=i=>l.close({closeCode:i,reason:\"\"}),c=()=>u(0);n.addEventLis" +
  "tener(\"abort\",c);try{let i=await o.connectQuic({hostname:t,port:e,alpnProtocols:[je],caCerts:r.caCerts,...a.le" +
  "ngth>0&&{serverCertificateHashes:a},endpoint:l,...Ve,congestionControl:Je}),{readable:y,writable:v}=await i.cr" +
  "eateBidirectionalStream(),w=i.closed.finally(()=>u(0));return me({readable:y,writable:v,closed:w,close:u,after" +
  ":_})}catch(i){throw u(0),n.aborted?n.reason:i}finally{n.removeEventListener(\"abort\",c)}}};function ze({QuicEnd" +
  "point:t}){try{return new t({hostname:\"::\"})}catch{return new t({hostname:\"0.0.0.0\"})}}function ge(){let{Deno:t" +
  "}=globalThis;return t?.connectQuic===void 0?void 0:t}var W=class{#e=new Map;offer(e,r){this.#e.delete(e),this." +
  "#e.set(e,r)}take(e){for(let[r,n]of this.#e)if(!(n.length>e))return this.#e.delete(r),n}};var Ge=2e3;function x" +
  "e(t,e){let r,n,o=0,a=new W,l=i=>{t.post({kind:\"written\",takenBytes:o-i.pendingBytes,counts:i.counts})},u=async" +
  "({transport:i,target:y})=>{let v=e.connectors.find(x=>x.transport===i);if(v===void 0)throw new Error(`no way t" +
  "o connect by ${i} in a thread of its own`);let w=r=await v.connect(y,new AbortController().signal),K=n=new P({" +
  "cellBytes:m.cellBytes,write:(x,Ce)=>w.write(x,Ce),after:e.after,nowMs:e.nowMs,random:()=>new DataView(e.random" +
  "Bytes(4).buffer).getUint32(0)/2**32,rider:x=>a.take(x),onWritten:()=>l(K),onFailed:()=>t.post({kind:\"failed\"})" +
  "});w.closed.then(x=>t.post({kind:\"closed\",end:x})),t.post({kind:\"connected\"})},c=async()=>{let i=await r?.read" +
  "();t.post({kind:\"chunk\",bytes:i?.slice()})};t.listen(i=>{switch(i.kind){case\"connect\":return void u(i).catch(y" +
  "=>t.post({kind:\"refused\",message:A(y)}));case\"push\":return o+=i.envelope.length+h,n?.push(i.lane,i.envelope);c" +
  "ase\"offer\":return a.offer(i.key,i.envelope);case\"cellBytes\":return n?.setCellBytes(i.cellBytes);case\"configure" +
  "\":return n?.configure(i.mode,i.intervalMs);case\"covering\":return n?.setCovering(i.covering);case\"flush\":return" +
  " void n?.flush(i.timeoutMs).then(y=>{t.post({kind:\"flushed\",id:i.id,flushed:y})});case\"read\":return void c();c" +
  "ase\"stop\":return n?.stop();case\"close\":return r?.close(i.closeCode),void e.after(Ge,e.exit)}})}function ve(t){" +
  "let e=globalThis;xe({post:r=>e.postMessage(r),listen:r=>{e.onmessage=({data:n})=>r(n)}},{connectors:t,nowMs:he" +
  ",after:_,randomBytes:L,exit:()=>e.close()})}ve([be,fe]);\n";
