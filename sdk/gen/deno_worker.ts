/** Built from sdk/platform/deno_worker.ts by tools/generate_workers.ts; do not edit. */
export const source =
  "var s={invalidArgument:3,deadlineExceeded:4,notFound:5,alreadyExists:6,permissionDenied:7,resourceExhausted:8," +
  "failedPrecondition:9,aborted:10,outOfRange:11,unimplemented:12,internal:13,unavailable:14,unauthenticated:16}," +
  "d=(t,e,r,n)=>({http:t,grpc:e,close:r,errorClass:n,retryable:!1}),h=(...t)=>({...d(...t),retryable:!0}),A={join" +
  "_timeout:h(504,s.deadlineExceeded,257,\"TransportError\"),auth_failed:d(401,s.unauthenticated,258,\"AuthError\"),a" +
  "uth_key_invalid:d(401,s.unauthenticated,259,\"AuthError\"),transport_error:h(502,s.unavailable,260,\"TransportErr" +
  "or\"),connection_error:h(502,s.unavailable,261,\"TransportError\"),listener_died:d(500,s.internal,262,\"TransportE" +
  "rror\"),channel_error:d(400,s.invalidArgument,263,\"ChannelError\"),quota_exceeded:d(429,s.resourceExhausted,264," +
  "\"QuotaExceededError\"),mls_error:d(409,s.failedPrecondition,265,\"MlsError\"),invalid_request:d(400,s.invalidArgu" +
  "ment,272,\"InvalidArgumentError\"),not_found:d(404,s.notFound,273,\"ChannelError\"),method_not_allowed:d(405,s.uni" +
  "mplemented,274,\"InvalidArgumentError\"),payload_too_large:d(413,s.outOfRange,275,\"InvalidArgumentError\"),unsupp" +
  "orted_media_type:d(415,s.invalidArgument,276,\"InvalidArgumentError\"),rate_limited:h(429,s.resourceExhausted,27" +
  "7,\"UnavailableError\"),internal:d(500,s.internal,278,\"InternalError\"),overloaded:h(503,s.unavailable,279,\"Unava" +
  "ilableError\"),email_taken:d(409,s.alreadyExists,288,\"AuthError\"),key_limit_reached:d(409,s.resourceExhausted,2" +
  "89,\"AuthError\"),account_suspended:d(403,s.permissionDenied,290,\"AuthError\"),conflict:d(409,s.aborted,291,\"Auth" +
  "Error\"),code_invalid:d(400,s.invalidArgument,292,\"AuthError\"),csrf_failed:d(403,s.permissionDenied,293,\"AuthEr" +
  "ror\"),protocol_error:d(400,s.invalidArgument,304,\"TransportError\"),unsupported_version:d(400,s.failedPrecondit" +
  "ion,305,\"TransportError\"),unknown_operation:d(404,s.unimplemented,306,\"TransportError\"),session_expired:d(401," +
  "s.unauthenticated,307,\"AuthError\"),session_replaced:d(409,s.aborted,308,\"TransportError\"),slow_reader:h(429,s." +
  "resourceExhausted,309,\"UnavailableError\"),relay_draining:h(503,s.unavailable,310,\"UnavailableError\"),name_take" +
  "n:d(409,s.alreadyExists,320,\"ChannelError\"),epoch_conflict:h(409,s.aborted,321,\"MlsError\"),not_allowed:d(403,s" +
  ".permissionDenied,322,\"ChannelError\"),member_limit_reached:d(409,s.resourceExhausted,323,\"ChannelError\"),alrea" +
  "dy_member:d(409,s.alreadyExists,324,\"ChannelError\"),queue_full:h(429,s.resourceExhausted,325,\"ChannelError\"),c" +
  "ursor_invalid:d(416,s.outOfRange,326,\"ChannelError\"),key_package_invalid:d(400,s.invalidArgument,327,\"MlsError" +
  "\"),key_package_missing:h(404,s.failedPrecondition,328,\"MlsError\"),join_rejected:d(403,s.permissionDenied,329,\"" +
  "ChannelError\"),membership_lapsed:d(410,s.failedPrecondition,330,\"ChannelError\"),state_conflict:d(409,s.failedP" +
  "recondition,331,\"MlsError\"),storage_full:h(507,s.resourceExhausted,332,\"ChannelError\"),removed:d(410,s.failedP" +
  "recondition,355,\"RemovedError\"),content_invalid:d(400,s.invalidArgument,352,\"ChannelError\"),request_timeout:h(" +
  "504,s.deadlineExceeded,353,\"TransportError\"),remote_error:d(502,s.aborted,354,\"RemoteError\"),store_locked:h(40" +
  "9,s.failedPrecondition,336,\"StoreError\"),store_corrupt:d(500,s.internal,337,\"StoreError\"),store_failed:d(500,s" +
  ".internal,339,\"StoreError\"),passphrase_wrong:d(401,s.unauthenticated,338,\"StoreError\")};function k(t){return O" +
  "bject.hasOwn(A,t)}function K(t){return be.get(t)}var be=new Map(Object.entries(A).flatMap(([t,{close:e}])=>k(t" +
  ")?[[e,t]]:[])),f=class extends Error{name=\"WireError\";code;requestId;constructor(e,r,n={}){super(r,n.cause===v" +
  "oid 0?void 0:{cause:n.cause}),this.code=e,this.requestId=n.requestId}};var m=Object.freeze({cellBytes:4096,min" +
  "CellBytes:1024,maxCellBytes:16384,payloadBytes:1048576,ciphertextBytes:1081344,keyPackageBytes:16384,commitByt" +
  "es:262144,welcomeBytes:2097152,leafNodeBytes:4096,creatorWelcomeBytes:1024,envelopeBytes:2490368,handshakeEnve" +
  "lopeBytes:16384,cborDepth:6,cborItems:32768,membersPerChannel:1e3,welcomesPerCommit:16,keyPackagesPerUpload:10" +
  "0,channelsPerPage:500,answersPerCommit:1e3,proofsPerCommit:128,ownersPerChannel:64,ownersChanges:64,ownersChan" +
  "geBytes:2048,claimsForFounding:100,featuresPerSession:64,identityBytes:256,tokenBytes:8192,originBytes:300,ses" +
  "sionTokenBytes:64,errorTextBytes:1024,errorCodeBytes:64,nameComponentBytes:63,channelNameBytes:191,emailBytes:" +
  "254,contentFieldsBytes:8192,contentTypeBytes:127,contentAddressees:64,conversationBytes:128,contentHeaders:32," +
  "contentHeaderNameBytes:64,contentHeaderValueBytes:1024,contentErrorBytes:64,queueBytesPerChannel:67108864,queu" +
  "eAgeMs:6048e5,windowBytes:16777216,challengeMs:3e4,joinRequestMs:6e5,inviteUses:1e4,clockSkewMs:6e5,keyPackage" +
  "LifetimeMs:864e7,minCoverIntervalMs:10,maxCoverIntervalMs:36e5});var E=3,p=4,L={control:0,data:1};function T(t" +
  "){if(!Number.isInteger(t)||t<m.minCellBytes||t>m.maxCellBytes)throw new f(\"protocol_error\",`A cell has ${m.min" +
  "CellBytes} to ${m.maxCellBytes} bytes, not ${t}`);return t}function M(t){if(t===0||t>m.envelopeBytes)throw new" +
  " f(\"payload_too_large\",`Cannot send an envelope of ${t} bytes; 1 to ${m.envelopeBytes} are allowed`)}var U=cla" +
  "ss{#r;#e=[];#t=[];#o=[0,0];#n=0;constructor(e){this.#r=T(e)}set cellBytes(e){if(this.#n>0)throw new TypeError(" +
  "\"Cannot change the cell size while envelopes are waiting\");this.#r=T(e)}get cellBytes(){return this.#r}get pen" +
  "dingBytes(){return this.#n}push(e,r){M(r.length),(e===\"control\"?this.#e:this.#t).push(r),this.#n+=r.length+p}n" +
  "ext(e){let r=this.#e.length>0?L.control:L.data,n=r===L.control?this.#e:this.#t;if(n.length===0)return;let o=e?" +
  ".length===this.#r?e:new Uint8Array(this.#r);return this.#s(o,n,r),o}#s(e,r,n){let o=E,a=0,c=this.#o[n]??0;for(" +
  "let i of r){if(c===0){if(e.length-o<=p)break;xe(e,o,i.length),o+=p,c=p}let l=c-p,y=i.subarray(l,l+e.length-o);" +
  "if(e.set(y,o),o+=y.length,c+=y.length,c-p<i.length)break;a++,c=0}let u=o-E;a===1?r.shift():r.splice(0,a),this." +
  "#o[n]=c,this.#n-=u,e[0]=n,e[1]=u>>8,e[2]=u&255,e.fill(0,o)}};function xe(t,e,r){t[e]=r>>>24,t[e+1]=r>>>16,t[e+" +
  "2]=r>>>8,t[e+3]=r}var ve=64*1024,ne=.5,we=2,S=class{#r;#e;#t=[];#o=0;#n=0;#s=new Uint8Array(0);#d=\"off\";#i=0;#" +
  "c;#u=0;#a=!0;#h=!1;#p=!1;#l=!1;#f=new Set;#y={cells:0,coverCells:0,coverBytes:0,paddingBytes:0};constructor(e)" +
  "{this.#r=e,this.#e=new U(e.cellBytes)}get pendingBytes(){return this.#e.pendingBytes+this.#o+this.#n}get count" +
  "s(){return{...this.#y}}push(e,r){this.#l||(this.#t.length===0?this.#e.push(e,r):(M(r.length),this.#t.push({lan" +
  "e:e,envelope:r}),this.#o+=r.length+p),this.#m())}setCellBytes(e){this.#t.push({cellBytes:T(e)}),this.#C()}conf" +
  "igure(e,r){if(!this.#l){if(e!==\"off\"&&!(r>0))throw new RangeError(`Cover needs an interval above 0, not ${r}`)" +
  ";this.#c?.(),this.#c=void 0,this.#d=e,this.#i=r,this.#h=!1,this.#u=this.#r.nowMs(),e!==\"off\"&&this.#w(),this.#" +
  "m()}}setCovering(e){this.#a=e}flush(e){return this.#l?Promise.resolve(this.pendingBytes===0):!this.#p&&this.pe" +
  "ndingBytes===0?Promise.resolve(!0):new Promise(r=>{let n=a=>{this.#f.delete(n),o(),r(a)},o=this.#r.after(e,()=" +
  ">n(!1));this.#f.add(n)})}stop(){this.#l=!0,this.#c?.(),this.#c=void 0,this.#s=new Uint8Array(0);for(let e of t" +
  "his.#f)e(!1)}#m(){this.#p||this.#l||!this.#b()||(this.#p=!0,this.#A())}#b(){return this.#h||this.#d!==\"constan" +
  "t\"&&this.#e.pendingBytes>0}async#A(){await void 0;try{for(;!this.#l&&this.#b();){let e=this.#d===\"constant\"?th" +
  "is.#B():this.#_();if(await this.#r.write(e,this.#e.cellBytes),this.#n=0,this.#l)break;this.#C(),this.#r.onWrit" +
  "ten?.()}}catch(e){this.#n=0;let r=this.#l;this.stop(),r||this.#r.onFailed?.(e)}this.#p=!1,this.#E()}#E(){if(!(" +
  "this.#l||this.pendingBytes>0)){this.#s.length>we*this.#e.cellBytes&&(this.#s=new Uint8Array(0));for(let e of t" +
  "his.#f)e(!0)}}#B(){this.#h=!1;let e=this.#g(1);return this.#x(e)?e:this.#v(e)}#_(){let{cellBytes:e,pendingByte" +
  "s:r}=this.#e;if(r===0)return this.#h=!1,this.#v(this.#g(1));let n=Math.ceil(r/(e-E))+1,o=this.#g(Math.min(n,Ma" +
  "th.max(1,Math.floor(ve/e)))),a=0;for(;a<o.length&&this.#x(o.subarray(a,a+e));)a+=e;return o.subarray(0,a)}#g(e" +
  "){let r=e*this.#e.cellBytes;return this.#s.length<r&&(this.#s=new Uint8Array(r)),this.#s.subarray(0,r)}#x(e){l" +
  "et r=this.#e.pendingBytes;if(this.#e.next(e)===void 0)return!1;let n=r-this.#e.pendingBytes;return this.#n+=n," +
  "this.#y.cells++,this.#y.paddingBytes+=e.length-E-n,!0}#v(e){return this.#y.cells++,this.#y.coverCells++,this.#" +
  "y.coverBytes+=e.length,e.fill(0)}#w(){let e=this.#r.nowMs();this.#c=this.#r.after(this.#d===\"poisson\"?this.#k(" +
  "):this.#U(e),()=>{this.#h=this.#a||this.#d===\"constant\"&&this.#e.pendingBytes>0,this.#w(),this.#m()})}#k(){ret" +
  "urn-Math.log(1-this.#r.random())*this.#i}#U(e){this.#u=Ce(this.#u,this.#i,e);let r=this.#r.random()*ne*this.#i" +
  ";return Math.max((1-ne)*this.#i,this.#u-r-e)}#C(){for(;this.#e.pendingBytes===0&&this.#t.length>0;){let e=this" +
  ".#t.findIndex((r,n)=>n>0&&\"cellBytes\"in r);for(let r of this.#t.splice(0,e<0?this.#t.length:e))\"cellBytes\"in r" +
  "?this.#e.cellBytes=r.cellBytes:(this.#o-=r.envelope.length+p,this.#e.push(r.lane,r.envelope))}}};function Ce(t" +
  ",e,r){if(r<t-e)return r+e;let n=Math.max(0,Math.floor((r-t)/e));return t+(n+1)*e}async function H({body:t},e){" +
  "let r=t?.getReader();if(r===void 0)return\"\";let n=new TextDecoder,o=\"\";try{for(let a=await r.read();a.value!==" +
  "void 0;a=await r.read())if(o+=n.decode(a.value,{stream:!0}),o.length>e)return;return o}finally{await r.cancel(" +
  ")}}var b=class extends Error{name=\"StaticError\";code;retryable;retryAfterMs;epoch;channel;unreachable;construc" +
  "tor(e,r,n={}){super(r,n.cause===void 0?void 0:{cause:n.cause}),this.code=e,this.retryable=n.retryable??A[e].re" +
  "tryable,this.retryAfterMs=n.retryAfterMs,this.epoch=n.epoch,this.channel=n.channel,this.unreachable=n.unreacha" +
  "ble}},P=class extends b{name=\"TransportError\"},F=class extends P{name=\"UnavailableError\"},q=class extends P{na" +
  "me=\"InternalError\"},$=class extends b{name=\"AuthError\"},R=class extends b{name=\"ChannelError\"},Q=class extends" +
  " R{name=\"RemovedError\";by;atMs;constructor(e,r,n={}){super(e,r,n),this.by=n.by,this.atMs=n.atMs}},N=class exte" +
  "nds b{name=\"QuotaExceededError\"},j=class extends b{name=\"MlsError\"},V=class extends b{name=\"InvalidArgumentErr" +
  "or\"},z=class extends b{name=\"StoreError\"},J=class extends b{name=\"RemoteError\";remoteCode;constructor(e,{remot" +
  "eCode:r=\"failed\",...n}={}){super(\"remote_error\",e,n),this.remoteCode=r}};function g(t){return(e,r,n)=>new t(e," +
  "r,n)}var Ae={TransportError:g(P),AuthError:g($),ChannelError:g(R),QuotaExceededError:g(N),MlsError:g(j),Invali" +
  "dArgumentError:g(V),StoreError:g(z),UnavailableError:g(F),RemovedError:g(Q),RemoteError:(t,e,r)=>new J(e,r),In" +
  "ternalError:g(q)};function G(t,e,r){return Ae[A[t].errorClass](t,e,r)}var oe=2,B=5,Ee=64*1024,Be=10;function s" +
  "e(t){let e=new Uint8Array(B+t.length);return _e(e,1,t.length),e.set(t,B),e}function ae(t){let{value:e,end:r}=Y" +
  "(t,0,Be);if(r!==t.length)throw new f(\"protocol_error\",\"A cell's message holds more than a cell\");return e}func" +
  "tion ie(t,e,r){let[n,o]=[X(10,t.length),X(26,r.length)],a=new Uint8Array(9);return a[0]=17,new DataView(a.buff" +
  "er).setBigUint64(1,BigInt(e),!0),I([n,t,a,o,r])}function le(t){return I([X(10,t.length),t])}function de(t){let" +
  " e=new TextDecoder,r=Y(t,0,10);return r.end===t.length?{code:e.decode(r.value),message:\"\"}:{code:e.decode(r.va" +
  "lue),message:e.decode(Y(t,r.end,18).value)}}var O=class{#r=new Uint8Array(B);#e=0;#t=new Uint8Array(0);#o=0;re" +
  "ad(e,r){let n=0;for(;n<e.length;){if(this.#e<B){let a=e.subarray(n,n+B-this.#e);if(this.#r.set(a,this.#e),this" +
  ".#e+=a.length,n+=a.length,this.#e<B)return;this.#n()}let o=e.subarray(n,n+this.#t.length-this.#o);n+=o.length," +
  "o.length===this.#t.length?this.#s(o,r):(this.#t.set(o,this.#o),this.#o+=o.length,this.#o===this.#t.length&&thi" +
  "s.#s(this.#t,r))}}#n(){let e=new DataView(this.#r.buffer).getUint32(1);if(e===0||e>Ee)throw new f(\"protocol_er" +
  "ror\",`A message of ${e} bytes where cells are expected`);this.#t.length!==e&&(this.#t=new Uint8Array(e)),this." +
  "#o=0}#s(e,r){this.#e=0,r(this.#r[0]??0,e)}};function I(t){let e=new Uint8Array(t.reduce((n,{length:o})=>n+o,0)" +
  "),r=0;for(let n of t)e.set(n,r),r+=n.length;return e}function X(t,e){let r=[t];for(let n=e;n>0||r.length===1;n" +
  ">>>=7)r.push(n>127?n&127|128:n);return Uint8Array.from(r)}function Y(t,e,r){if(t[e]!==r)throw new f(\"protocol_" +
  "error\",\"A message without the field that it must have\");let[n,o]=[0,e+1];for(let a=1;a<=2**14;a*=128){let c=t[" +
  "o++]??0;if(n+=(c&127)*a,c<128){if(n>t.length-o)break;return{value:t.subarray(o,o+n),end:o+n}}}throw new f(\"pro" +
  "tocol_error\",\"A field goes beyond the end of its message\")}function _e(t,e,r){new DataView(t.buffer,t.byteOffs" +
  "et).setUint32(e,r)}var ke=\"static.relay.v1.ErrorDetail\";function ee(t,e){let r=Ue(t),{message:n,details:o}=Z(r" +
  ".error??r);for(let a of Array.isArray(o)?o:[]){let{type:c,value:u}=Z(a);if(!(c!==ke||typeof u!=\"string\"))try{l" +
  "et i=de(Uint8Array.from(atob(u),l=>l.charCodeAt(0)));if(k(i.code))return{code:i.code,message:i.message}}catch{" +
  "}}return{message:typeof n==\"string\"?n.slice(0,1024):e}}function Ue(t){try{return Z(JSON.parse(t))}catch{return" +
  "{}}}function Z(t){return typeof t==\"object\"&&t!==null?t:{}}function w(t){let e=[];for(let r=t;r!==void 0&&e.le" +
  "ngth<3;r=r instanceof Error?r.cause:void 0){let n=r instanceof Error?r.message:String(r);n!==\"\"&&!e.some(o=>o." +
  "includes(n))&&e.push(n)}return e.join(\": \")}var Se=32,Pe=1e3,Te=64*1024,Me={\"connect-protocol-version\":\"1\"};fu" +
  "nction ce(t){let{openHttp:e,unusable:r,randomBytes:n}=t;return{transport:\"cells\",carrier:\"tcp\",unusable:r,conn" +
  "ect:(o,a)=>{let c=e(o.trust),u=new AbortController;u.signal.addEventListener(\"abort\",()=>c.close());let i=Re(c" +
  ",o,u.signal),l=n(Se),y=i(\"CellDown\",\"application/connect+proto\",se(le(l))),x=(v,W)=>i(\"CellUp\",\"application/pr" +
  "oto\",ie(l,v,W)),C=new re(y,x,u,t);return a.aborted&&C.close(),Promise.resolve(C)}}}function Re(t,{host:e,port:" +
  "r},n){let o=`${e.includes(\":\")?`[${e}]`:e}:${r}`;return async(a,c,u)=>{let i=await t.request(`https://${o}/sta" +
  "tic.relay.v1.Relay/${a}`,{method:\"POST\",headers:{...Me,\"content-type\":c},body:u,signal:n,redirect:\"error\",cred" +
  "entials:\"omit\",cache:\"no-store\"});if(i.status===200)return i;let l=await H(i,Te)??\"\",{code:y,message:x}=ee(l,`" +
  "${a} was answered ${i.status}`);throw G(y??\"transport_error\",x)}}var re=class{#r;#e;#t;#o;#n=new Set;#s=new O;" +
  "#d=0;#i=()=>{};closed;constructor(e,r,n,o){this.#r=e.then(a=>a.body?.getReader()),this.#r.catch(()=>{}),this.#" +
  "e=r,this.#t=o,this.#o=n,this.closed=new Promise(a=>this.#i=a)}async read(){try{for(;;){let e=await(await this." +
  "#r)?.read();if(e?.value===void 0)return this.#a({message:\"the connection was cut off\"});let{cells:r,end:n}=thi" +
  "s.#u(e.value);if(n!==void 0&&this.#a(n),r.length>0)return I(r);if(n!==void 0)return}}catch(e){return this.#a({" +
  "message:w(e)})}}async write(e,r){for(let n=0;n<e.length;n+=r){this.#o.signal.throwIfAborted();let o=this.#c(e." +
  "subarray(n,n+r)).finally(()=>this.#n.delete(o));this.#n.add(o),this.#n.size>=this.#t.callsAtOnce&&await Promis" +
  "e.race(this.#n)}this.#o.signal.throwIfAborted()}async#c(e){try{await(await this.#e(++this.#d,e)).arrayBuffer()" +
  "}catch(r){this.#a({message:w(r)})}}close(){let e={message:\"it was closed by this side\"};if(this.#n.size===0)re" +
  "turn this.#a(e);this.#i(e);let r=this.#t.after(Pe,()=>this.#a(e));Promise.all(this.#n).then(()=>{r(),this.#a(e" +
  ")})}#u(e){let r=[],n;return this.#s.read(e,(o,a)=>{o===0?r.push(ae(a).slice()):n=o===oe?Oe(a):{message:\"compre" +
  "ssed cells were not asked for\"}}),{cells:r,end:n}}#a(e){this.#i(e),this.#o.abort(G(\"transport_error\",e.message" +
  "))}};function Oe(t){return ee(new TextDecoder().decode(t),\"the relay ended the stream\")}function ue(){return D" +
  "ate.now()}var te=2**31-1;function _(t,e){let r=o=>o>te?setTimeout(()=>n=r(o-te),te):setTimeout(e,o),n=r(t);ret" +
  "urn()=>clearTimeout(n)}function D(t){return crypto.getRandomValues(new Uint8Array(t))}var Ie=2e4;function De({" +
  "caCerts:t}){let{Deno:e}=globalThis,r=e.createHttpClient({caCerts:t,http2:!1,poolIdleTimeout:Ie}),n=!0;return{r" +
  "equest:(o,a)=>{let c={...a,client:r};return fetch(o,c)},close:()=>{n&&r.close(),n=!1}}}var We=4,ye=ce({openHtt" +
  "p:De,unusable:Ke,randomBytes:D,callsAtOnce:We,after:_});function Ke({certificateHashes:t}){return t.length>0?\"" +
  "Deno can check tls.certificateHashes only over QUIC\":void 0}var Le=1500,He=64*1024;function he(t){let e=t.read" +
  "able.getReader({mode:\"byob\"}),r=t.writable.getWriter();r.closed.catch(()=>{});let n=new ArrayBuffer(He),o=()=>" +
  "{},a=new Promise(l=>o=l),c,u=l=>{c?.(),o(l)};t.closed.then(({closeCode:l=0})=>u(Fe(l)),l=>u({message:w(l)}));l" +
  "et i=()=>{r.close().catch(()=>{}),c??=t.after(Le,()=>{t.close(0),o({message:\"the relay ended the stream\"})})};" +
  "return{read:async()=>{try{let{value:l}=await e.read(new Uint8Array(n));if(l!==void 0&&l.length>0)return n=l.bu" +
  "ffer,l}catch{}i()},write:async l=>{try{await r.write(l)}catch(y){throw i(),y}},close:l=>{o({message:\"it was cl" +
  "osed by this side\"}),l===0?i():t.close(l)},closed:a}}function Fe(t){let e=K(t);return e===void 0?{message:\"the" +
  " relay closed the connection\"}:{code:e,message:`the relay closed the connection with ${e}`}}var qe=\"static-rel" +
  "ay/1\",$e={maxIdleTimeout:1e4,keepAliveInterval:4e3},Qe=\"low-latency\",fe={transport:\"quic\",carrier:\"udp\",unusab" +
  "le:()=>pe()===void 0?\"Deno offers QUIC only with --unstable-net\":void 0,connect:async({host:t,port:e,trust:r}," +
  "n)=>{let o=pe();if(o===void 0)throw new Error(\"Deno offers QUIC only with --unstable-net\");n.throwIfAborted();" +
  "let a=r.certificateHashes.map(l=>({algorithm:\"sha-256\",value:l})),c=Ne(o),u=l=>c.close({closeCode:l,reason:\"\"}" +
  "),i=()=>u(0);n.addEventListener(\"abort\",i);try{let l=await o.connectQuic({hostname:t,port:e,alpnProtocols:[qe]" +
  ",caCerts:r.caCerts,...a.length>0&&{serverCertificateHashes:a},endpoint:c,...$e,congestionControl:Qe}),{readabl" +
  "e:y,writable:x}=await l.createBidirectionalStream(),C=l.closed.finally(()=>u(0));return he({readable:y,writabl" +
  "e:x,closed:C,close:u,after:_})}catch(l){throw u(0),n.aborted?n.reason:l}finally{n.removeEventListener(\"abort\"," +
  "i)}}};function Ne({QuicEndpoint:t}){try{return new t({hostname:\"::\"})}catch{return new t({hostname:\"0.0.0.0\"})" +
  "}}function pe(){let{Deno:t}=globalThis;return t?.connectQuic===void 0?void 0:t}var je=2e3;function me(t,e){let" +
  " r,n,o=0,a=i=>{t.post({kind:\"written\",takenBytes:o-i.pendingBytes,counts:i.counts})},c=async({transport:i,targ" +
  "et:l})=>{let y=e.connectors.find(v=>v.transport===i);if(y===void 0)throw new Error(`no way to connect by ${i} " +
  "in a thread of its own`);let x=r=await y.connect(l,new AbortController().signal),C=n=new S({cellBytes:m.cellBy" +
  "tes,write:(v,W)=>x.write(v,W),after:e.after,nowMs:e.nowMs,random:()=>new DataView(e.randomBytes(4).buffer).get" +
  "Uint32(0)/2**32,onWritten:()=>a(C),onFailed:()=>t.post({kind:\"failed\"})});x.closed.then(v=>t.post({kind:\"close" +
  "d\",end:v})),t.post({kind:\"connected\"})},u=async()=>{let i=await r?.read();t.post({kind:\"chunk\",bytes:i?.slice(" +
  ")})};t.listen(i=>{switch(i.kind){case\"connect\":return void c(i).catch(l=>t.post({kind:\"refused\",message:w(l)})" +
  ");case\"push\":return o+=i.envelope.length+p,n?.push(i.lane,i.envelope);case\"cellBytes\":return n?.setCellBytes(i" +
  ".cellBytes);case\"configure\":return n?.configure(i.mode,i.intervalMs);case\"covering\":return n?.setCovering(i.co" +
  "vering);case\"flush\":return void n?.flush(i.timeoutMs).then(l=>{t.post({kind:\"flushed\",id:i.id,flushed:l})});ca" +
  "se\"read\":return void u();case\"stop\":return n?.stop();case\"close\":return r?.close(i.closeCode),void e.after(je," +
  "e.exit)}})}function ge(t){let e=globalThis;me({post:r=>e.postMessage(r),listen:r=>{e.onmessage=({data:n})=>r(n" +
  ")}},{connectors:t,nowMs:ue,after:_,randomBytes:D,exit:()=>e.close()})}ge([fe,ye]);\n";
