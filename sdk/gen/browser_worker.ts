/** Built from sdk/platform/browser_worker.ts by tools/generate_workers.ts; do not edit. */
export const source =
  "var s={invalidArgument:3,deadlineExceeded:4,notFound:5,alreadyExists:6,permissionDenied:7,resourceExhausted:8," +
  "failedPrecondition:9,aborted:10,outOfRange:11,unimplemented:12,internal:13,unavailable:14,unauthenticated:16}," +
  "d=(t,e,r,n)=>({http:t,grpc:e,close:r,errorClass:n,retryable:!1}),p=(...t)=>({...d(...t),retryable:!0}),C={join" +
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
  "ted,338,\"StoreError\")};function k(t){return Object.hasOwn(C,t)}function H(t){return Ae.get(t)}var Ae=new Map(O" +
  "bject.entries(C).flatMap(([t,{close:e}])=>k(t)?[[e,t]]:[])),f=class extends Error{name=\"WireError\";code;reques" +
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
  "keyPackageLifetimeMs:864e7,minCoverIntervalMs:10,maxCoverIntervalMs:36e5});var w=3,h=4,S=2,D={control:0,data:1" +
  "};function M(t){if(!Number.isInteger(t)||t<m.minCellBytes||t>m.maxCellBytes)throw new f(\"protocol_error\",`A ce" +
  "ll has ${m.minCellBytes} to ${m.maxCellBytes} bytes, not ${t}`);return t}function R(t){if(t===0||t>m.envelopeB" +
  "ytes)throw new f(\"payload_too_large\",`Cannot send an envelope of ${t} bytes; 1 to ${m.envelopeBytes} are allow" +
  "ed`)}var U=class{#e;#r=[];#t=[];#o=[0,0];#n=0;constructor(e){this.#e=M(e)}set cellBytes(e){if(this.#n>0)throw " +
  "new TypeError(\"Cannot change the cell size while envelopes are waiting\");this.#e=M(e)}get cellBytes(){return t" +
  "his.#e}get pendingBytes(){return this.#n}push(e,r){R(r.length),(e===\"control\"?this.#r:this.#t).push(r),this.#n" +
  "+=r.length+h}next(e){let r=this.#r.length>0?D.control:D.data,n=r===D.control?this.#r:this.#t;if(n.length===0)r" +
  "eturn;let o=e?.length===this.#e?e:new Uint8Array(this.#e);return this.#s(o,n,r),o}#s(e,r,n){let o=w,i=0,l=this" +
  ".#o[n]??0;for(let c of r){if(l===0){if(e.length-o<=h)break;Ce(e,o,c.length),o+=h,l=h}let a=l-h,y=c.subarray(a," +
  "a+e.length-o);if(e.set(y,o),o+=y.length,l+=y.length,l-h<c.length)break;i++,l=0}let u=o-w;i===1?r.shift():r.spl" +
  "ice(0,i),this.#o[n]=l,this.#n-=u,e[0]=n,e[1]=u>>8,e[2]=u&255,e.fill(0,o)}};function $(t,e,r){let n=e+S;return " +
  "t.set(r,n),t[e]=r.length>>8,t[e+1]=r.length&255,n+r.length}function Ce(t,e,r){t[e]=r>>>24,t[e+1]=r>>>16,t[e+2]" +
  "=r>>>8,t[e+3]=r}var Ee=64*1024,ae=.5,Be=2,P=class{#e;#r;#t=[];#o=0;#n=0;#s=new Uint8Array(0);#l=\"off\";#i=0;#c;" +
  "#u=0;#a=!0;#p=!1;#h=!1;#d=!1;#f=new Set;#y={cells:0,coverCells:0,coverBytes:0,paddingBytes:0};constructor(e){t" +
  "his.#e=e,this.#r=new U(e.cellBytes)}get pendingBytes(){return this.#r.pendingBytes+this.#o+this.#n}get counts(" +
  "){return{...this.#y}}push(e,r){this.#d||(this.#t.length===0?this.#r.push(e,r):(R(r.length),this.#t.push({lane:" +
  "e,envelope:r}),this.#o+=r.length+h),this.#m())}setCellBytes(e){this.#t.push({cellBytes:M(e)}),this.#C()}config" +
  "ure(e,r){if(!this.#d){if(e!==\"off\"&&!(r>0))throw new RangeError(`Cover needs an interval above 0, not ${r}`);t" +
  "his.#c?.(),this.#c=void 0,this.#l=e,this.#i=r,this.#p=!1,this.#u=this.#e.nowMs(),e!==\"off\"&&this.#A(),this.#m(" +
  ")}}setCovering(e){this.#a=e}flush(e){return this.#d?Promise.resolve(this.pendingBytes===0):!this.#h&&this.pend" +
  "ingBytes===0?Promise.resolve(!0):new Promise(r=>{let n=i=>{this.#f.delete(n),o(),r(i)},o=this.#e.after(e,()=>n" +
  "(!1));this.#f.add(n)})}stop(){this.#d=!0,this.#c?.(),this.#c=void 0,this.#s=new Uint8Array(0);for(let e of thi" +
  "s.#f)e(!1)}#m(){this.#h||this.#d||!this.#b()||(this.#h=!0,this.#E())}#b(){return this.#p||this.#l!==\"constant\"" +
  "&&this.#r.pendingBytes>0}async#E(){await void 0;try{for(;!this.#d&&this.#b();){let e=this.#l===\"constant\"?this" +
  ".#_():this.#k();if(await this.#e.write(e,this.#r.cellBytes),this.#n=0,this.#d)break;this.#C(),this.#e.onWritte" +
  "n?.()}}catch(e){this.#n=0;let r=this.#d;this.stop(),r||this.#e.onFailed?.(e)}this.#h=!1,this.#B()}#B(){if(!(th" +
  "is.#d||this.pendingBytes>0)){this.#s.length>Be*this.#r.cellBytes&&(this.#s=new Uint8Array(0));for(let e of thi" +
  "s.#f)e(!0)}}#_(){this.#p=!1;let e=this.#g(1);return this.#x(e)?e:this.#v(e)}#k(){let{cellBytes:e,pendingBytes:" +
  "r}=this.#r;if(r===0)return this.#p=!1,this.#v(this.#g(1));let n=Math.ceil(r/(e-w))+1,o=this.#g(Math.min(n,Math" +
  ".max(1,Math.floor(Ee/e)))),i=0;for(;i<o.length&&this.#x(o.subarray(i,i+e));)i+=e;return o.subarray(0,i)}#g(e){" +
  "let r=e*this.#r.cellBytes;return this.#s.length<r&&(this.#s=new Uint8Array(r)),this.#s.subarray(0,r)}#x(e){let" +
  " r=this.#r.pendingBytes;if(this.#r.next(e)===void 0)return!1;let n=r-this.#r.pendingBytes;return this.#n+=n,th" +
  "is.#y.cells++,this.#y.paddingBytes+=e.length-w-n,this.#w(e,w+n),!0}#v(e){return this.#y.cells++,this.#y.coverC" +
  "ells++,this.#y.coverBytes+=e.length,this.#w(e.fill(0),w),e}#w(e,r){let{rider:n}=this.#e;if(n!==void 0)for(let " +
  "o=r;e.length-o>S;){let i=n(e.length-o-S);if(i===void 0)return;o=$(e,o,i)}}#A(){let e=this.#e.nowMs();this.#c=t" +
  "his.#e.after(this.#l===\"poisson\"?this.#U():this.#S(e),()=>{this.#p=this.#a||this.#l===\"constant\"&&this.#r.pend" +
  "ingBytes>0,this.#A(),this.#m()})}#U(){return-Math.log(1-this.#e.random())*this.#i}#S(e){this.#u=_e(this.#u,thi" +
  "s.#i,e);let r=this.#e.random()*ae*this.#i;return Math.max((1-ae)*this.#i,this.#u-r-e)}#C(){for(;this.#r.pendin" +
  "gBytes===0&&this.#t.length>0;){let e=this.#t.findIndex((r,n)=>n>0&&\"cellBytes\"in r);for(let r of this.#t.splic" +
  "e(0,e<0?this.#t.length:e))\"cellBytes\"in r?this.#r.cellBytes=r.cellBytes:(this.#o-=r.envelope.length+h,this.#r." +
  "push(r.lane,r.envelope))}}};function _e(t,e,r){if(r<t-e)return r+e;let n=Math.max(0,Math.floor((r-t)/e));retur" +
  "n t+(n+1)*e}async function q({body:t},e){let r=t?.getReader();if(r===void 0)return\"\";let n=new TextDecoder,o=\"" +
  "\";try{for(let i=await r.read();i.value!==void 0;i=await r.read())if(o+=n.decode(i.value,{stream:!0}),o.length>" +
  "e)return;return o}finally{await r.cancel()}}var b=class extends Error{name=\"StaticError\";code;retryable;retryA" +
  "fterMs;epoch;channel;unreachable;members;constructor(e,r,n={}){super(r,n.cause===void 0?void 0:{cause:n.cause}" +
  "),this.code=e,this.retryable=n.retryable??C[e].retryable,this.retryAfterMs=n.retryAfterMs,this.epoch=n.epoch,t" +
  "his.channel=n.channel,this.unreachable=n.unreachable,this.members=n.members}},T=class extends b{name=\"Transpor" +
  "tError\"},N=class extends T{name=\"UnavailableError\"},j=class extends T{name=\"InternalError\"},V=class extends b{" +
  "name=\"AuthError\"},O=class extends b{name=\"ChannelError\"},J=class extends O{name=\"RemovedError\";by;atMs;constru" +
  "ctor(e,r,n={}){super(e,r,n),this.by=n.by,this.atMs=n.atMs}},z=class extends b{name=\"QuotaExceededError\"},G=cla" +
  "ss extends b{name=\"MlsError\"},Q=class extends b{name=\"InvalidArgumentError\"},X=class extends b{name=\"StoreErro" +
  "r\"},Y=class extends b{name=\"RemoteError\";remoteCode;constructor(e,{remoteCode:r=\"failed\",...n}={}){super(\"remo" +
  "te_error\",e,n),this.remoteCode=r}};function g(t){return(e,r,n)=>new t(e,r,n)}var ke={TransportError:g(T),AuthE" +
  "rror:g(V),ChannelError:g(O),QuotaExceededError:g(z),MlsError:g(G),InvalidArgumentError:g(Q),StoreError:g(X),Un" +
  "availableError:g(N),RemovedError:g(J),RemoteError:(t,e,r)=>new Y(e,r),InternalError:g(j)};function Z(t,e,r){re" +
  "turn ke[C[t].errorClass](t,e,r)}var ie=2,E=5,Ue=64*1024,Se=10;function de(t){let e=new Uint8Array(E+t.length);" +
  "return Pe(e,1,t.length),e.set(t,E),e}function le(t){let{value:e,end:r}=re(t,0,Se);if(r!==t.length)throw new f(" +
  "\"protocol_error\",\"A cell's message holds more than a cell\");return e}function ce(t,e,r){let[n,o]=[ee(10,t.leng" +
  "th),ee(26,r.length)],i=new Uint8Array(9);return i[0]=17,new DataView(i.buffer).setBigUint64(1,BigInt(e),!0),W(" +
  "[n,t,i,o,r])}function ue(t){return W([ee(10,t.length),t])}function ye(t){let e=new TextDecoder,r=re(t,0,10);re" +
  "turn r.end===t.length?{code:e.decode(r.value),message:\"\"}:{code:e.decode(r.value),message:e.decode(re(t,r.end," +
  "18).value)}}var I=class{#e=new Uint8Array(E);#r=0;#t=new Uint8Array(0);#o=0;read(e,r){let n=0;for(;n<e.length;" +
  "){if(this.#r<E){let i=e.subarray(n,n+E-this.#r);if(this.#e.set(i,this.#r),this.#r+=i.length,n+=i.length,this.#" +
  "r<E)return;this.#n()}let o=e.subarray(n,n+this.#t.length-this.#o);n+=o.length,o.length===this.#t.length?this.#" +
  "s(o,r):(this.#t.set(o,this.#o),this.#o+=o.length,this.#o===this.#t.length&&this.#s(this.#t,r))}}#n(){let e=new" +
  " DataView(this.#e.buffer).getUint32(1);if(e===0||e>Ue)throw new f(\"protocol_error\",`A message of ${e} bytes wh" +
  "ere cells are expected`);this.#t.length!==e&&(this.#t=new Uint8Array(e)),this.#o=0}#s(e,r){this.#r=0,r(this.#e" +
  "[0]??0,e)}};function W(t){let e=new Uint8Array(t.reduce((n,{length:o})=>n+o,0)),r=0;for(let n of t)e.set(n,r)," +
  "r+=n.length;return e}function ee(t,e){let r=[t];for(let n=e;n>0||r.length===1;n>>>=7)r.push(n>127?n&127|128:n)" +
  ";return Uint8Array.from(r)}function re(t,e,r){if(t[e]!==r)throw new f(\"protocol_error\",\"A message without the " +
  "field that it must have\");let[n,o]=[0,e+1];for(let i=1;i<=2**14;i*=128){let l=t[o++]??0;if(n+=(l&127)*i,l<128)" +
  "{if(n>t.length-o)break;return{value:t.subarray(o,o+n),end:o+n}}}throw new f(\"protocol_error\",\"A field goes bey" +
  "ond the end of its message\")}function Pe(t,e,r){new DataView(t.buffer,t.byteOffset).setUint32(e,r)}var Te=\"sta" +
  "tic.relay.v1.ErrorDetail\";function ne(t,e){let r=Me(t),{message:n,details:o}=te(r.error??r);for(let i of Array" +
  ".isArray(o)?o:[]){let{type:l,value:u}=te(i);if(!(l!==Te||typeof u!=\"string\"))try{let c=ye(Uint8Array.from(atob" +
  "(u),a=>a.charCodeAt(0)));if(k(c.code))return{code:c.code,message:c.message}}catch{}}return{message:typeof n==\"" +
  "string\"?n.slice(0,1024):e}}function Me(t){try{return te(JSON.parse(t))}catch{return{}}}function te(t){return t" +
  "ypeof t==\"object\"&&t!==null?t:{}}function A(t){let e=[];for(let r=t;r!==void 0&&e.length<3;r=r instanceof Erro" +
  "r?r.cause:void 0){let n=r instanceof Error?r.message:String(r);n!==\"\"&&!e.some(o=>o.includes(n))&&e.push(n)}re" +
  "turn e.join(\": \")}var Re=32,Oe=1e3,Ie=64*1024,We={\"connect-protocol-version\":\"1\"};function pe(t){let{openHttp:" +
  "e,unusable:r,randomBytes:n}=t;return{transport:\"cells\",carrier:\"tcp\",unusable:r,connect:(o,i)=>{let l=e(o.trus" +
  "t),u=new AbortController;u.signal.addEventListener(\"abort\",()=>l.close());let c=Le(l,o,u.signal),a=n(Re),y=c(\"" +
  "CellDown\",\"application/connect+proto\",de(ue(a))),v=(F,x)=>c(\"CellUp\",\"application/proto\",ce(a,F,x)),_=new oe(y" +
  ",v,u,t);return i.aborted&&_.close(),Promise.resolve(_)}}}function Le(t,{host:e,port:r},n){let o=`${e.includes(" +
  "\":\")?`[${e}]`:e}:${r}`;return async(i,l,u)=>{let c=await t.request(`https://${o}/static.relay.v1.Relay/${i}`,{" +
  "method:\"POST\",headers:{...We,\"content-type\":l},body:u,signal:n,redirect:\"error\",credentials:\"omit\",cache:\"no-s" +
  "tore\"});if(c.status===200)return c;let a=await q(c,Ie)??\"\",{code:y,message:v}=ne(a,`The relay returned HTTP st" +
  "atus ${c.status} for ${i}`);throw Z(y??\"transport_error\",v)}}var oe=class{#e;#r;#t;#o;#n=new Set;#s=new I;#l=0" +
  ";#i=()=>{};closed;constructor(e,r,n,o){this.#e=e.then(i=>i.body?.getReader()),this.#e.catch(()=>{}),this.#r=r," +
  "this.#t=o,this.#o=n,this.closed=new Promise(i=>this.#i=i)}async read(){try{for(;;){let e=await(await this.#e)?" +
  ".read();if(e?.value===void 0)return this.#a({message:\"the connection was cut off\"});let{cells:r,end:n}=this.#u" +
  "(e.value);if(n!==void 0&&this.#a(n),r.length>0)return W(r);if(n!==void 0)return}}catch(e){return this.#a({mess" +
  "age:A(e)})}}async write(e,r){for(let n=0;n<e.length;n+=r){this.#o.signal.throwIfAborted();let o=this.#c(e.suba" +
  "rray(n,n+r)).finally(()=>this.#n.delete(o));this.#n.add(o),this.#n.size>=this.#t.callsAtOnce&&await Promise.ra" +
  "ce(this.#n)}this.#o.signal.throwIfAborted()}async#c(e){try{await(await this.#r(++this.#l,e)).arrayBuffer()}cat" +
  "ch(r){this.#a({message:A(r)})}}close(){let e={message:\"it was closed by this side\"};if(this.#n.size===0)return" +
  " this.#a(e);this.#i(e);let r=this.#t.after(Oe,()=>this.#a(e));Promise.all(this.#n).then(()=>{r(),this.#a(e)})}" +
  "#u(e){let r=[],n;return this.#s.read(e,(o,i)=>{o===0?r.push(le(i).slice()):n=o===ie?Ke(i):{message:\"compressed" +
  " cells were not asked for\"}}),{cells:r,end:n}}#a(e){this.#i(e),this.#o.abort(Z(\"transport_error\",e.message))}}" +
  ";function Ke(t){return ne(new TextDecoder().decode(t),\"the relay ended the stream\")}function he(){return Date." +
  "now()}var se=2**31-1;function B(t,e){let r=o=>o>se?setTimeout(()=>n=r(o-se),se):setTimeout(e,o),n=r(t);return(" +
  ")=>clearTimeout(n)}function L(t){return crypto.getRandomValues(new Uint8Array(t))}function Fe(){return{request" +
  ":(t,e)=>fetch(t,e),close:()=>{}}}var He=16,fe=pe({openHttp:Fe,unusable:De,randomBytes:L,callsAtOnce:He,after:B" +
  "});function De({caCerts:t,certificateHashes:e}){return t.length>0||e.length>0?\"a browser's fetch trusts only w" +
  "hat the browser trusts; tls options do not apply\":void 0}var $e=1500,qe=64*1024;function me(t){let e=t.readabl" +
  "e.getReader({mode:\"byob\"}),r=t.writable.getWriter();r.closed.catch(()=>{});let n=new ArrayBuffer(qe),o=()=>{}," +
  "i=new Promise(a=>o=a),l,u=a=>{l?.(),o(a)};t.closed.then(({closeCode:a=0})=>u(Ne(a)),a=>u({message:A(a)}));let " +
  "c=()=>{r.close().catch(()=>{}),l??=t.after($e,()=>{t.close(0),o({message:\"the relay ended the stream\"})})};ret" +
  "urn{read:async()=>{try{let{value:a}=await e.read(new Uint8Array(n));if(a!==void 0&&a.length>0)return n=a.buffe" +
  "r,a}catch{}c()},write:async a=>{try{await r.write(a)}catch(y){throw c(),y}},close:a=>{o({message:\"it was close" +
  "d by this side\"}),a===0?c():t.close(a)},closed:i}}function Ne(t){let e=H(t);return e===void 0?{message:\"the re" +
  "lay closed the connection\"}:{code:e,message:`the relay closed the connection with ${e}`}}var be={transport:\"we" +
  "btransport\",carrier:\"udp\",unusable:({caCerts:t})=>ge()===void 0?\"this browser has no WebTransport\":t.length>0?" +
  "\"a browser takes no certificates; give tls.certificateHashes\":void 0,connect:async({host:t,port:e,trust:r},n)=" +
  ">{let o=ge();if(o===void 0)throw new Error(\"this browser has no WebTransport\");n.throwIfAborted();let i=r.cert" +
  "ificateHashes.map(y=>({algorithm:\"sha-256\",value:y})),l=`${t.includes(\":\")?`[${t}]`:t}:${e}`,u=new o(`https://" +
  "${l}/`,{...i.length>0&&{serverCertificateHashes:i}});u.closed.catch(()=>{});let c=y=>u.close({closeCode:y}),a=" +
  "()=>c(0);n.addEventListener(\"abort\",a);try{await u.ready;let{readable:y,writable:v}=await u.createBidirectiona" +
  "lStream();return me({readable:y,writable:v,closed:u.closed,close:c,after:B})}catch(y){throw n.aborted?n.reason" +
  ":y}finally{n.removeEventListener(\"abort\",a)}}};function ge(){return globalThis.WebTransport}var K=class{#e=new" +
  " Map;offer(e,r){this.#e.delete(e),this.#e.set(e,r)}take(e){for(let[r,n]of this.#e)if(!(n.length>e))return this" +
  ".#e.delete(r),n}};var je=2e3;function xe(t,e){let r,n,o=0,i=new K,l=a=>{t.post({kind:\"written\",takenBytes:o-a." +
  "pendingBytes,counts:a.counts})},u=async({transport:a,target:y})=>{let v=e.connectors.find(x=>x.transport===a);" +
  "if(v===void 0)throw new Error(`no way to connect by ${a} in a thread of its own`);let _=r=await v.connect(y,ne" +
  "w AbortController().signal),F=n=new P({cellBytes:m.cellBytes,write:(x,we)=>_.write(x,we),after:e.after,nowMs:e" +
  ".nowMs,random:()=>new DataView(e.randomBytes(4).buffer).getUint32(0)/2**32,rider:x=>i.take(x),onWritten:()=>l(" +
  "F),onFailed:()=>t.post({kind:\"failed\"})});_.closed.then(x=>t.post({kind:\"closed\",end:x})),t.post({kind:\"connec" +
  "ted\"})},c=async()=>{let a=await r?.read();t.post({kind:\"chunk\",bytes:a?.slice()})};t.listen(a=>{switch(a.kind)" +
  "{case\"connect\":return void u(a).catch(y=>t.post({kind:\"refused\",message:A(y)}));case\"push\":return o+=a.envelop" +
  "e.length+h,n?.push(a.lane,a.envelope);case\"offer\":return i.offer(a.key,a.envelope);case\"cellBytes\":return n?.s" +
  "etCellBytes(a.cellBytes);case\"configure\":return n?.configure(a.mode,a.intervalMs);case\"covering\":return n?.set" +
  "Covering(a.covering);case\"flush\":return void n?.flush(a.timeoutMs).then(y=>{t.post({kind:\"flushed\",id:a.id,flu" +
  "shed:y})});case\"read\":return void c();case\"stop\":return n?.stop();case\"close\":return r?.close(a.closeCode),voi" +
  "d e.after(je,e.exit)}})}function ve(t){let e=globalThis;xe({post:r=>e.postMessage(r),listen:r=>{e.onmessage=({" +
  "data:n})=>r(n)}},{connectors:t,nowMs:he,after:B,randomBytes:L,exit:()=>e.close()})}ve([be,fe]);\n";
